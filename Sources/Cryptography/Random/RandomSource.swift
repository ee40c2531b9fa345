// SPDX-License-Identifier: Apache-2.0

/// Where unpredictable numbers come from: the system's generator, or a script in a test.
package protocol RandomSource: Sendable {
    /// 64 bits, every value as likely as any other.
    func next() -> UInt64

    /// `count` bytes.
    func bytes(_ count: Int) -> [UInt8]
}

extension RandomSource {
    /// The bytes of as many words as are needed, the least significant byte of each word first.
    package func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var word: UInt64 = 0
        for index in 0..<count {
            if index.isMultiple(of: 8) { word = next() }
            bytes.append(UInt8(truncatingIfNeeded: word))
            word >>= 8
        }
        return bytes
    }
}
