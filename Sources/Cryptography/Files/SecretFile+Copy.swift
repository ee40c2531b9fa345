// SPDX-License-Identifier: Apache-2.0
import Glibc

extension SecretFile {
    /// Reads a secret that a person has just downloaded, even if other users may read that file.
    ///
    /// Only commands use it, for the person who names the file. The service reads only with ``read(path:policy:)``.
    package static func readDownloaded(path: String) throws(SecretFileError) -> SecureBytes {
        let file = try OpenFile(reading: path)
        let status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular(FileKind(status.st_mode)) }
        guard status.st_size > 0 else { throw .empty }
        guard status.st_size <= SecretFilePolicy.maximumByteCount else { throw .tooLarge(byteCount: status.st_size) }
        let secret = try SecureBytes.allocate(status.st_size)
        let count = try unsafe secret.withMutableBytes { target throws(SecretFileError) in
            try unsafe file.read(into: target)
        }
        guard count == status.st_size else { throw .changedWhileRead }
        return secret
    }

    /// Writes a secret that was read into a new file of mode 0600, durably; the file must not exist.
    package static func write(_ secret: SecureBytes, to path: String) throws(SecretFileError) {
        try unsafe secret.withBytes { bytes throws(SecretFileError) in try unsafe create(path: path, contents: bytes) }
    }
}
