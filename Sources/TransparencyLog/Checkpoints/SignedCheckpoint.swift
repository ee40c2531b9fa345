// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OfferDomain

/// A checkpoint that the log's key signed, with the cosignatures that witnesses have given for it.
package struct SignedCheckpoint: Hashable, Sendable {
    /// What was signed.
    package let checkpoint: Checkpoint
    /// The log's own signature first.
    package private(set) var note: SignedNote
    /// By this service's clock; the note itself has no time.
    package let signedAt: Timestamp

    /// Signs a checkpoint of a log.
    package init(_ head: TreeHead, signedBy key: LogKey, at now: Timestamp) throws(SigningError) {
        checkpoint = Checkpoint(origin: key.origin, head: head)
        note = try key.sign(checkpoint)
        signedAt = now
    }

    /// Reads a note, and believes it if the key has signed it and the checkpoint is of that key's log.
    package init(
        parsing bytes: [UInt8],
        signedBy key: NoteVerifierKey,
        at signedAt: Timestamp
    ) throws(CheckpointFault) {
        do throws(NoteError) {
            note = try SignedNote(parsing: bytes)
        } catch {
            throw .note(error)
        }
        do throws(CheckpointError) {
            checkpoint = try Checkpoint(parsing: note.text)
        } catch {
            throw .checkpoint(error)
        }
        // Before the signature: a key is known by its name, so of another log nothing else could be said.
        guard checkpoint.origin.text == key.name else {
            throw .otherOrigin(found: checkpoint.origin, expected: key.name)
        }
        do throws(NoteError) {
            _ = try note.verified(by: key)
        } catch {
            throw .note(error)
        }
        self.signedAt = signedAt
    }

    /// Adds a witness's signature, in the place of an earlier one by the same key.
    mutating func add(_ cosignature: VerifiedSignature) {
        let kept = note.signatures.filter {
            $0.name != cosignature.key.name || $0.keyID != cosignature.key.keyID
        }
        note = SignedNote(text: note.text, signatures: kept + [cosignature.signature])
    }

    /// The note with nothing but the log's own signature, which is what is kept and given to witnesses.
    package var ownNote: SignedNote {
        SignedNote(text: note.text, signatures: Array(note.signatures.prefix(1)))
    }
}

/// Why a note is not believed to be a checkpoint of our log.
package enum CheckpointFault: Error, Hashable, Sendable, CustomStringConvertible {
    case note(NoteError)
    case checkpoint(CheckpointError)
    case otherOrigin(found: LogOrigin, expected: String)

    /// A sentence for the log, and for the person who verifies.
    package var description: String {
        switch self {
        case .note(let error): error.description
        case .checkpoint(let error): error.description
        case .otherOrigin(let found, let expected):
            "The checkpoint is of the log \(found), and not of \(expected)."
        }
    }
}
