// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc

/// A configuration file that could not be read.
package struct TextFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, as the end of a sentence that begins with the file.
    package let description: String
    /// Whether there is no such file.
    package let isMissing: Bool

    /// `description` ends a sentence that begins with the file.
    package init(description: String, isMissing: Bool = false) {
        self.description = description
        self.isMissing = isMissing
    }
}

/// A file that people edit, read whole.
package enum TextFile {
    /// The bytes of a regular file of at most `maximumBytes`; a file that `decides` what is signed is refused if every
    /// user may write to it or replace it.
    package static func read(
        _ path: String,
        maximumBytes: Int = 4 << 20,
        decides: Bool = false
    ) throws(TextFileError) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw TextFileError(description: "cannot be opened: \(systemMessage(errno))", isMissing: errno == ENOENT)
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw TextFileError(description: "is not a regular file")
        }
        guard !decides || status.st_mode & S_IWOTH == 0 else {
            throw TextFileError(description: "is world-writable, and decides what is signed; chmod o-w")
        }
        if decides { try requireGuardedWay(to: path, descriptor) }
        guard status.st_size <= maximumBytes else {
            throw TextFileError(description: "has \(status.st_size) bytes, at most \(maximumBytes) are read")
        }
        return try readAll(descriptor, expecting: Int(status.st_size))
    }

    private static func requireGuardedWay(to path: String, _ descriptor: Int32) throws(TextFileError) {
        do throws(SecretFileError) {
            try DirectoryCheck.check(wayTo: path, ofOpenFile: descriptor)
        } catch {
            throw TextFileError(description: "decides what is signed, and does not lie safely: \(error)")
        }
    }

    private static func readAll(_ descriptor: Int32, expecting size: Int) throws(TextFileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        var filled = 0
        while filled < size {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(descriptor, buffer.baseAddress?.advanced(by: filled), size - filled)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw TextFileError(description: "ended early or failed while it was read") }
            filled += count
        }
        return bytes
    }
}

/// What the system says about an error number.
package func systemMessage(_ code: Int32) -> String {
    unsafe String(cString: strerror(code))
}

/// The path of `file` as seen from the folder that holds `base`; absolute paths stay as they are.
package func resolve(_ file: String, beside base: String) -> String {
    guard !file.hasPrefix("/"), let slash = base.lastIndex(of: "/") else { return file }
    return base[...slash] + file
}

/// The path as it is seen from the root, without following anything.
package func absolutePath(_ path: String) -> String {
    guard !path.hasPrefix("/"), let pointer = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(pointer) }
    return unsafe String(cString: pointer) + "/" + path
}
