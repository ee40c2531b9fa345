// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
package import Storage

/// The file outside of the database that holds the log's newest checkpoint.
///
/// If the database is restored to an earlier state, its own checkpoint goes back too. This file stays as it is, unless
/// it is restored too.
package struct CheckpointFile: Sendable {
    /// Where the file is, as the settings name it; the database's instances each have one of their own.
    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// The signed note in the file; nil if there is no file.
    package func read() throws(CheckpointFileError) -> [UInt8]? {
        guard FileIdentity(path: path) != nil else {
            guard errno == ENOENT else { throw .cannotRead(systemMessage(errno)) }
            return nil
        }
        do throws(TextFileError) {
            return try TextFile.read(path, maximumBytes: SignedNote.maximumBytes)
        } catch {
            throw .cannotRead(error.description)
        }
    }

    /// The number of entries that the note in the file claims to cover, whoever signed it; nil if there is no note.
    package var signedEntries: Int64? {
        get throws(CheckpointFileError) {
            guard let note = try read() else { return nil }
            let lines = note.split(separator: UInt8(ascii: "\n"), maxSplits: 2)
            return lines.count > 1 ? Int64(String(decoding: lines[1], as: UTF8.self)) : nil
        }
    }

    /// Puts the note into the file, whole or not at all, and on the disk before this returns.
    package func write(_ note: [UInt8]) throws(CheckpointFileError) {
        let draft = path + ".new"
        let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw .cannotWrite(systemMessage(errno)) }
        defer { close(descriptor) }
        var rest = note[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .cannotWrite(systemMessage(errno)) }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw .cannotWrite(systemMessage(errno)) }
        guard unsafe rename(draft, path) == 0 else { throw .cannotWrite(systemMessage(errno)) }
        try syncDirectory()
    }

    /// Keeps other services from having the same file; ends with the lock, or with the process.
    ///
    /// The lock is on `PATH.lock`, because the file itself is replaced with each checkpoint.
    ///
    /// - Throws: ``CheckpointFileError/inUse(path:process:)``; ``CheckpointFileError/cannotLock(_:)`` where no lock can be
    ///   had, as in a folder that can't be written to.
    package func lock() throws(CheckpointFileError) -> InstanceLock {
        do throws(StorageError) {
            return try InstanceLock(of: path)
        } catch {
            guard case .inUse(_, let process) = error else { throw .cannotLock("\(error)") }
            throw .inUse(path: path, process: process)
        }
    }

    /// Gives the file another name, which nothing may have yet; nothing happens if there is no file.
    package func setAside(as name: String) throws(CheckpointFileError) {
        guard unsafe access(path, F_OK) == 0 else { return }
        guard unsafe access(name, F_OK) != 0 else { throw .cannotWrite("\(name) already exists") }
        guard unsafe rename(path, name) == 0 else { throw .cannotWrite(systemMessage(errno)) }
        try syncDirectory()
    }

    /// Makes the file's name as durable as its contents.
    private func syncDirectory() throws(CheckpointFileError) {
        let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .cannotWrite(systemMessage(errno)) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .cannotWrite(systemMessage(errno)) }
    }
}

/// What is wrong with the file.
package enum CheckpointFileError: Error, Hashable, Sendable, CustomStringConvertible {
    case cannotRead(String)
    case cannotWrite(String)
    case cannotLock(String)
    /// Another service writes its checkpoints to it; its process is known where it could be read.
    case inUse(path: String, process: Int32?)

    /// Whether it is another service's.
    package var isInUse: Bool { if case .inUse = self { true } else { false } }

    /// A sentence for the log, with what to do where an operator can do something.
    package var description: String {
        switch self {
        case .cannotRead(let reason): "The checkpoint file can't be read: \(reason)."
        case .cannotWrite(let reason): "The checkpoint file can't be written: \(reason)."
        case .cannotLock(let reason): "The checkpoint file can't be locked: \(reason)"
        case .inUse(let path, let process):
            "The checkpoint file \(path) is another service's\(process.map { " (process \($0))" } ?? ""): each service that "
                + "shares a database needs one of its own; see --checkpoint-file."
        }
    }
}
