// SPDX-License-Identifier: Apache-2.0

/// SipHash-2-4: a quick hash of 64 bits under a secret key, for tables that untrusted callers fill.
///
/// Without the key, a caller can't find values that collide. It is no signature: 64 bits can be guessed in time.
/// Source: Aumasson, Bernstein, [SipHash: a fast short-input PRF](https://www.aumasson.jp/siphash/siphash.pdf).
package struct SipHashKey: Hashable, Sendable {
    private let first: UInt64
    private let second: UInt64

    /// A key from its 16 bytes; nil for any other number.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        let span = bytes.span
        first = span.littleEndianWord(at: 0)
        second = span.littleEndianWord(at: 8)
    }

    private init() {
        (first, second) = (0, 0)
    }

    /// The key of zeros, which is no secret.
    package static let zero = SipHashKey()

    /// The hash of the bytes.
    package func code(of bytes: borrowing Span<UInt8>) -> UInt64 {
        var state = SipHashState(first, second)
        let wordBytes = state.compressWords(of: bytes)
        return state.finish(bytes.littleEndianRest(from: wordBytes), byteCount: bytes.count)
    }

    /// The hash of the bytes with one more byte after them.
    package func code(of bytes: borrowing Span<UInt8>, followedBy last: UInt8) -> UInt64 {
        var state = SipHashState(first, second)
        let wordBytes = state.compressWords(of: bytes)
        let restCount = bytes.count - wordBytes
        let rest = bytes.littleEndianRest(from: wordBytes) | UInt64(last) << UInt64(8 * restCount)
        guard restCount == 7 else { return state.finish(rest, byteCount: bytes.count + 1) }
        state.compress(rest)
        return state.finish(0, byteCount: bytes.count + 1)
    }

    /// The hash of the bytes.
    package func code(of bytes: [UInt8]) -> UInt64 { code(of: bytes.span) }
}

/// The four words that are stirred.
///
/// All is inlined, so that they stay in registers: values are short, and there are many of them.
private struct SipHashState {
    private var word0: UInt64
    private var word1: UInt64
    private var word2: UInt64
    private var word3: UInt64

    init(_ first: UInt64, _ second: UInt64) {
        word0 = first ^ 0x736F_6D65_7073_6575
        word1 = second ^ 0x646F_7261_6E64_6F6D
        word2 = first ^ 0x6C79_6765_6E65_7261
        word3 = second ^ 0x7465_6462_7974_6573
    }

    /// Takes in all whole words, and answers how many bytes that were.
    @inline(__always)
    mutating func compressWords(of bytes: borrowing Span<UInt8>) -> Int {
        var place = 0
        while place + 8 <= bytes.count {
            compress(bytes.littleEndianWord(at: place))
            place += 8
        }
        return place
    }

    @inline(__always)
    mutating func compress(_ word: UInt64) {
        word3 ^= word
        stir()
        stir()
        word0 ^= word
    }

    /// Takes in the last bytes, fewer than 8, and the length.
    @inline(__always)
    mutating func finish(_ rest: UInt64, byteCount: Int) -> UInt64 {
        compress(rest | UInt64(truncatingIfNeeded: byteCount) << 56)
        word2 ^= 0xFF
        for _ in 0..<4 { stir() }
        return word0 ^ word1 ^ word2 ^ word3
    }

    @inline(__always)
    private mutating func stir() {
        word0 &+= word1
        word1 = word1.rotated(13) ^ word0
        word0 = word0.rotated(32)
        word2 &+= word3
        word3 = word3.rotated(16) ^ word2
        word0 &+= word3
        word3 = word3.rotated(21) ^ word0
        word2 &+= word1
        word1 = word1.rotated(17) ^ word2
        word2 = word2.rotated(32)
    }
}

extension UInt64 {
    @inline(__always)
    fileprivate func rotated(_ bits: UInt64) -> UInt64 { self << bits | self >> (64 - bits) }
}

extension Span<UInt8> {
    @inline(__always)
    fileprivate func littleEndianWord(at start: Int) -> UInt64 {
        UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
    }

    /// The bytes from `start` on, which are the last ones and fewer than 8, as one word.
    @inline(__always)
    fileprivate func littleEndianRest(from start: Int) -> UInt64 {
        // The word that ends where the bytes end has them on top; with all 8 to go, the shift leaves nothing.
        if count >= 8 { return littleEndianWord(at: count - 8) >> UInt64(8 * (8 - (count - start))) }
        var word: UInt64 = 0
        for place in start..<count { word |= UInt64(self[place]) << UInt64(8 * (place - start)) }
        return word
    }
}
