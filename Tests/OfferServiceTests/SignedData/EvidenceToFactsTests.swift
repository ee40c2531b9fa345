// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Testing

@testable import OfferService
@testable import Stores

/// The whole way: from what Apple signed to the facts of an offer.
struct EvidenceToFactsTests {
    private let reader: AppStoreSignedDataReader
    private let group: SubscriptionGroupID

    init() throws {
        reader = try .example()
        group = try SubscriptionGroupID("20001")
    }

    private struct Keys: SubscriptionKeys {
        func chainKey(of originalTransactionID: TransactionID) -> ChainKey {
            ChainKey(Array(originalTransactionID.text.utf8.reversed()))
        }

        func transactionKey(of transactionID: TransactionID) -> TransactionKey {
            TransactionKey(Array(transactionID.text.utf8.reversed()))
        }

        func accountKey(of token: UniqueID) -> AccountKey { AccountKey(token.bytes) }
    }

    /// Ended a year ago at 1740000000000, with the reason, and a discount for the last month.
    private var lapsed: (transaction: PayloadText, renewal: PayloadText) {
        let transaction = PayloadText.transaction.with("expiresDate", "1740000000000")
            .with("purchaseDate", "1737400000000").with("revocationDate", nil).with("revocationType", nil)
            .with("isUpgraded", nil)
        let renewal = PayloadText.renewalInfo.with("isInBillingRetryPeriod", "false")
            .with("gracePeriodExpiresDate", nil).with("renewalDate", "1740000000000")
        return (transaction, renewal)
    }

    @Test
    func `derives facts and redemptions from what a device sends`() throws {
        let evidence = try reader.evidence(
            transactions: [lapsed.transaction.jws],
            renewalInfos: [lapsed.renewal.jws],
            source: .signedTransaction,
            at: PayloadText.now
        )
        let history = evidence.history(keys: Keys())
        let facts = history.facts(group: group, productID: nil, at: PayloadText.now)
        #expect(facts.status?.value == .expired)
        #expect(facts.expiresAt?.value == Timestamp(milliseconds: 1_740_000_000_000))
        #expect(facts.subscribedBefore?.value == true)
        #expect(facts.storefront?.value.text == "USA")
        #expect(facts.expirationIntent?.value == .cancelled)
        #expect(facts.eligibleWinBackOffers?.value.map(\.text) == ["best", "second"])
        #expect(facts.offersSeen?.value.map(\.offerID?.text) == ["winback_3m"])
        #expect(facts.offersUsed == nil)
        #expect(
            history.redemptions(at: PayloadText.now).map(\.state) == [
                .notConverted(at: Timestamp(milliseconds: 1_740_000_000_000))
            ]
        )
        let byProduct = history.facts(
            group: nil,
            productID: try ProductID("pro.monthly"),
            at: PayloadText.now
        )
        #expect(byProduct == facts)
        #expect(history.facts(group: nil, productID: nil, at: PayloadText.now).status == nil)
    }

    /// SUBSCRIBED reports a lapsed customer who comes back by the offer, OFFER_REDEEMED an active one.
    @Test(arguments: [("OFFER_REDEEMED", nil), ("SUBSCRIBED", "RESUBSCRIBE"), ("DID_RENEW", nil)])
    func `recognizes a redemption in every notification that reports it`(type: String, subtype: String?) throws {
        let data = PayloadText.data.with(
            "signedTransactionInfo",
            PayloadText.transaction
                .with("revocationDate", nil).with("revocationType", nil).with("isUpgraded", nil).nested
        )
        let notification = try reader.notification(
            PayloadText.notification("data", data, type: type, subtype: subtype).jws,
            at: PayloadText.now
        )
        let history = try reader.evidence(of: notification, at: PayloadText.now).history(keys: Keys())
        let redemption = try #require(history.redemptions(at: PayloadText.now).first)
        #expect(redemption.offerID == "winback_3m")
        #expect(redemption.state == .redeemed)
        #expect(redemption.key.chain == Keys().chainKey(of: try TransactionID("2000000900000001")))
        let facts = history.facts(group: group, productID: nil, at: PayloadText.now)
        #expect(facts.status == Fact(.active, source: .notification, observedAt: notification.signedAt))
    }

    @Test
    func `keeps no id and no token in what the ledger may store`() throws {
        let evidence = try reader.evidence(
            transactions: [PayloadText.transaction.jws],
            renewalInfos: [PayloadText.renewalInfo.jws],
            source: .signedTransaction,
            at: PayloadText.now
        )
        let stored = "\(evidence.history(keys: Keys()))".lowercased()
        for secret in ["2000000900000001", "2000000900000002", "7e3fb204", "704000000000000001", "2000000800000001"] {
            #expect(!stored.contains(secret))
            #expect("\(evidence)".lowercased().contains(secret))
        }
    }
}
