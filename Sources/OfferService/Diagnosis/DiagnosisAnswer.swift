// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain
import SignatureDiagnosis

/// The body that answers a diagnosis: what `diagnose --format json` prints, and what the record, the ledger and the store know.
struct DiagnosisAnswer {
    let bytes: [UInt8]

    init(_ outcome: DiagnosisJob.Outcome, _ store: StoreFacts?) {
        var writer = JSONWriter(reserving: 2048)
        writer.beginObject()
        outcome.diagnosis.write(to: &writer)
        writer.name("record")
        Self.write(outcome.record, to: &writer)
        if let ledger = outcome.ledger {
            writer.name("ledger")
            Self.write(ledger, to: &writer)
        }
        if let store {
            writer.name("store")
            Self.write(store, to: &writer)
        }
        writer.endObject()
        bytes = writer.bytes
    }

    private static func write(_ record: RecordFacts, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("state", plain: record.state.rawValue)
        if let index = record.index { writer.member("index", integer: index) }
        if let recordedAt = record.recordedAt { writer.member("recordedAt", rfc3339: recordedAt) }
        if let grantID = record.grantID { writer.member("grantId", plain: grantID) }
        if let nonce = record.nonce { writer.member("nonce", plain: nonce) }
        if let signings = record.signings { writer.member("signings", integer: Int64(signings)) }
        if let isExpired = record.isExpired {
            writer.name("expiredAtAttempt")
            writer.boolean(isExpired)
        }
        if record.grantID != nil {
            writer.name("redeemed")
            writer.boolean(record.redemption != nil)
        }
        if let redemption = record.redemption { writer.member("redeemedAt", rfc3339: redemption.redeemedAt) }
        writer.member("earlierReports", integer: Int64(record.earlierReports))
        writer.endObject()
    }

    private static func write(_ ledger: LedgerFacts, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("transactions", integer: Int64(ledger.transactions))
        writer.name("familyShared")
        writer.boolean(ledger.isFamilyShared)
        writer.name("boughtWithoutOffer")
        writer.boolean(ledger.isBoughtWithoutOffer)
        writer.endObject()
    }

    private static func write(_ store: StoreFacts, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("outcome", plain: store.outcome)
        if let key = store.keyID { writer.member("keyIdentifier", plain: key.text) }
        if let hasSubscribed = store.hasSubscribed {
            writer.name("subscribedBefore")
            writer.boolean(hasSubscribed)
        }
        writer.endObject()
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
