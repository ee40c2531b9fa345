// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Storage

/// Looks registered keys up, and counts their assertions, in the ledger's transactions.
final class AttestedKeys: Sendable {
    private let committer: Committer
    /// What of a key never changes, so that most requests do not wait for it to be read.
    private let recent = Guarded(RecentValues<SHA256Digest, AttestedKey>(capacity: 4096))

    init(_ committer: Committer) {
        self.committer = committer
    }

    /// The key of that ID; `nil` if none is registered.
    func key(_ id: SHA256Digest) async throws(Refusal) -> AttestedKey? {
        if let known = recent.withLock({ $0[id] }) { return known }
        let found = try await inTransaction { table throws(StorageError) in try table.key(id) }
        if let found { recent.withLock { $0[id] = found } }
        return found
    }

    func register(
        _ id: SHA256Digest,
        _ key: AttestedKey,
        by challenge: AppAttestChallenge,
        at now: Timestamp
    ) async throws(Refusal) -> AttestedKeyTable.Registration {
        try await inTransaction { table throws(StorageError) in
            try table.register(id, key, by: challenge, at: now)
        }
    }

    /// Uses an assertion up; returns when that is durable.
    ///
    /// - Returns: Whether it is the key's first with this counter, and none with a higher one came before.
    func advance(_ id: SHA256Digest, to counter: UInt32, at now: Timestamp) async throws(Refusal) -> Bool {
        let isNew = try await inTransaction { table throws(StorageError) in
            try table.advance(id, to: counter, at: now)
        }
        // The key may have been forgotten meanwhile.
        if !isNew { recent.withLock { $0[id] = nil } }
        return isNew
    }

    private func inTransaction<Value: Sendable>(
        _ body: @escaping @Sendable (AttestedKeyTable) throws(StorageError) -> Value
    ) async throws(Refusal) -> Value {
        let outcome = Guarded<Value?>(nil)
        do throws(LedgerError) {
            try await committer.look { writer throws(LedgerError) in
                let value = try writer.database { () throws(StorageError) in
                    try body(AttestedKeyTable(connection: writer.connection))
                }
                outcome.withLock { $0 = value }
            }
        } catch {
            throw .service(ServiceFault(error))
        }
        guard let value = outcome.withLock({ $0 }) else { throw .service(.auditUnavailable) }
        return value
    }
}
