// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import OfferDomain

struct UniqueIDTests {
    static let lowercase = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"

    @Test(arguments: [lowercase, lowercase.uppercased(), "7E3fb204-2a6B-4b2F-9A3c-1b2C3d4e5F60"])
    func `reads any letter case and writes lowercase`(text: String) throws {
        let id = try #require(UniqueID(text))
        #expect(id.description == UniqueIDTests.lowercase)
        #expect(id == UniqueID(utf8: Array(text.utf8)))
        #expect(id.hashValue == UniqueID(UniqueIDTests.lowercase)?.hashValue)
    }

    @Test(arguments: [
        "", "7e3fb2042a6b4b2f9a3c1b2c3d4e5f60", "{7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60}",
        "urn:uuid:7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60", "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f6",
        "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f600", "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f6g",
        "7e3fb2042-a6b-4b2f-9a3c-1b2c3d4e5f60", " 7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f6",
        "7e3fb204_2a6b_4b2f_9a3c_1b2c3d4e5f60",
        "+e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60", "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f\u{FF16}",
    ])
    func `reads no other form`(text: String) {
        #expect(UniqueID(text) == nil)
    }

    @Test
    func `takes no byte but a hexadecimal digit or a hyphen, each in its place`() {
        for place in 0..<36 {
            let isHyphen = [8, 13, 18, 23].contains(place)
            for byte in UInt8.min...UInt8.max {
                var text = Array(UniqueIDTests.lowercase.utf8)
                text[place] = byte
                let fits = isHyphen ? byte == 0x2D : byte < 0x80 && Character(UnicodeScalar(byte)).isHexDigit
                #expect((UniqueID(utf8: text) != nil) == fits, "byte \(byte) at \(place)")
            }
        }
    }

    @Test
    func `agrees with Foundation on random ids`() throws {
        var random = SplitMix(seed: 1)
        for _ in 0..<2000 {
            let id = UniqueID.version4(random.next(), random.next())
            let oracle = try #require(UUID(uuidString: id.description))
            #expect(oracle.uuidString.lowercased() == id.description)
            #expect(UniqueID(oracle.uuidString) == id)
            let hexadecimal = id.bytes.map { String(format: "%02X", $0) }.joined()
            #expect(oracle.uuidString.replacingOccurrences(of: "-", with: "") == hexadecimal)
            #expect(UniqueID(bytes: id.bytes) == id)
        }
    }

    @Test(arguments: [(0, 0), (UInt64.max, UInt64.max), (0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210)])
    func `marks version and variant whatever the random numbers`(first: UInt64, second: UInt64) {
        let four = UniqueID.version4(first, second)
        let seven = UniqueID.version7(at: Timestamp(milliseconds: 1), first, second)
        #expect(four.version == 4)
        #expect(seven.version == 7)
        #expect(four.bytes[8] & 0xC0 == 0x80)
        #expect(seven.bytes[8] & 0xC0 == 0x80)
    }

    @Test
    func `uses every random bit that the layout leaves`() {
        func bits(_ id: UniqueID, _ other: UniqueID) -> Int {
            zip(id.bytes, other.bytes).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount }
        }
        #expect(bits(.version4(0, 0), .version4(.max, .max)) == 122)
        let now = Timestamp(milliseconds: 1_698_148_900_000)
        #expect(bits(.version7(at: now, 0, 0), .version7(at: now, .max, .max)) == 74)
    }

    @Test
    func `keeps the instant of a version 7 id, and sorts by it`() {
        var random = SplitMix(seed: 2)
        var earlier: UniqueID?
        for step in 0..<1000 {
            let instant = Timestamp(milliseconds: 1_698_148_900_000 + Int64(step) * 977)
            let id = UniqueID.version7(at: instant, random.next(), random.next())
            #expect(id.timestamp == instant)
            if let earlier {
                #expect(earlier < id)
                #expect(earlier.description < id.description)
                #expect(earlier.bytes.lexicographicallyPrecedes(id.bytes))
            }
            earlier = id
        }
        #expect(UniqueID.version7(at: Timestamp(milliseconds: -5), 0, 0).timestamp == Timestamp(milliseconds: 0))
    }

    @Test(arguments: [0, 15, 17])
    func `is made of sixteen bytes only`(count: Int) {
        #expect(UniqueID(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test
    func `appends its text after what is there`() throws {
        var text = Array("id=".utf8)
        try #require(UniqueID(UniqueIDTests.lowercase)).append(to: &text)
        #expect(String(decoding: text, as: UTF8.self) == "id=" + UniqueIDTests.lowercase)
    }
}
