// SPDX-License-Identifier: Apache-2.0
import JSON
import Ledger
import OfferDomain
import SignatureDiagnosis
import Storage

/// What the log and the ledger know about a reported signature.
struct RecordFacts: Sendable {
    enum State: String, CaseIterable, Sendable {
        /// This service made it.
        case recorded
        /// An entry has its nonce or time, but another payload than was signed, or a payload that cannot be proved.
        case otherwise = "recorded-otherwise"
        /// One of our keys made it, but no entry has it.
        case madeByOurKey = "made-by-our-key"
        case none = "not-recorded"
    }

    var state = State.none
    var index: Int64?
    var recordedAt: Timestamp?
    var grantID: String?
    /// Of the entry; the app may have attached another one.
    var nonce: String?
    /// How many entries have it: a retry makes one more.
    var signings: Int?
    /// Whether it was too old when the app asked to buy; `nil` if the report does not say when that was.
    var isExpired: Bool?
    /// How often it was reported before.
    var earlierReports = 0
    /// The use of the offer that came of the grant.
    var redemption: (redeemedAt: Timestamp, state: String)?

    mutating func take(_ entry: RecordedSignature) {
        (index, recordedAt, grantID, nonce) = (entry.index, entry.recordedAt, entry.grantID, entry.nonce)
    }
}

/// What the ledger knows of the customer of a reported signature, and of the purchase; it contains no names.
struct LedgerFacts: Sendable {
    /// How many transactions of the customer in this app are known.
    let transactions: Int
    /// Whether one of them is shared by a family member.
    let isFamilyShared: Bool
    /// Whether the offered product was bought within ten minutes of the signature, without a promotional offer.
    let isBoughtWithoutOffer: Bool

    init(
        about outcome: DiagnosisJob.Outcome,
        keys: AppPseudonyms,
        connection: any DatabaseConnection
    ) throws(StorageError) {
        let fields = outcome.report.effective
        var subjects: [[UInt8]] = []
        if let token = fields.appAccountToken.flatMap({ UniqueID($0) }) {
            subjects.append(keys.key(of: .appAccountToken(token)))
        }
        if let name = fields.applicationUsername.flatMap({ try? ApplicationUsername($0) }) {
            subjects.append(keys.key(of: .applicationUsername(name)))
        }
        let transaction = outcome.report.transaction
        let ids = [transaction?.id, transaction?.original].compactMap { id in id.flatMap { try? TransactionID($0) } }
        subjects += ids.map { keys.key(of: .originalTransaction($0)) }
        let history = try ChainTable(connection: connection)
            .history(of: subjects, chains: ids.map { keys.chainKey(of: $0) })
        let all = history.chains.values.flatMap(\.transactions.values)
        transactions = all.count
        isFamilyShared = all.contains { $0.ownership == .known(.familyShared) }
        let signedAt = fields.timestamp.flatMap { Int64($0) }.flatMap(Timestamp.init(exactlyMilliseconds:))
        isBoughtWithoutOffer =
            signedAt.map { signedAt in
                all.contains { record in
                    record.productID == fields.productID && record.purchasedAt >= signedAt
                        && record.purchasedAt < signedAt.adding(minutes: BoughtWithoutOffer.purchaseMinutes)
                        && record.mayLackOffer && record.offerType != .known(.promotional)
                }
            } ?? false
    }

    /// The use that a grant came to.
    static func redemption(
        of grantID: UniqueID,
        _ connection: any DatabaseConnection
    ) throws(StorageError) -> (redeemedAt: Timestamp, state: String)? {
        try connection.first(
            SQL(
                "SELECT redeemed_at, state FROM redemptions WHERE grant_id = ? ORDER BY redeemed_at LIMIT 1",
                .blob(grantID.bytes)
            )
        ) { (Timestamp(milliseconds: $0.integer(0)), $0.text(1)) }
    }
}

extension DiagnosisJob.Outcome {
    /// How far the device's clock may be ahead of the store's.
    private static var clockMilliseconds: Int64 { 300_000 }

    /// A signature that was used, or reported before, cannot be used again; a failed purchase did not use it.
    mutating func judgeReuse() {
        guard report.error != nil else { return }
        let isUsed = record.redemption.map { redemption in
            report.attemptedAtMilliseconds
                .map { $0 > redemption.redeemedAt.milliseconds + Self.clockMilliseconds } ?? true
        }
        if isUsed == true {
            diagnosis.add(.reused, .likely)
            if diagnosis.verdict == .signedCorrectly { diagnosis.verdict = .reused }
        } else if record.earlierReports > 0, diagnosis.verdict == .signedCorrectly {
            diagnosis.add(.reused, .possible)
        }
    }

    /// What the ledger knows counts where the signature itself is right.
    mutating func judgeLedger() {
        guard let ledger, diagnosis.verdict == .signedCorrectly else { return }
        // If the reported purchase failed, another purchase went through.
        if ledger.isBoughtWithoutOffer, report.error == nil {
            diagnosis.add(.offerNotApplied, .likely)
            diagnosis.verdict = .offerNotApplied
        }
        if ledger.isFamilyShared { diagnosis.add(.familyShared, .possible) }
    }
}
