// SPDX-License-Identifier: Apache-2.0
import Glibc

extension SecretFile {
    /// Writes a new file of random bytes, for a key of HMACs.
    ///
    /// Read it with ``readHexadecimal(path:policy:)``.
    ///
    /// The file holds two lowercase hexadecimal digits for each byte and a line end, as `openssl rand -hex` writes it, so
    /// that people can copy it and no editor changes it. Its mode is 0600. It must not exist, and it is on the disk when
    /// this returns.
    package static func createRandom(path: String, byteCount: Int = 32) throws(SecretFileError) {
        precondition(byteCount > 0 && byteCount * 2 < SecretFilePolicy.maximumByteCount)
        let secret = try SecureBytes.allocate(byteCount)
        let text = try SecureBytes.allocate(byteCount * 2 + 1)
        do throws(RandomError) {
            try unsafe secret.withMutableBytes { target throws(RandomError) in try unsafe fillWithRandom(target) }
        } catch {
            throw .noRandom(error)
        }
        unsafe text.withMutableBytes { text in
            unsafe secret.withBytes { secret in
                unsafe Hexadecimal.write(secret, to: text)
                unsafe text[2 * secret.count] = UInt8(ascii: "\n")
            }
        }
        try unsafe text.withBytes { text throws(SecretFileError) in try unsafe create(path: path, contents: text) }
    }

    /// Reads the bytes of a file that ``createRandom(path:byteCount:)`` or `openssl rand -hex` wrote.
    ///
    /// The line end may be missing.
    package static func readHexadecimal(
        path: String,
        policy: SecretFilePolicy = SecretFilePolicy()
    ) throws(SecretFileError) -> SecureBytes {
        let text = try read(path: path, policy: policy)
        return try text.withSpan { text throws(SecretFileError) in
            let endsLine = text[text.count - 1] == UInt8(ascii: "\n")
            let digitCount = text.count - (endsLine ? 1 : 0)
            guard digitCount > 0, digitCount.isMultiple(of: 2) else { throw .notHexadecimal }
            let secret = try SecureBytes.allocate(digitCount / 2)
            for index in 0..<secret.count {
                guard
                    let high = Hexadecimal.value(text[2 * index]),
                    let low = Hexadecimal.value(text[2 * index + 1])
                else { throw .notHexadecimal }
                unsafe secret.withMutableBytes { target in unsafe target[index] = high << 4 | low }
            }
            return secret
        }
    }

    /// Writes a new file for its owner only, durably; leaves none behind if that fails.
    static func create(path: String, contents: UnsafeRawBufferPointer) throws(SecretFileError) {
        let file = try OpenFile(creating: path)
        do throws(SecretFileError) {
            try unsafe file.writeDurably(contents)
            try syncDirectory(of: path)
        } catch {
            _ = unsafe unlink(path)
            throw error
        }
    }

    /// Makes the file's name as durable as its contents.
    static func syncDirectory(of path: String) throws(SecretFileError) {
        let directory = try OpenFile(reading: DirectoryCheck.directories(above: path)[0])
        guard fsync(directory.descriptor) == 0 else { throw .cannotWrite(code: errno) }
    }
}
