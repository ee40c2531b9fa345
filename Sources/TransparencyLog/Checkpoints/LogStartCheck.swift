// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import OfferDomain

/// Compares the log with what was signed of it, before the service starts and adds to it.
///
/// A database restored to yesterday's state has fewer entries than the checkpoint says; a modified one has different
/// entries. Nothing may be signed in either case: caps would be open again, and two histories would have one name.
package struct LogStartCheck {
    private let key: LogKey
    private let heads: any LogHeads
    private let file: CheckpointFile

    /// Compares what is in the database and in the file with `heads`, and believes only what `key` has signed.
    package init(key: LogKey, heads: any LogHeads, file: CheckpointFile) {
        self.key = key
        self.heads = heads
        self.file = file
    }

    /// The newest checkpoint, if there is one; throws unless the log matches every checkpoint found.
    ///
    /// `stored` is what the database holds. A new log has no checkpoint yet. ``Outcome/fileIsMissing`` reports that the
    /// database has a checkpoint but the file is missing.
    package func newest(stored: [CheckpointTable.Stored]) throws(LogMismatch) -> Outcome {
        let inFile: [UInt8]?
        do { inFile = try file.read() } catch { throw .file(error) }
        var newest: SignedCheckpoint?
        if let entry = stored.first(where: { $0.origin == key.origin.text }) {
            newest = try check(entry.note, at: entry.signedAt, in: .database)
        } else if let other = stored.last {
            throw .otherOrigin(.database, found: other.origin, expected: key.origin)
        }
        if let inFile {
            let checkpoint = try check(
                inFile,
                at: newest?.signedAt ?? Timestamp(milliseconds: 0),
                in: .file(file.path)
            )
            if checkpoint.checkpoint.size > newest?.checkpoint.size ?? 0 { newest = checkpoint }
        }
        return Outcome(newest: newest, fileIsMissing: newest != nil && inFile == nil)
    }

    /// What a log that fits begins with.
    package struct Outcome: Sendable {
        /// The larger of those in the database and in the file; `nil` before the first.
        package let newest: SignedCheckpoint?
        /// Whether a checkpoint is in the database and none in the file; it is a warning, not a mismatch.
        package let fileIsMissing: Bool
    }

    private func signed(
        _ note: [UInt8],
        at signedAt: Timestamp,
        in source: LogMismatch.Source
    ) throws(LogMismatch) -> SignedCheckpoint {
        do throws(CheckpointFault) {
            return try SignedCheckpoint(parsing: note, signedBy: key.verifierKey, at: signedAt)
        } catch {
            if case .otherOrigin(let found, _) = error {
                throw .otherOrigin(source, found: found.text, expected: key.origin)
            }
            throw .notBelieved(source, error)
        }
    }

    private func check(
        _ note: [UInt8],
        at signedAt: Timestamp,
        in source: LogMismatch.Source
    ) throws(LogMismatch) -> SignedCheckpoint {
        let signed = try signed(note, at: signedAt, in: source)
        let (size, entries) = (signed.checkpoint.size, heads.newest?.size ?? 0)
        guard size <= entries else { throw .entriesMissing(source, signed: size, found: entries) }
        let found: SHA256Digest
        do { found = try heads.rootHash(ofSize: size) } catch { throw .unreadable(error) }
        guard found == signed.checkpoint.rootHash else { throw .entriesChanged(source, size: size) }
        return signed
    }
}

/// The log is not the one that was signed; each case says what was found and what to do.
package enum LogMismatch: Error, Sendable {
    /// Where a checkpoint was found.
    package enum Source: Hashable, Sendable, CustomStringConvertible {
        case database
        case file(String)

        /// The place within a sentence.
        package var description: String {
            switch self {
            case .database: "the database"
            case .file(let path): "the file \(path)"
            }
        }
    }

    case file(CheckpointFileError)
    case unreadable(AuditReadError)
    case notBelieved(Source, CheckpointFault)
    case otherOrigin(Source, found: String, expected: LogOrigin)
    case entriesMissing(Source, signed: Int64, found: Int64)
    case entriesChanged(Source, size: Int64)

    /// Whether the keys file names another log, or another key of the log, than the signed checkpoint.
    package var isOfConfiguration: Bool {
        switch self {
        case .otherOrigin, .notBelieved: true
        case .file, .unreadable, .entriesMissing, .entriesChanged: false
        }
    }
}

extension LogMismatch: CustomStringConvertible {
    /// What was found and what to do; the service prints it and does not start.
    package var description: String {
        switch self {
        case .file(let error) where error.isInUse: error.description
        case .file(let error): "\(error) The service starts only where it can compare the audit log with it."
        case .unreadable(let error): "The audit log can't be compared with its checkpoint. \(error) \(Self.advice)"
        case .notBelieved(let source, let fault):
            "The audit log's checkpoint in \(source) can't be believed: \(fault) Either it was changed, or auditLog.file in "
                + "the keys file is a different key than the one that signed it: restore the right one. \(Self.advice)"
        case .otherOrigin(let source, let found, let expected):
            "The audit log's checkpoint in \(source) is of the log \(found), and auditLog.origin in the keys file is "
                + "\(expected). Restore the name; or, if the log is to begin again under another name, run: "
                + "offer-signer audit new-log --origin \(expected)"
        case .entriesMissing(let source, let signed, let found):
            "The audit log has \(found) entries, and the checkpoint in \(source) was signed over \(signed): at least "
                + "\(signed - found) are missing. The database was restored to an earlier state, or is another one. "
                + Self.advice
        case .entriesChanged(let source, let size):
            "The first \(size) entries of the audit log are not those that the checkpoint in \(source) was signed over: "
                + "entries were changed, or the database was restored to an earlier state and continued. \(Self.advice)"
        }
    }

    private static let advice =
        "Nothing is signed on such a log. Keep the database and the checkpoint as they are, restore the right database, "
        + "or follow “Restore a backup” in docs/runbook.md."
}
