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

    func earlierGrant(_ claim: IdempotencyClaim, at now: Timestamp) throws(LedgerError) -> EarlierGrant? {
        var earlier: EarlierGrant?
        try rows(
            SQL(
                """
                SELECT request_digest, grant_id, nonce, signed_at, decision
                FROM idempotency_keys WHERE key_digest = ? AND signed_at > ?
                """,
                .blob(claim.keyDigest),
                .integer(now.adding(hours: -IdempotencyClaim.lifetimeHours).milliseconds)
            )
        ) { row in
            earlier = EarlierGrant(row)
        }
        return earlier
    }

    /// What was granted of a batch before, by the digests of its items' keys; `nil` if that was for another body.
    func earlierGrants(_ claim: BatchClaim, at now: Timestamp) throws(LedgerError) -> [[UInt8]: EarlierGrant]? {
        var earlier: [[UInt8]: EarlierGrant] = [:]
        let keys = claim.keyDigests
        try rows(
            SQL(
                """
                SELECT request_digest, grant_id, nonce, signed_at, decision, key_digest
                FROM idempotency_keys WHERE key_digest BETWEEN ? AND ? AND signed_at > ?
                """,
                .blob(keys.first),
                .blob(keys.last),
                .integer(now.adding(hours: -IdempotencyClaim.lifetimeHours).milliseconds)
            )
        ) { row in
            if let grant = EarlierGrant(row) { earlier[row.blob(5)] = grant }
        }
        let isOfThisBody = earlier.values.allSatisfy { $0.requestDigest.starts(with: claim.bodyDigest) }
        return isOfThisBody ? earlier : nil
    }

    /// The same grant again: it takes nothing from a cap, but its signatures are made and recorded anew.
    func replay(_ earlier: EarlierGrant, _ request: DecisionRequest) throws(LedgerError) -> Grant {
        guard let decision = RecordedDecision(earlier.decisionJSON),
            let allows = request.deliverable.answer(to: decision.outcome)
        else { throw .database(.unexpectedValue(column: 4)) }
        let grant = Grant(
            id: earlier.grantID,
            allows: allows,
            nonce: earlier.nonce,
            signedAt: earlier.signedAt,
            intents: try intents(request.deliverable, allows, earlier.nonce, earlier.signedAt),
            basis: .replay(decision)
        )
        _ = try record(grant, request)
        return grant
    }

    func remember(
        _ claim: IdempotencyClaim,
        _ grant: Grant,
        _ decisionJSON: [UInt8]
    ) throws(LedgerError) {
        try run(
            SQL(
                """
                INSERT INTO idempotency_keys (key_digest, request_digest, grant_id, nonce, signed_at, decision)
                VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (key_digest) DO UPDATE SET
                    request_digest = excluded.request_digest, grant_id = excluded.grant_id,
                    nonce = excluded.nonce, signed_at = excluded.signed_at, decision = excluded.decision
                """,
                .blob(claim.keyDigest),
                .blob(claim.requestDigest),
                .blob(grant.id.bytes),
                .blob(grant.nonce.bytes),
                .integer(grant.signedAt.milliseconds),
                .blob(decisionJSON)
            )
        )
    }

    /// Forgets idempotency keys that are past their time.
    package func forgetIdempotencyKeys(before instant: Timestamp, atMost: Int) throws(LedgerError) {
        try run(
            SQL(
                """
                DELETE FROM idempotency_keys WHERE key_digest IN (
                    SELECT key_digest FROM idempotency_keys WHERE signed_at < ? ORDER BY signed_at LIMIT ?
                )
                """,
                .integer(instant.milliseconds),
                .integer(Int64(atMost))
            )
        )
    }
}
