// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Ledger
import OfferDomain
import ServiceRuntime
import Storage
import Stores

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
        let found = try await committer.proofs { connection throws(StorageError) in
            try AttestedKeyTable(connection: connection).key(id)
        }
        if let found { recent.withLock { $0[id] = found } }
        return found
    }

    func register(
        _ id: SHA256Digest,
        _ key: AttestedKey,
        by challenge: AppAttestChallenge,
        at now: Timestamp
    ) async throws(Refusal) -> AttestedKeyTable.Registration {
        let outcome = try await committer.proofs { connection throws(StorageError) in
            try AttestedKeyTable(connection: connection).register(id, key, by: challenge, at: now)
        }
        // Its first assertion comes at once.
        if case .added = outcome { recent.withLock { $0[id] = key } }
        return outcome
    }

    /// Uses an assertion up; returns when that is durable.
    ///
    /// - Returns: Whether it is the key's first with this counter, and none with a higher one came before.
    func advance(_ id: SHA256Digest, to counter: UInt32, at now: Timestamp) async throws(Refusal) -> Bool {
        let isNew = try await committer.proofs { connection throws(StorageError) in
            try AttestedKeyTable(connection: connection).advance(id, to: counter, at: now)
        }
        // The key may have been forgotten meanwhile.
        if !isNew { recent.withLock { $0[id] = nil } }
        return isNew
    }
}
