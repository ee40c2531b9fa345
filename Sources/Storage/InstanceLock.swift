// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The right to be the one service that writes to a SQLite database, or to another file.
///
/// It is a lock on the file `PATH.lock`, which ends with ``release()``, or when the object goes away, or when the process
/// ends, however it ends. The file stays; it holds the number of the last process that had the lock. The lock is
/// `flock`'s, so the file must not lie on a network file system.
package final class InstanceLock: Sendable {
    private let descriptor: Int32
    /// The file that is locked.
    package let path: String

    /// Takes the lock at once, or throws an error that names the holder.
    ///
    /// - Throws: ``StorageError/inUse(path:process:)``, or ``StorageError/cannotOpen(_:)`` when there is no such folder.
    package init(of path: String) throws(StorageError) {
        let path = resolved(path) + ".lock"
        self.path = path
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .cannotOpen(EngineReport("\(path): \(systemMessage(errno))")) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK else { throw .cannotOpen(EngineReport("\(path): \(systemMessage(errno))")) }
            throw .inUse(path: path, process: Self.process(in: descriptor))
        }
        Self.write(process: getpid(), to: descriptor)
    }

    deinit {
        guard descriptor >= 0 else { return }
        release()
        close(descriptor)
    }

    /// Releases the lock, even if this object is still referenced; a second call does nothing.
    ///
    /// Closing the file would not be enough: a process that was just forked also has it open for a moment.
    package func release() {
        _ = flock(descriptor, LOCK_UN)
    }

    private static func process(in descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    /// Only a hint for people, so that it may fail.
    private static func write(process: Int32, to descriptor: Int32) {
        let bytes = Array("\(process)\n".utf8)
        guard ftruncate(descriptor, 0) == 0 else { return }
        _ = unsafe pwrite(descriptor, bytes, bytes.count, 0)
    }
}

/// The path without symbolic links, so that one file has one name; unchanged if the file does not exist yet.
private func resolved(_ path: String) -> String {
    guard let real = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
}

/// The system's words for an error number.
func systemMessage(_ number: Int32) -> String {
    unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
}
