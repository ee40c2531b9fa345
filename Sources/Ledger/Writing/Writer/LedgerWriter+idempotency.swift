// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
import Storage

// MARK: - Retries

extension LedgerWriter {
    /// An answer that is kept under an idempotency key, so that a retry gets it too.
    struct KeptAnswer {
        /// The digest in the claim of the first request; a retry has the same.
        let requestDigest: [UInt8]
        /// UUIDv7 of the first request; a grant has it too.
        let id: UniqueID
        /// What is signed upon a grant carries it; any other answer has its `id` here.
        let nonce: UniqueID
        /// When the service gave the answer; of a grant, when it was asked for.
        let at: Timestamp
        /// The answer, or its part that a retry can't make again: of a grant, the decision.
        let json: [UInt8]
    }

    private static let keptAnswer: StaticString = """
        SELECT request_digest, grant_id, nonce, signed_at, decision
        FROM idempotency_keys WHERE key_digest = ? AND (signed_at > ? OR recorded_at > ? AND recorded_at <= ?)
        """

    /// The bounds within which a key is still known: one for the signing time of its grant, two for the log's time.
    ///
    /// The times differ if the clock was set back. By signing time alone, later grants would be forgotten once it is
    /// right. If the log is ahead by more than a key's lifetime, because the clock once was, its time shows no age.
    static func known(at now: Timestamp) -> [SQLValue] {
        let oldest = SQLValue.integer(now.adding(hours: -IdempotencyClaim.lifetimeHours).milliseconds)
        return [oldest, oldest, .integer(now.adding(hours: IdempotencyClaim.lifetimeHours).milliseconds)]
    }

    /// The answer under a key; `nil` if the key is unknown.
    ///
    /// The caller compares the digests of the requests.
    func keptAnswer(under claim: IdempotencyClaim, at now: Timestamp) throws(LedgerError) -> KeptAnswer? {
        if !claimsReadAhead.isEmpty, let known = claimsReadAhead[claim.keyDigest] { return known }
        var kept: KeptAnswer?
        try rows(SQL(Self.keptAnswer, [.blob(claim.keyDigest)] + Self.known(at: now))) { row in
            kept = KeptAnswer(row)
        }
        return kept
    }

    /// Asks ahead for the answers under many keys; each claim has the digest of a key and its time bounds.
    func ask(_ claims: [[SQLValue]]) throws(StorageError) {
        try connection.ask(Self.keptAnswer, forEach: claims)
    }

    /// Reads what was asked ahead; it is known until the transaction ends.
    func readAhead(_ claims: [[SQLValue]]) throws(StorageError) {
        for case .blob(let digest)? in claims.map(\.first) { claimsReadAhead[digest] = .some(nil) }
        try connection.rows(Self.keptAnswer, forEach: claims) { place, row in
            if case .blob(let digest)? = claims[place].first { claimsReadAhead[digest] = KeptAnswer(row) }
        }
    }

    /// The answers to items of a batch, by the digests of their keys; `nil` if they were to another body.
    func keptAnswers(under claim: BatchClaim, at now: Timestamp) throws(LedgerError) -> [[UInt8]: KeptAnswer]? {
        // Removed: another batch under the key must see what this one grants.
        let known = batchesReadAhead.isEmpty ? nil : batchesReadAhead.removeValue(forKey: claim.keyDigests.first)
        let kept =
            if let known { known } else { try database(storedAnswers(under: claim, at: now)) }
        let isOfThisBody = kept.values.allSatisfy { $0.requestDigest.starts(with: claim.bodyDigest) }
        return isOfThisBody ? kept : nil
    }

    private static func answers(under claim: BatchClaim, at now: Timestamp) -> SQL {
        SQL(
            """
            SELECT request_digest, grant_id, nonce, signed_at, decision, key_digest
            FROM idempotency_keys WHERE key_digest BETWEEN ? AND ?
                AND (signed_at > ? OR recorded_at > ? AND recorded_at <= ?)
            """,
            [.blob(claim.keyDigests.first), .blob(claim.keyDigests.last)] + known(at: now)
        )
    }

    private func storedAnswers(
        under claim: BatchClaim,
        at now: Timestamp
    ) throws(StorageError) -> [[UInt8]: KeptAnswer] {
        var kept: [[UInt8]: KeptAnswer] = [:]
        try connection.rows(Self.answers(under: claim, at: now)) { row in
            if let answer = KeptAnswer(row) { kept[row.blob(5)] = answer }
        }
        return kept
    }

