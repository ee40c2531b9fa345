// SPDX-License-Identifier: Apache-2.0
package import Configuration
import JSON
package import OfferDomain

/// A request to set another app account token for the purchases of an original transaction.
package struct AccountTokenChange: Sendable {
    /// The ID of the request, by which its two entries are found.
    let requestID: UniqueID
    let receivedAt: Timestamp
    /// Who asked for it.
    let callerID: CallerID
    /// `nil` without an idempotency key.
    let claim: IdempotencyClaim?
    package let bundleID: BundleID
    /// The key that the service will ask the App Store with.
    let keyID: KeyID
    /// The purchases.
    let chain: ChainKey
    /// The customer of the purchases.
    let customer: Pseudonym
    /// The token that the purchases will carry.
    let token: Pseudonym
    /// The catalog with the offers of redemptions.
    let catalog: Catalog
    /// The keys of these three, with those that the ledger may have under earlier secrets.
    let rotatedKeys: [RotatedKey]

    /// What is asked for, by the names that stores and apps use.
    package struct Asked: Sendable {
        /// The app that the purchases were made in.
        package let bundleID: BundleID
        /// Names the purchases.
        package let originalTransactionID: TransactionID
        /// The token that they will carry.
        package let appAccountToken: UniqueID
        /// The customer that the token identifies.
        package let customerID: CustomerID

        package init(
            bundleID: BundleID,
            originalTransactionID: TransactionID,
            appAccountToken: UniqueID,
            customerID: CustomerID
        ) {
            (self.bundleID, self.originalTransactionID) = (bundleID, originalTransactionID)
            (self.appAccountToken, self.customerID) = (appAccountToken, customerID)
        }
    }

    /// The change that is asked for from there.
    package init(_ asked: Asked, signing keyID: KeyID, under pseudonyms: Pseudonyms, from origin: DecisionOrigin) {
        let keys = AppPseudonyms(pseudonyms, in: AppName(asked.bundleID))
        let purchases = CustomerIdentity.originalTransaction(asked.originalTransactionID)
        let customer = CustomerIdentity.customer(asked.customerID)
        let token = CustomerIdentity.appAccountToken(asked.appAccountToken)
        (requestID, receivedAt) = (origin.requestID, origin.receivedAt)
        (callerID, claim, catalog) = (origin.caller.id, origin.idempotency, origin.catalog)
        (bundleID, self.keyID) = (asked.bundleID, keyID)
        chain = keys.chainKey(of: asked.originalTransactionID)
        (self.customer, self.token) = (keys.pseudonym(of: customer), keys.pseudonym(of: token))
        rotatedKeys = keys.rotatedKeys(of: [purchases, customer, token])
    }

    /// The version of the secret that the three are made with.
    var secretVersion: String { customer.secretVersion }

    /// What the ledger records when the token is set; a later purchase would show the same.
    func report(at instant: Timestamp) -> SubscriptionReport {
        let holders = [
            SubscriptionHolder(subscription: chain.bytes, kind: .customer, subject: customer.ledgerKey, since: nil),
            SubscriptionHolder(subscription: chain.bytes, kind: .account, subject: token.ledgerKey, since: instant),
        ]
        var report = SubscriptionReport(
            .appStore(SubscriptionHistory(), bundleID),
            secretVersion: secretVersion,
            catalog: catalog
        )
        report.links = Set(holders.map { SubscriptionLink(subject: $0.subject, subscription: chain.bytes) })
        report.holders = holders
        report.rotatedKeys = rotatedKeys
        return report
    }
}

extension AccountTokenChange {
    /// What is to be done about a change.
    package enum Ruling: Sendable {
        /// It is recorded that the service asks the App Store next, in this environment if the ledger knows it.
        case ask(StoreEnvironment?)
        /// It was made before, for the same idempotency key.
        case made(Made)
        /// The idempotency key belongs to another request.
        case keyReused
        /// A backend has named another customer for the purchases, and no backend or store has linked the two.
        case ofOtherCustomer
        /// The key is not to be used.
        case stopped(KeyStop)
    }

    /// A change that the App Store has confirmed.
    package struct Made: Hashable, Sendable {
        /// When that was recorded.
        package let at: Timestamp
        /// Where the purchases are.
        package let environment: StoreEnvironment

        /// What an idempotency key keeps beside the time.
        var json: [UInt8] {
            var writer = JSONWriter(reserving: 32)
            writer.beginObject()
            writer.member("environment", plain: environment.rawValue)
            writer.endObject()
            return writer.bytes
        }

        package init(at instant: Timestamp, in environment: StoreEnvironment) {
            (at, self.environment) = (instant, environment)
        }

        /// `nil` if it is not what a change leaves.
        init?(at instant: Timestamp, _ json: [UInt8]) {
            let name = (try? JSONDocument(json))?.root.object?["environment"]?.string
            guard let environment = name.flatMap(StoreEnvironment.init) else { return nil }
            self.init(at: instant, in: environment)
        }
    }
}
