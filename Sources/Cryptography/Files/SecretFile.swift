// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Files that hold one secret: a private key, a passphrase, a key for HMACs.
package enum SecretFile {
    /// Reads a file that only root and this process's user can have written or, by the policy, read.
    ///
    /// The checks are of the open file, so that no other file can replace it between check and reading. Symbolic links
    /// are followed, because Kubernetes provides secrets that way; all directories of the given path and of the real
    /// path are checked, not the parent alone. A world-writable directory is refused, unless its mount is read-only, or
    /// it is sticky and owned by root or by us, as `/tmp` is: there, other users can replace only their own files.
    package static func read(
        path: String,
        policy: SecretFilePolicy = SecretFilePolicy()
    ) throws(SecretFileError) -> SecureBytes {
        let file = try OpenFile(reading: path)
        let byteCount = try check(file.status(), against: policy)
        try DirectoryCheck.check(wayTo: path, of: file)
        let secret = try SecureBytes.allocate(byteCount)
        let count = try unsafe secret.withMutableBytes { target throws(SecretFileError) in
            try unsafe file.read(into: target)
        }
        guard count == byteCount, try isAtEnd(file) else { throw .changedWhileRead }
        return secret
    }

    /// Checks the file's kind, owner, mode and size, and returns the size in bytes.
    private static func check(_ status: stat, against policy: SecretFilePolicy) throws(SecretFileError) -> Int {
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular(FileKind(status.st_mode)) }
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw .foreignOwner(userID: status.st_uid, expected: geteuid())
        }
        guard status.st_mode & policy.forbiddenMode == 0 else {
            throw .modeTooOpen(mode: status.st_mode & 0o7777, policy: policy)
        }
        guard status.st_size > 0 else { throw .empty }
        guard status.st_size <= SecretFilePolicy.maximumByteCount else { throw .tooLarge(byteCount: status.st_size) }
        return status.st_size
    }

    private static func isAtEnd(_ file: borrowing OpenFile) throws(SecretFileError) -> Bool {
        var oneMore: UInt8 = 0
        let count = try unsafe withUnsafeMutableBytes(of: &oneMore) { target throws(SecretFileError) in
            try unsafe file.read(into: target)
        }
        oneMore = 0
        return count == 0
    }
}

extension FileKind {
    init(_ mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFDIR: self = .directory
        case S_IFIFO: self = .pipe
        case S_IFSOCK: self = .socket
        case S_IFCHR, S_IFBLK: self = .device
        default: self = .other
        }
    }
}

extension SecureBytes {
    /// `count` zero bytes; a failure is an error of file reading and writing.
    static func allocate(_ count: Int) throws(SecretFileError) -> SecureBytes {
        do throws(SecureMemoryError) {
            return try SecureBytes(count: count)
        } catch {
            throw .secureMemory(error)
        }
    }
}
