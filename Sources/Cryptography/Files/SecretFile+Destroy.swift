// SPDX-License-Identifier: Apache-2.0
import Glibc

extension SecretFile {
    /// Overwrites a file with random bytes, waits until they are on the disk, and removes it durably.
    ///
    /// It can't reach old bytes that a disk that moves blocks, a copying file system, a snapshot or a backup keeps. A
    /// symbolic link is not followed, because its target may belong to another user.
    package static func destroy(path: String) throws(SecretFileError) {
        let file = try OpenFile(overwriting: path)
        let status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular(FileKind(status.st_mode)) }
        guard status.st_size <= SecretFilePolicy.maximumByteCount else { throw .tooLarge(byteCount: status.st_size) }
        if status.st_size > 0 {
            let filler = try SecureBytes.allocate(status.st_size)
            do throws(RandomError) {
                try unsafe filler.withMutableBytes { target throws(RandomError) in try unsafe fillWithRandom(target) }
            } catch {
                throw .noRandom(error)
            }
            try unsafe filler.withBytes { bytes throws(SecretFileError) in try unsafe file.overwrite(with: bytes) }
        }
        guard unsafe unlink(path) == 0 else { throw .cannotWrite(code: errno) }
        try syncDirectory(of: path)
    }

    /// Whether there is nothing of that name, in a folder that can be looked into.
    package static func isAbsent(path: String) -> Bool {
        unsafe access(path, F_OK) != 0 && errno == ENOENT
    }
}
