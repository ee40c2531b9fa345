// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Ledger
import OfferDomain
import ServiceRuntime
import Storage
import Stores

/// The requests that a token of Play Integrity was taken for, while the token could still count.
struct SpentTokenTable {
    let connection: any DatabaseConnection

    /// How long rows are kept beyond a token's lifetime, because clocks of instances differ.
    private static let reserveMilliseconds: Int64 = 600_000
    /// The maximum number of old rows deleted when one is added, so that old rows do not accumulate.
    private static let mostForgotten = 8

    /// Marks a request as spent, unless it was spent before; one statement does both, so of two equal requests at the
    /// same time only one succeeds, at any instance.
    ///
    /// - Returns: Whether the request was new.
    func spend(_ key: SHA256Digest, at now: Timestamp) throws(StorageError) -> Bool {
        let isNew = try connection.run(
            SQL(
                "INSERT INTO spent_integrity_tokens (request_key, spent_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
                .blob(key.bytes),
                .integer(now.milliseconds)
            )
        )
        try forget(at: now)
        return isNew == 1
    }

    /// Whether there is a row that no token can repeat.
    func hasOld(at now: Timestamp) throws(StorageError) -> Bool {
        var isThere = false
        let sql = SQL("SELECT 1 FROM spent_integrity_tokens WHERE spent_at < ? LIMIT 1", .integer(Self.end(at: now)))
        try connection.rows(sql) { _ in isThere = true }
        return isThere
    }

    /// Deletes a few of those.
    func forget(at now: Timestamp, atMost limit: Int = mostForgotten) throws(StorageError) {
        let sql = SQL(
            """
            DELETE FROM spent_integrity_tokens WHERE request_key IN
                (SELECT request_key FROM spent_integrity_tokens WHERE spent_at < ? ORDER BY spent_at LIMIT ?)
            """,
            .integer(Self.end(at: now)),
            .integer(Int64(limit))
        )
        try connection.run(sql)
    }

    /// A token that was taken then may have been asked for a little later, by Google's clock.
    private static func end(at now: Timestamp) -> Int64 {
        now.milliseconds - PlayIntegrityToken.lifetimeMilliseconds - reserveMilliseconds
    }
}

/// Takes each request with a token once, in the ledger's transactions.
final class SpentTokens: Sendable {
    private let committer: Committer
    /// What was spent here, so that Google is not asked about a repetition.
    private let recent = Guarded(RecentValues<SHA256Digest, Bool>(capacity: 4096))

    init(_ committer: Committer) {
        self.committer = committer
    }

    /// Whether it is known here that the request was taken before.
    func isKnown(_ key: SHA256Digest) -> Bool { recent.withLock { $0[key] } ?? false }

    /// Takes the request; returns when that is durable.
    ///
    /// - Returns: Whether it was the first.
    func spend(_ key: SHA256Digest, at now: Timestamp) async throws(Refusal) -> Bool {
        let isNew = try await committer.proofs { connection throws(StorageError) in
            try SpentTokenTable(connection: connection).spend(key, at: now)
        }
        recent.withLock { $0[key] = true }
        return isNew
    }
}

extension Committer {
    /// Reads or changes what is known of proofs; returns when that is durable.
    func proofs<Value: Sendable>(
        _ body: @escaping @Sendable (any DatabaseConnection) throws(StorageError) -> Value
    ) async throws(Refusal) -> Value {
        let outcome = Guarded<Value?>(nil)
        do throws(LedgerError) {
            try await look { writer throws(LedgerError) in
                let value = try database(body(writer.connection))
                outcome.withLock { $0 = value }
            }
        } catch {
            throw .service(ServiceFault(error))
        }
        guard let value = outcome.withLock({ $0 }) else { throw .service(.auditUnavailable) }
        return value
    }
}
