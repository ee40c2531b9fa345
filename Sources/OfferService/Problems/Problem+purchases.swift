// SPDX-License-Identifier: Apache-2.0
import JSON

/// Problems with the customer of purchases, and with changing it.
extension Problem {
    init(purchaseOfOtherAccount pointer: String) {
        self.init(
            "purchase-of-other-account",
            title: "The purchase belongs to another account",
            status: 403,
            detail: "The purchase was made with a different obfuscatedAccountId than this customer has."
        )
        mismatches = [Mismatch(pointer: pointer, offset: 0, message: "belongs to a purchase of another account")]
    }

    init(subscriptionOfOtherCustomer pointer: String) {
        self.init(
            "subscription-of-other-customer",
            title: "The subscription is another customer's",
            status: 403,
            detail:
                "A backend has named another customer for these purchases. If they are the same person, transfer the "
                + "anonymous customer; if the purchases moved, send them to POST /v1/transactions with customerId."
        )
        mismatches = [Mismatch(pointer: pointer, offset: 0, message: "belongs to a customer not linked to this one")]
    }

    init(changeUnconfirmed seconds: Int) {
        self.init(
            "change-unconfirmed",
            title: "The store did not confirm the change",
            status: 503,
            detail: "The App Store did not answer, so the change may be made or not. Send the same request again."
        )
        headers = [("Retry-After", String(seconds))]
    }

    init(storeLimitReached seconds: Int) {
        self.init(
            "store-limit-reached",
            title: "The store's limit of requests is reached",
            status: 503,
            detail: "Nothing was changed. Send the same request again after the time in Retry-After."
        )
        headers = [("Retry-After", String(seconds))]
    }
}
