// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain
import ServiceRuntime
import SignatureDiagnosis

/// The body that answers a diagnosis: what `diagnose --format json` prints, and what the record, the ledger and the store know.
struct DiagnosisAnswer {
    let bytes: [UInt8]

    init(_ outcome: DiagnosisJob.Outcome, _ store: StoreFacts?) {
        var members = outcome.diagnosis.members
        members.append(("record", Self.tree(outcome.record)))
        if let ledger = outcome.ledger { members.append(("ledger", Self.tree(ledger))) }
        if let store { members.append(("store", Self.tree(store))) }
        bytes = JSONTree.object(members).bytes
    }

    private static func tree(_ record: RecordFacts) -> JSONTree {
        [
            "state": .text(record.state.rawValue),
            "index": record.index.map { .integer($0) },
            "recordedAt": record.recordedAt.map { .instant($0) },
            "grantId": record.grantID.map { .text($0) },
            "nonce": record.nonce.map { .text($0) },
            "signings": record.signings.map { .integer($0) },
            "expiredAtAttempt": record.isExpired.map { .boolean($0) },
            "redeemed": record.grantID.map { _ in .boolean(record.redemption != nil) },
            "redeemedAt": record.redemption.map { .instant($0.redeemedAt) },
            "earlierReports": .integer(record.earlierReports),
        ]
    }

    private static func tree(_ ledger: LedgerFacts) -> JSONTree {
        [
            "transactions": .integer(ledger.transactions),
            "familyShared": .boolean(ledger.isFamilyShared),
            "boughtWithoutOffer": .boolean(ledger.isBoughtWithoutOffer),
        ]
    }

    private static func tree(_ store: StoreFacts) -> JSONTree {
        [
            "outcome": .text(store.outcome),
            "keyIdentifier": store.keyID.map { .text($0.text) },
            "subscribedBefore": store.hasSubscribed.map { .boolean($0) },
        ]
    }
}

/// What the App Store said of the customer of a reported signature.
struct StoreFacts: Sendable {
    /// `answered`, or why it was not.
    let outcome: String
    /// Whether the Apple account has or had a subscription in this app; `nil` if the store did not say.
    let hasSubscribed: Bool?
    /// The key that asked; `nil` if there was none.
    let keyID: KeyID?
}
