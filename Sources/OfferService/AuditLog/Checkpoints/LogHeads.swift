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

/// Where checkpoints are made durable, before anybody sees one.
package protocol CheckpointKeeping: Sendable {
    /// Returns once the checkpoint is on the disk.
    func keep(_ signed: SignedCheckpoint) throws(CheckpointKeepingError)
    /// Returns once the cosignature is on the disk.
    func keep(_ cosignature: VerifiedSignature, of signed: SignedCheckpoint) throws(CheckpointKeepingError)
}

/// Why a checkpoint was not made durable.
package enum CheckpointKeepingError: Error, Sendable, CustomStringConvertible {
    case records(LedgerError)
    case file(CheckpointFileError)
    /// The database holds a checkpoint that is larger, or as large with another hash.
    case contradictsEarlier

    package var description: String {
        switch self {
        case .records(let error): error.description
        case .file(let error): error.description
        case .contradictsEarlier:
            "The database holds an earlier checkpoint that is larger, or as large with another hash."
        }
    }
}

/// The database, through the committer, and after it the file beside it.
package struct DurableCheckpoints: CheckpointKeeping {
    private let committer: Committer
    private let file: CheckpointFile

    package init(committer: Committer, file: CheckpointFile) {
        self.committer = committer
        self.file = file
    }

    package func keep(_ signed: SignedCheckpoint) throws(CheckpointKeepingError) {
        let isKept: Bool
        do throws(LedgerError) {
            isKept = try committer.keepBlocking(.checkpoint(signed))
        } catch {
            throw .records(error)
        }
        guard isKept else { throw .contradictsEarlier }
        do throws(CheckpointFileError) {
            try file.write(signed.ownNote.bytes)
        } catch {
            throw .file(error)
        }
    }

    package func keep(
        _ cosignature: VerifiedSignature,
        of signed: SignedCheckpoint
    ) throws(CheckpointKeepingError) {
        do throws(LedgerError) {
            _ = try committer.keepBlocking(.cosignature(cosignature, signed))
        } catch {
            throw .records(error)
        }
    }
}
