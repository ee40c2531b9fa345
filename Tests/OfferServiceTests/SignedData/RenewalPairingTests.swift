// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Testing

@testable import OfferService
@testable import Stores

/// A renewal info names no app; what it goes with decides whether it counts.
struct RenewalPairingTests {
    private let reader: AppStoreSignedDataReader

    init() throws { reader = try .example() }

    private func read(_ renewal: PayloadText, with transactions: PayloadText...) throws {
        _ = try reader.evidence(
            transactions: transactions.map(\.jws),
            renewalInfos: [renewal.jws],
            source: .signedTransaction,
            at: PayloadText.now
        )
    }

    private func refuses(
        _ renewal: PayloadText,
        _ fault: SignedDataFault,
        with transactions: PayloadText...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: EvidenceFault(piece: .renewalInfo(0), fault: fault), sourceLocation: sourceLocation) {
            _ = try reader.evidence(
                transactions: transactions.map(\.jws),
                renewalInfos: [renewal.jws],
                source: .signedTransaction,
                at: PayloadText.now
            )
        }
    }

    @Test
    func `counts beside a transaction of its chain and product`() throws {
        try read(.renewalInfo, with: .transaction)
        let older = PayloadText.transaction.with("productId", #""basic""#)
        try read(.renewalInfo, with: older, .transaction)
        try read(.renewalInfo.with("appTransactionId", nil), with: .transaction)
    }

    @Test
    func `does not count alone, or beside another chain`() {
        refuses(.renewalInfo, .renewalWithoutTransaction)
        refuses(
            .renewalInfo,
            .renewalWithoutTransaction,
            with: .transaction.with("originalTransactionId", #""2000000900000009""#)
        )
        // The transaction's own id is not the chain's.
        refuses(
            .renewalInfo.with("originalTransactionId", #""2000000900000002""#),
            .renewalWithoutTransaction,
            with: .transaction
        )
    }

    @Test
    func `does not count if product, environment or account differ`() {
        refuses(
            .renewalInfo,
            .renewalOfOtherTransaction(pointer: "/productId"),
            with: .transaction.with("productId", #""pro.yearly""#)
        )
        refuses(
            .renewalInfo.with("environment", #""Sandbox""#),
            .renewalOfOtherTransaction(pointer: "/environment"),
            with: .transaction
        )
        refuses(
            .renewalInfo.with("appTransactionId", #""704000000000000002""#),
            .renewalOfOtherTransaction(pointer: "/appTransactionId"),
            with: .transaction
        )
    }

    private static func notification(_ transaction: PayloadText, _ renewal: PayloadText) -> PayloadText {
        let data = PayloadText.data.with("signedTransactionInfo", transaction.nested)
        return .notification("data", data.with("signedRenewalInfo", renewal.nested), type: "REFUND")
    }

    /// The evidence of a notification with a transaction and this renewal info.
    private func notified(_ renewal: PayloadText) throws -> SubscriptionEvidence {
        let text = Self.notification(.transaction, renewal)
        return try reader.evidence(of: try reader.notification(text.jws, at: PayloadText.now), at: PayloadText.now)
    }

    /// A refund of what was upgraded since comes with the renewal info of what came after it.
    @Test(arguments: [("productId", #""pro.yearly""#), ("appTransactionId", #""704000000000000002""#)])
    func `counts in a notification whatever the product, since the store vouches for both`(
        member: String,
        value: String
    ) throws {
        let evidence = try notified(.renewalInfo.with(member, value))
        #expect(evidence.transactions.count == 1)
        #expect(evidence.renewals.count == 1)
    }

    @Test(arguments: [("originalTransactionId", #""2000000900000009""#), ("environment", #""Sandbox""#)])
    func `is left out of a notification, and not the transaction, if it is of another subscription`(
        member: String,
        value: String
    ) throws {
        let evidence = try notified(.renewalInfo.with(member, value))
        #expect(evidence.transactions.count == 1)
        #expect(evidence.statuses.count == 1)
        #expect(evidence.renewals.isEmpty)
    }

    @Test
    func `names the piece that has the fault`() {
        let other = PayloadText.transaction.with("bundleId", #""com.example.elsewhere""#)
        #expect(throws: EvidenceFault(piece: .transaction(1), fault: .otherApp(pointer: "/bundleId"))) {
            try read(.renewalInfo, with: .transaction, other)
        }
    }

    @Test
    func `reads nothing of another app or world out of a notification`() throws {
        let other = PayloadText.transaction.with("bundleId", #""com.example.other""#)
        let notification = try reader.notification(
            PayloadText.notification("data", .data.with("signedTransactionInfo", other.nested)).jws,
            at: PayloadText.now
        )
        #expect(throws: EvidenceFault(piece: .transaction(0), fault: .otherApp(pointer: "/bundleId"))) {
            try reader.evidence(of: notification, at: PayloadText.now)
        }
        let sandbox = PayloadText.transaction.with("environment", #""Sandbox""#)
        let mixed = try reader.notification(
            PayloadText.notification(
                "data",
                .data.with("signedTransactionInfo", sandbox.nested).with("signedRenewalInfo", nil)
            ).jws,
            at: PayloadText.now
        )
        let fault = EvidenceFault(piece: .transaction(0), fault: .environmentNotTaken(pointer: "/environment"))
        #expect(throws: fault) { try reader.evidence(of: mixed, at: PayloadText.now) }
        let unsigned = PayloadText.data.with("signedTransactionInfo", #""eyJ.eyJ.c2ln""#)
        let forged = try reader.notification(PayloadText.notification("data", unsigned).jws, at: PayloadText.now)
        #expect(throws: EvidenceFault(piece: .transaction(0), fault: .notVerified(.wrongSignature))) {
            try reader.evidence(of: forged, at: PayloadText.now)
        }
    }
}
