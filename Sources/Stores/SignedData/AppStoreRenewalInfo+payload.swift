// SPDX-License-Identifier: Apache-2.0
import OfferDomain

extension AppStoreRenewalInfo {
    /// Reads a verified payload that goes with one of `transactions`.
    ///
    /// It does not name its app: a genuine renewal info of another app verifies too. A transaction of this app, with
    /// the same chain and environment, vouches for it; `pairing` says what else must match.
    init(
        payload: [UInt8],
        pairedWith transactions: [AppStoreTransaction],
        _ pairing: RenewalPairing,
        _ check: ClaimCheck
    ) throws(SignedDataFault) {
        let reader = try PayloadReader(payload)
        try reader.require(.renewalInfo)
        self.init(
            originalTransactionID: try reader.required(
                "originalTransactionId",
                reader.identifier("originalTransactionId")
            ),
            productID: try reader.required("productId", reader.text("productId")),
            environment: try check.environment(reader, takenBy: check.apps),
            signedAt: try check.signedAt(reader)
        )
        try readRenewal(reader)
        let chain = try chain(among: transactions, reader)
        if pairing == .byTransaction { try checkPurchase(among: chain, reader) }
    }

    private mutating func readRenewal(_ reader: PayloadReader) throws(SignedDataFault) {
        autoRenewProductID = try reader.text("autoRenewProductId")
        autoRenews = try reader.flag("autoRenewStatus")
        isInBillingRetry = try reader.boolean("isInBillingRetryPeriod")
        gracePeriodExpiresAt = try reader.instant("gracePeriodExpiresDate")
        expirationIntent = try reader.numberedCode("expirationIntent")
        offerType = try reader.numberedCode("offerType")
        offerID = try reader.text("offerIdentifier")
        priceIncreaseSettled = try reader.flag("priceIncreaseStatus")
        renewsAt = try reader.instant("renewalDate")
        recentSubscriptionStartAt = try reader.instant("recentSubscriptionStartDate")
        eligibleWinBackOfferIDs = try reader.texts("eligibleWinBackOfferIds")
        appAccountToken = try reader.uuid("appAccountToken")
        appTransactionID = try reader.identifierIfKnown("appTransactionId")
    }

    /// The transactions of the same chain, all of the same environment.
    private func chain(
        among transactions: [AppStoreTransaction],
        _ reader: PayloadReader
    ) throws(SignedDataFault) -> [AppStoreTransaction] {
        let chain = transactions.filter { $0.originalTransactionID == originalTransactionID }
        guard !chain.isEmpty else { throw .renewalWithoutTransaction }
        guard chain.allSatisfy({ $0.environment == environment }) else {
            throw .renewalOfOtherTransaction(pointer: reader.place(of: "environment"))
        }
        return chain
    }

    private func checkPurchase(
        among chain: [AppStoreTransaction],
        _ reader: PayloadReader
    ) throws(SignedDataFault) {
        guard chain.contains(where: { $0.productID.utf8.elementsEqual(productID.utf8) }) else {
            throw .renewalOfOtherTransaction(pointer: reader.place(of: "productId"))
        }
        guard chain.contains(where: { agrees($0.appTransactionID, appTransactionID) }) else {
            throw .renewalOfOtherTransaction(pointer: reader.place(of: "appTransactionId"))
        }
    }

    private func agrees(_ one: TransactionID?, _ other: TransactionID?) -> Bool {
        one == nil || other == nil || one == other
    }
}
