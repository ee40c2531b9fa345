// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An open file, closed when its owner goes away.
struct OpenFile: ~Copyable {
    let descriptor: Int32

    /// Opens a file to read it, without waiting: a pipe without a writer would block the process forever.
    init(reading path: String) throws(SecretFileError) {
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw .cannotOpen(code: errno) }
    }

    /// Creates a file that only its owner may read and write.
    init(creating path: String) throws(SecretFileError) {
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw errno == EEXIST ? .exists : .cannotCreate(code: errno) }
    }

    /// Opens a file to write over what it holds.
    init(overwriting path: String) throws(SecretFileError) {
        descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw .cannotOpen(code: errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// What the open file is; never what has that name by now.
    func status() throws(SecretFileError) -> stat {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .cannotRead(code: errno) }
        return status
    }

    /// Reads until the buffer is full or the file ends, and returns how many bytes came.
    func read(into target: UnsafeMutableRawBufferPointer) throws(SecretFileError) -> Int {
        var filled = 0
        while filled < target.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: target[filled...])
            let count = unsafe Glibc.read(descriptor, rest.baseAddress, rest.count)
            if count == 0 { break }
            if count > 0 {
                filled += count
            } else if errno != EINTR {
                throw .cannotRead(code: errno)
            }
        }
        return filled
    }

    /// Writes all bytes and waits until they are on the disk.
    func writeDurably(_ bytes: UnsafeRawBufferPointer) throws(SecretFileError) {
        // The mode given to `open` loses the umask's bits.
        guard fchmod(descriptor, 0o600) == 0 else { throw .cannotWrite(code: errno) }
        try unsafe write(bytes)
    }

    /// Writes the bytes over the first ones of the file, and waits until they are on the disk.
    func overwrite(with bytes: UnsafeRawBufferPointer) throws(SecretFileError) {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw .cannotWrite(code: errno) }
        try unsafe write(bytes)
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(SecretFileError) {
        var written = 0
        while written < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count >= 0 {
                written += count
            } else if errno != EINTR {
                throw .cannotWrite(code: errno)
            }
        }
        guard fsync(descriptor) == 0 else { throw .cannotWrite(code: errno) }
    }
}
