// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A SHA-256 digest: 32 bytes.
///
/// Held as four words in the order of memory, so that one costs no allocation.
package struct SHA256Digest: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes of every digest.
    package static let byteCount = 32

    private typealias Words = (UInt64, UInt64, UInt64, UInt64)
    private var word0: UInt64 = 0
    private var word1: UInt64 = 0
    private var word2: UInt64 = 0
    private var word3: UInt64 = 0

    /// A digest from its bytes; nil unless there are 32.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        unsafe self.init { target in unsafe target.copyBytes(from: bytes) }
    }

    /// A digest from 32 of the bytes; nil if there are fewer than 32 from `start` on.
    package init?(bytes: [UInt8], from start: Int) {
        guard start >= 0, bytes.count - start >= Self.byteCount else { return nil }
        unsafe self.init { target in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + Self.byteCount]))
            }
        }
    }

    /// Appends the 32 bytes.
    package func append(to bytes: inout [UInt8]) {
        unsafe withBytes { unsafe bytes.append(contentsOf: $0) }
    }

    /// 32 zeros, which no known bytes digest to.
    package static let zero = SHA256Digest(word0: 0, word1: 0, word2: 0, word3: 0)

    private init(word0: UInt64, word1: UInt64, word2: UInt64, word3: UInt64) {
        (self.word0, self.word1, self.word2, self.word3) = (word0, word1, word2, word3)
    }

    /// A digest written into place; `fill` writes all 32 bytes.
    init(filledBy fill: (UnsafeMutableRawBufferPointer) -> Void) {
        var words: Words = (0, 0, 0, 0)
        unsafe withUnsafeMutableBytes(of: &words) { unsafe fill($0) }
        (word0, word1, word2, word3) = words
    }

    /// The digest's 32 bytes.
    package var bytes: [UInt8] {
        unsafe withBytes { unsafe Array($0) }
    }

    /// A digest from 64 hexadecimal digits of any letter case; nil for anything else.
    package init?(hex: String) {
        let digits = Array(hex.lowercased().utf8)
        guard digits.count == 2 * Self.byteCount else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Hexadecimal.value(digits[index]), let low = Hexadecimal.value(digits[index + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        self.init(bytes: bytes)
    }

    /// The digest in 64 lowercase hexadecimal digits.
    package var hex: String {
        String(decoding: Hexadecimal.encode(bytes), as: UTF8.self)
    }

    /// How many bytes ``hex`` has.
    package static let hexBytes = 2 * byteCount

    /// Appends the 64 lowercase hexadecimal digits, which must fit.
    package func appendHex(to text: inout OutputSpan<UInt8>) {
        unsafe withBytes { digest in
            unsafe text.withUnsafeMutableBufferPointer { buffer, count in
                let room = unsafe UnsafeMutableBufferPointer(rebasing: buffer[count...])
                unsafe Hexadecimal.write(digest, to: UnsafeMutableRawBufferPointer(room))
                count += Self.hexBytes
            }
        }
    }

    /// The hexadecimal form, ``hex``.
    package var description: String { hex }

    /// Whether both are the same, in a time that tells nothing about either.
    package func equalsInConstantTime(_ other: SHA256Digest) -> Bool {
        unsafe withBytes { one in
            unsafe other.withBytes { two in
                unsafe CRYPTO_memcmp(one.baseAddress, two.baseAddress, Self.byteCount) == 0
            }
        }
    }

    /// Passes the 32 bytes to `body`.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let words: Words = (word0, word1, word2, word3)
        return unsafe withUnsafeBytes(of: words) { unsafe body($0) }
    }
}
