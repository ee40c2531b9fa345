// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Storage

/// The kept signatures of a log: each signature is verified, and the log must have had each signed head.
package struct LogEvidence {
    private let key: NoteVerifierKey
    /// The signed heads, each with its holder.
    package private(set) var promises: [LogVerifier.Promise] = []

    /// Believes what `key` has signed, and cosignatures that verify with their own keys.
    package init(key: NoteVerifierKey) {
        self.key = key
    }

    /// Adds what a database keeps of this log: its checkpoint and what witnesses signed.
    ///
    /// A cosignature is verified with the key that is kept beside it; the policy says who the witness is.
    package mutating func add(_ table: CheckpointTable) throws(LogDamage) {
        let (checkpoints, cosignatures): ([CheckpointTable.Stored], [CheckpointTable.StoredCosignature])
        do throws(StorageError) {
            checkpoints = try table.all().filter { $0.origin == key.name }
            cosignatures =
                try LogOrigin(key.name).map { origin throws(StorageError) in
                    try table.cosignatures(of: origin)
                } ?? []
        } catch {
            throw .unreadable(error.description)
        }
        for stored in checkpoints {
            let source = "The checkpoint in the database"
            let head = try add(stored.note, as: source)
            // What is beside the note decides which checkpoint may follow it.
            guard stored.size == head.size, stored.rootHash == head.rootHash.bytes else {
                throw .notBelieved(source, reason: "the size or the hash beside it are not those that were signed")
            }
        }
        for stored in cosignatures {
            let source = "What the witness \(stored.witness.prefix { $0 != "+" }) signed"
            try add(stored.note, as: source)
            do {
                _ = try SignedNote(parsing: stored.note).verified(by: NoteVerifierKey(stored.witness))
            } catch {
                throw .notBelieved(source, reason: "\(error)")
            }
        }
    }

    /// Adds a checkpoint, if the log's key signed it.
    @discardableResult
    package mutating func add(_ note: [UInt8], as source: String) throws(LogDamage) -> TreeHead {
        do throws(CheckpointFault) {
            let signed = try SignedCheckpoint(parsing: note, signedBy: key, at: Timestamp(milliseconds: 0))
            promises.append(LogVerifier.Promise(source, signed.checkpoint.head))
            return signed.checkpoint.head
        } catch {
            throw .notBelieved(source, reason: error.description)
        }
    }
}
