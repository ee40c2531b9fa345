// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Testing

struct SipHashTests {
    private static let key = SipHashKey(bytes: Array(0..<16))

    /// The paper's own vector (length 15, appendix A) and those of its authors' reference program: key 00 01 … 0F, a
    /// message 00 01 … of each length.
    private static let vectors: [Int: UInt64] = [
        0: 0x726F_DB47_DD0E_0E31, 1: 0x74F8_39C5_93DC_67FD, 2: 0x0D6C_8009_D9A9_4F5A, 3: 0x8567_6696_D7FB_7E2D,
        7: 0xAB02_00F5_8B01_D137, 8: 0x93F5_F579_9A93_2462, 15: 0xA129_CA61_49BE_45E5,
    ]

    @Test(arguments: vectors.keys.sorted())
    func `gives what the paper and its reference program give`(length: Int) throws {
        let key = try #require(Self.key)
        #expect(key.code(of: (0..<length).map { UInt8($0) }) == Self.vectors[length])
    }

    @Test func `takes one more byte after the others as if it stood among them`() throws {
        let key = try #require(Self.key)
        for length in 0...40 {
            let bytes = (0..<length).map { UInt8(255 - $0) }
            #expect(key.code(of: bytes.span, followedBy: 0x2A) == key.code(of: bytes + [0x2A]), "\(length)")
        }
    }

    @Test func `has a key of 16 bytes and no other`() {
        for count in [0, 15, 17] { #expect(SipHashKey(bytes: Array(repeating: 1, count: count)) == nil) }
        let other = SipHashKey(bytes: Array(repeating: 1, count: 16))
        #expect(other?.code(of: [1, 2, 3]) != Self.key?.code(of: [1, 2, 3]))
    }
}
