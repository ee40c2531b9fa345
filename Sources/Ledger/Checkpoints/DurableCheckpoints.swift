// SPDX-License-Identifier: Apache-2.0
package import TransparencyLog

/// The database, through the committer, and after it the file beside it.
package struct DurableCheckpoints: CheckpointKeeping {
    private let committer: Committer
    private let file: CheckpointFile

    package init(committer: Committer, file: CheckpointFile) {
        self.committer = committer
        self.file = file
    }

    /// Writes the database first, so that another instance's larger checkpoint keeps it out of the file.
    package func keep(_ signed: SignedCheckpoint) throws(CheckpointKeepingError) {
        let outcome: CheckpointTable.Keeping
        do throws(LedgerError) {
            outcome = try committer.keepBlocking(.checkpoint(signed))
        } catch {
            throw .records(error.description)
        }
        if case .hasOther(let other) = outcome {
            throw other.size > signed.checkpoint.size ? .isOutrun(by: other) : .contradictsEarlier
        }
        try take(signed)
    }

    /// Writes the file only.
    package func take(_ signed: SignedCheckpoint) throws(CheckpointKeepingError) {
        do { try file.write(signed.ownNote.bytes) } catch { throw .file(error) }
    }

    /// Writes the database only.
    package func keep(
        _ cosignature: VerifiedSignature,
        of signed: SignedCheckpoint
    ) throws(CheckpointKeepingError) {
        do throws(LedgerError) {
            _ = try committer.keepBlocking(.cosignature(cosignature, signed))
        } catch {
            throw .records(error.description)
        }
    }
}
