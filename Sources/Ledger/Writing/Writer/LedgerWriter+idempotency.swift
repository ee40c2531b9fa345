// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
import Storage

// MARK: - Retries

extension LedgerWriter {
    /// What was granted under an idempotency key before.
    struct EarlierGrant {
        let requestDigest: [UInt8]
        let grantID: UniqueID
        let nonce: UniqueID
        let signedAt: Timestamp
        let decisionJSON: [UInt8]

        init(_ grant: GrantTerms, under claim: IdempotencyClaim, decisionJSON: [UInt8]) {
            requestDigest = claim.requestDigest
            (grantID, nonce, signedAt) = (grant.id, grant.nonce, grant.signedAt)
            self.decisionJSON = decisionJSON
        }

        /// Reads these columns, in this order; `nil` if they are not what this service writes.
        fileprivate init?(_ row: borrowing Row) {
            guard let grantID = UniqueID(bytes: row.blob(1)), let nonce = UniqueID(bytes: row.blob(2)) else {
                return nil
            }
            requestDigest = row.blob(0)
            self.grantID = grantID
            self.nonce = nonce
            signedAt = Timestamp(milliseconds: row.integer(3))
            decisionJSON = row.blob(4)
        }
    }

    private static let earlierGrant: StaticString = """
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

    func earlierGrant(_ claim: IdempotencyClaim, at now: Timestamp) throws(LedgerError) -> EarlierGrant? {
        if !claimsReadAhead.isEmpty, let known = claimsReadAhead[claim.keyDigest] { return known }
        var earlier: EarlierGrant?
        try rows(SQL(Self.earlierGrant, [.blob(claim.keyDigest)] + Self.known(at: now))) { row in
            earlier = EarlierGrant(row)
        }
        return earlier
    }

    /// Asks ahead what was granted under many keys; each claim has the digest of a key and its time bounds.
    func ask(_ claims: [[SQLValue]]) throws(StorageError) {
        try connection.ask(Self.earlierGrant, forEach: claims)
    }

    /// Reads what was asked ahead; it is known until the transaction ends.
    func readAhead(_ claims: [[SQLValue]]) throws(StorageError) {
        for case .blob(let digest)? in claims.map(\.first) { claimsReadAhead[digest] = .some(nil) }
        try connection.rows(Self.earlierGrant, forEach: claims) { place, row in
            if case .blob(let digest)? = claims[place].first { claimsReadAhead[digest] = EarlierGrant(row) }
        }
    }

    /// The earlier grants of a batch, by the digests of its items' keys; `nil` if they were for another body.
    func earlierGrants(_ claim: BatchClaim, at now: Timestamp) throws(LedgerError) -> [[UInt8]: EarlierGrant]? {
        // Removed: another batch under the key must see what this one grants.
        let known = batchesReadAhead.isEmpty ? nil : batchesReadAhead.removeValue(forKey: claim.keyDigests.first)
        let earlier =
            if let known { known } else { try database(storedGrants(claim, at: now)) }
        let isOfThisBody = earlier.values.allSatisfy { $0.requestDigest.starts(with: claim.bodyDigest) }
        return isOfThisBody ? earlier : nil
    }

    private static func grants(of claim: BatchClaim, at now: Timestamp) -> SQL {
        SQL(
            """
            SELECT request_digest, grant_id, nonce, signed_at, decision, key_digest
            FROM idempotency_keys WHERE key_digest BETWEEN ? AND ?
                AND (signed_at > ? OR recorded_at > ? AND recorded_at <= ?)
            """,
            [.blob(claim.keyDigests.first), .blob(claim.keyDigests.last)] + known(at: now)
        )
    }

    private func storedGrants(_ claim: BatchClaim, at now: Timestamp) throws(StorageError) -> [[UInt8]: EarlierGrant] {
        var earlier: [[UInt8]: EarlierGrant] = [:]
        try connection.rows(Self.grants(of: claim, at: now)) { row in
            if let grant = EarlierGrant(row) { earlier[row.blob(5)] = grant }
        }
        return earlier
    }

    /// Asks ahead what was granted under the key of a batch.
    func ask(_ claim: BatchClaim, at now: Timestamp) throws(StorageError) {
        try connection.ask(Self.grants(of: claim, at: now))
    }

    /// Reads what was asked ahead; it is known until it is used, or the transaction ends.
    func readAhead(_ claim: BatchClaim, at now: Timestamp) throws(StorageError) {
        batchesReadAhead[claim.keyDigests.first] = try storedGrants(claim, at: now)
    }

    /// Repeats a grant: it takes nothing from a cap, but its signatures are made and recorded again.
    func replay(_ earlier: EarlierGrant, _ request: DecisionRequest) throws(LedgerError) -> Verdict {
        guard let decision = RecordedDecision(earlier.decisionJSON),
            let allows = request.grantable.answer(to: decision.outcome)
        else { throw .database(.unexpectedValue(column: 4)) }
        let terms = try terms(
            request,
            id: earlier.grantID,
            nonce: earlier.nonce,
            signedAt: earlier.signedAt,
            allows: allows
        )
        let isNew = try isOfNewestVersion(terms.id, signedAt: terms.signedAt)
        try giveOut(request, entry: try record(terms, request, namesUsers: isNew))
        return .granted(.replay(decision), otherTerms: terms)
    }

    func remember(
        _ grant: GrantTerms,
        under claim: IdempotencyClaim,
        decisionJSON: [UInt8]
    ) throws(LedgerError) {
        if claimsReadAhead[claim.keyDigest] != nil {
            claimsReadAhead[claim.keyDigest] = EarlierGrant(grant, under: claim, decisionJSON: decisionJSON)
        }
        let row: [SQLValue] = [
            .blob(claim.keyDigest), .blob(claim.requestDigest), .blob(grant.id.bytes), .blob(grant.nonce.bytes),
            .integer(grant.signedAt.milliseconds), .blob(decisionJSON), .integer(recordedAt.milliseconds),
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