    /// Asks ahead for the answers under the key of a batch.
    func ask(_ claim: BatchClaim, at now: Timestamp) throws(StorageError) {
        try connection.ask(Self.answers(under: claim, at: now))
    }

    /// Reads what was asked ahead; it is known until it is used, or the transaction ends.
    func readAhead(_ claim: BatchClaim, at now: Timestamp) throws(StorageError) {
        batchesReadAhead[claim.keyDigests.first] = try storedAnswers(under: claim, at: now)
    }

    /// Repeats a grant: it takes nothing from a cap, but its signatures are made and recorded again.
    func replay(_ kept: KeptAnswer, _ request: DecisionRequest) throws(LedgerError) -> Verdict {
        guard let decision = RecordedDecision(kept.json),
            let allows = request.grantable.allows(on: decision.outcome)
        else { throw .database(.unexpectedValue(column: 4)) }
        let terms = try terms(request, id: kept.id, nonce: kept.nonce, signedAt: kept.at, allows: allows)
        let isNew = try isOfNewestVersion(terms.id, signedAt: terms.signedAt)
        try record(terms, request, namesUsers: isNew)
        return .granted(.replay(decision), otherTerms: terms)
    }

    /// Whether a grant may be named beside keys in force: it is of the version in force, or that is the only one.
    ///
    /// For a grant whose use no store will report, `signedAt` decides; without it the answer is false.
    func isOfNewestVersion(_ grantID: UniqueID?, signedAt: Timestamp? = nil) throws(LedgerError) -> Bool {
        guard let newestVersion, let grantID else { return true }
        let entries = try database(issued.entries(of: [grantID]))
        if let entry = entries[grantID] { return entry >= newestVersion.firstEntry }
        return signedAt.map { $0 >= newestVersion.begunAt } ?? false
    }

    /// Keeps an answer under a key, in place of an earlier one; for an answer that is no grant, `nonce` is its `id`.
    func remember(
        _ json: [UInt8],
        id: UniqueID,
        nonce: UniqueID,
        at instant: Timestamp,
        under claim: IdempotencyClaim
    ) throws(LedgerError) {
        if claimsReadAhead[claim.keyDigest] != nil {
            claimsReadAhead[claim.keyDigest] = KeptAnswer(
                requestDigest: claim.requestDigest,
                id: id,
                nonce: nonce,
                at: instant,
                json: json
            )
        }
        let row: [SQLValue] = [
            .blob(claim.keyDigest), .blob(claim.requestDigest), .blob(id.bytes), .blob(nonce.bytes),
            .integer(instant.milliseconds), .blob(json), .integer(recordedAt.milliseconds),
        ]
        try insert(row, into: Self.idempotencyKeys)
    }

    private static let idempotencyKeys = Insertion(
        into: "idempotency_keys",
        columns: "key_digest, request_digest, grant_id, nonce, signed_at, decision, recorded_at",
        onConflict: .replaces(keyColumns: 1)
    )

    /// Deletes idempotency keys that are past their time, at most `atMost` of them.
    package func forgetIdempotencyKeys(at now: Timestamp, atMost: Int) throws(LedgerError) {
        try database(
            connection.enqueue(
                SQL(
                    """
                    DELETE FROM idempotency_keys WHERE key_digest IN (
                        SELECT key_digest FROM idempotency_keys
                        WHERE signed_at <= ? AND (recorded_at <= ? OR recorded_at > ?)
                        ORDER BY signed_at LIMIT ?
                    )
                    """,
                    Self.known(at: now) + [.integer(Int64(atMost))]
                )
            )
        )
    }
}

extension LedgerWriter.KeptAnswer {
    /// Reads these columns, in this order; `nil` if they are not what this service writes.
    fileprivate init?(_ row: borrowing Row) {
        guard let id = UniqueID(bytes: row.blob(1)), let nonce = UniqueID(bytes: row.blob(2)) else { return nil }
        self.init(
            requestDigest: row.blob(0),
            id: id,
            nonce: nonce,
            at: Timestamp(milliseconds: row.integer(3)),
            json: row.blob(4)
        )
    }
}
