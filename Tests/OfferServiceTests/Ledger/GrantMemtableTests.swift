// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// The offsets of the newest grants, in memory.
struct GrantMemtableTests {
    /// Subjects, many with the same prefix, also at both ends of the order.
    private static func subject(_ number: Int, _ generator: inout SplitMix) -> [UInt8] {
        let rest = (0..<15).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let prefix: [UInt8] =
            switch number % 4 {
            case 0: [0xFF, 0xFF, UInt8.random(in: 0xFD...0xFF, using: &generator)]
            case 1: [0, 0, UInt8.random(in: 0...2, using: &generator)]
            case 2: [0x80, UInt8.random(in: 0...1, using: &generator), 0]
            default: (0..<3).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            }
        return prefix + rest
    }

    @Test(arguments: [0, 1, 511, 512, 513, 3_000])
    func `every grant is found, in the order of subjects, whatever came before it`(count: Int) {
        var generator = SplitMix(seed: UInt64(count))
        var memtable = GrantMemtable()
        var known: [(subject: [UInt8], entry: Int64)] = []
        for number in 0..<count {
            let subject = Self.subject(number, &generator)
            let entry = Int64.random(in: 0...1 << 39, using: &generator)
            memtable.insert(subject, entry: entry)
            known.append((subject, entry))
        }
        let end: Int64 = 1 << 38
        #expect(memtable.count == count)
        expectAll(of: known, in: memtable)
        expectRanges(of: known, in: memtable, before: end)
        memtable.remove(before: end)
        known.removeAll { $0.entry < end }
        #expect(memtable.count == known.count)
        expectAll(of: known, in: memtable)
        expectRanges(of: known, in: memtable, before: .max)
    }

    private func expectAll(of known: [(subject: [UInt8], entry: Int64)], in memtable: GrantMemtable) {
        for (subject, _) in known.prefix(40) + known.suffix(40) {
            let expected = known.filter { $0.subject.prefix(3) == subject.prefix(3) }.map(\.entry)
            #expect(memtable.entries(of: subject).sorted() == expected.sorted())
        }
        #expect(memtable.entries(of: [0x12, 0x34, 0x56] + [UInt8](repeating: 0, count: 15)).isEmpty)
    }

    /// Each range of subjects, and all ranges together, have what is known of them.
    private func expectRanges(
        of known: [(subject: [UInt8], entry: Int64)],
        in memtable: GrantMemtable,
        before end: Int64
    ) {
        let expected = known.filter { $0.entry < end }.map { [Int64(GrantOffset.prefix(of: $0.subject)), $0.entry] }
            .sorted { $0.lexicographicallyPrecedes($1) }
        for width in [1 << 24, 1 << 20, 12_345_678] {
            var found: [[Int64]] = []
            for first in stride(from: 0, to: 1 << 24, by: width) {
                let range = first..<min(first + width, 1 << 24)
                found += memtable.offsets(in: range, before: end).map { [Int64($0.prefix), $0.entry] }
            }
            #expect(found == expected)
        }
        #expect(memtable.offsets(in: 7..<7, before: end).isEmpty)
    }
}
