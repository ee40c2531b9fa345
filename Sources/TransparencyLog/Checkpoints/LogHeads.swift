// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// What signing and submitting checkpoints asks of the log; any thread may ask, and is blocked while it is read.
package protocol LogHeads: Sendable {
    /// The newest head that is durable; nil before there is one.
    var newest: TreeHead? { get }
    /// The hash over the first entries, computed from what is stored.
    func rootHash(ofSize size: Int64) throws(AuditReadError) -> SHA256Digest
    /// Shows that the log of one size begins with the log of another.
    func consistencyProof(from: Int64, to: Int64) throws(AuditReadError) -> [SHA256Digest]
}

/// The log of a database that is not there yet.
package struct NoLogHeads: LogHeads {
    package init() {}

    /// The tree without entries.
    package var newest: TreeHead? { .empty }

    /// The root hash of the tree without entries.
    package func rootHash(ofSize size: Int64) throws(AuditReadError) -> SHA256Digest {
        guard size == 0 else { throw .noSuchTree(size: size) }
        return TreeHead.empty.rootHash
    }

    /// Empty, as there is one tree.
    package func consistencyProof(from: Int64, to: Int64) throws(AuditReadError) -> [SHA256Digest] {
        guard from == 0, to == 0 else { throw .noSuchTree(size: to) }
        return []
    }
}

/// Where checkpoints are made durable before they are published.
package protocol CheckpointKeeping: Sendable {
    /// Returns once the checkpoint is on the disk.
    func keep(_ signed: SignedCheckpoint) throws(CheckpointKeepingError)
    /// Returns once a checkpoint that another instance put into the database is also on this instance's disk.
    func take(_ signed: SignedCheckpoint) throws(CheckpointKeepingError)
    /// Returns once the cosignature is on the disk.
    func keep(_ cosignature: VerifiedSignature, of signed: SignedCheckpoint) throws(CheckpointKeepingError)
}

/// The log as its signers see it: its key, its heads, and where signed checkpoints are kept.
package struct SignableLog: Sendable {
    let key: LogKey
    let heads: any LogHeads
    let keeping: any CheckpointKeeping

    package init(key: LogKey, heads: any LogHeads, keeping: any CheckpointKeeping) {
        self.key = key
        self.heads = heads
        self.keeping = keeping
    }
}

/// Why a checkpoint was not made durable.
package enum CheckpointKeepingError: Error, Sendable, CustomStringConvertible {
    /// The database could not be written to; says why.
    case records(String)
    case file(CheckpointFileError)
    /// The database holds a checkpoint that is as large, with another hash.
    case contradictsEarlier
    /// The database holds a larger checkpoint, perhaps of another instance; nothing was kept.
    case isOutrun(by: CheckpointTable.Stored)

    /// A sentence for the log, and for `check`.
    package var description: String {
        switch self {
        case .records(let reason): reason
        case .file(let error): error.description
        case .contradictsEarlier:
            "The database holds an earlier checkpoint of as many entries with another hash."
        case .isOutrun(let other): "The database holds a checkpoint of \(other.size) entries."
        }
    }
}
