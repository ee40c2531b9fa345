// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// The offsets of grants in the order of subjects, in the database; none is ever left out.
@Suite(.aboutSQLite) struct GrantOffsetTableTests {
    private static let all = GrantOffset.prefixes.upperBound

    /// Offsets of subjects, many with the same prefix, also at both ends of the order; some appear twice.
    private static func offsets(_ count: Int, _ generator: inout SplitMix) -> [GrantOffset] {
        (0..<count).map { number in
            let prefix =
                switch number % 5 {
                case 0: all - 1
                case 1: Int.random(in: 0...2, using: &generator)
                default: Int.random(in: 0..<all, using: &generator)
                }
            return GrantOffset(prefix: prefix, entry: Int64.random(in: 0...5, using: &generator))
        }.sorted()
    }

    /// A table that limits the offsets in a block, and those with one prefix.
    private static func table(_ place: LogPlace, ofBlock: Int, ofPrefix: Int) throws -> GrantOffsetTable {
        var options = CompactionOptions()
        (options.mostOffsetsOfBlock, options.mostOffsetsOfPrefix) = (ofBlock, ofPrefix)
        return GrantOffsetTable(connection: try place.ledger.openPatiently(), options: options)
    }

    private static func subject(_ prefix: Int) -> [UInt8] {
        [16, 8, 0].map { UInt8(truncatingIfNeeded: prefix >> $0) } + [UInt8](repeating: 9, count: 15)
    }

    @Test(arguments: [0, 1, 2, 3, 10, 100])
    func `a block is written, read and split without loss, and each part keeps the limit`(count: Int) {
        var generator = SplitMix(seed: UInt64(count))
        var (block, known) = (GrantOffsetBlock(firstPrefix: 0), Set<GrantOffset>())
        for _ in 0..<5 {
            let offsets = Self.offsets(count, &generator)
            block.merge(offsets)
            known.formUnion(offsets)
            #expect(block.offsets == known.sorted())
            #expect(GrantOffsetBlock(firstPrefix: 0, bytes: block.bytes) == block)
        }
        for most in [1, 2, 7, 1000] {
            let parts = block.split(atMost: most)
            #expect(parts.flatMap(\.offsets) == block.offsets)
            #expect(parts.map(\.firstPrefix) == parts.map(\.firstPrefix).sorted())
            #expect(parts.first?.firstPrefix == 0)
            for (part, next) in zip(parts, parts.dropFirst()) {
                #expect(part.offsets.allSatisfy { $0.prefix < next.firstPrefix })
                #expect(next.offsets.allSatisfy { $0.prefix >= next.firstPrefix })
            }
            #expect(parts.allSatisfy { $0.offsets.count <= most || Self.lengthWithoutLastPrefix($0) < most })
        }
    }

    /// A part may be longer only by what has the prefix of its last offset.
    private static func lengthWithoutLastPrefix(_ block: GrantOffsetBlock) -> Int {
        block.offsets.count { $0.prefix != block.offsets.last?.prefix }
    }

    /// Adds them some prefixes at a time.
    private static func add(_ offsets: [GrantOffset], _ width: Int, to table: GrantOffsetTable) throws {
        for first in stride(from: 0, to: all, by: width) {
            let range = first..<min(all, first + width)
            try table.add(offsets.filter { range.contains($0.prefix) }, in: range)
        }
    }

    @Test(arguments: [1 << 24, 1_234_567, 1 << 19], [1, 5, 500])
    func `what is added some at a time is found, whatever came before`(width: Int, most: Int) throws {
        let place = try LogPlace()
        let table = try Self.table(place, ofBlock: most, ofPrefix: 1000)
        var generator = SplitMix(seed: UInt64(width * most))
        var known: Set<GrantOffset> = []
        for _ in 0..<6 {
            let offsets = Self.offsets(40, &generator)
            try Self.add(offsets, width, to: table)
            known.formUnion(offsets)
            try expect(known, in: table)
        }
        let stored = try table.connection.all(SQL("SELECT offsets FROM grant_offsets")) { $0.blob(0).count / 8 }
        #expect(stored.reduce(0, +) == known.count)
    }

    /// A grant of a subject with that prefix, in the order of time.
    private static func grant(_ prefix: Int, at entry: Int64, _ connection: any DatabaseConnection) throws {
        try connection.run(
            SQL(
                "INSERT INTO grants_by_time (place, subject, offer_key, grant_id) VALUES (?, ?, 7, ?)",
                .integer(GrantLogRow.first(of: entry) + Int64(prefix % 256)),
                .blob(subject(prefix)),
                .blob(UniqueID.version4(UInt64(entry), 1).bytes)
            )
        )
    }

    private static func copied(_ connection: any DatabaseConnection) throws -> [String] {
        try connection.all(SQL("SELECT subject, entry_index FROM grants ORDER BY subject, entry_index")) { row in
            "\(GrantOffset.prefix(of: row.blob(0))) \(row.integer(1))"
        }
    }

    @Test func `of a prefix that has too many offsets none is left, and its grants are copied`() throws {
        let place = try LogPlace()
        let table = try Self.table(place, ofBlock: 4, ofPrefix: 2)
        let offsets = (0..<24).flatMap { prefix in
            (0...prefix % 3).map { GrantOffset(prefix: prefix, entry: Int64($0)) }
        }
        for offset in offsets { try Self.grant(offset.prefix, at: offset.entry, table.connection) }
        var reported: Set<[UInt8]> = []
        for some in [offsets.filter { $0.entry != 1 }, offsets] {
            try table.add(some, in: 0..<Self.all) { reported.insert($0) }
        }
        let tooMany = offsets.filter { $0.prefix % 3 == 2 }
        #expect(
            try Self.copied(table.connection)
                == tooMany.sorted().map { "\($0.prefix) \($0.entry)" }
        )
        #expect(reported == Set(tooMany.map { Self.subject($0.prefix) }))
        try expect(Set(offsets).subtracting(tooMany), in: table)
    }

    @Test(arguments: [1, 7, 1000])
    func `rebuilt, it has the offsets of the grants that are there, and no others`(inMemory: Int) throws {
        let place = try LogPlace()
        let table = try Self.table(place, ofBlock: 4, ofPrefix: 2)
        var generator = SplitMix(seed: 8)
        try Self.add(Self.offsets(60, &generator), 1 << 22, to: table)
        let prefixes = (0..<40).map { _ in Int.random(in: 0..<Self.all, using: &generator) } + [5, 5, 6, 6, 6]
        for (entry, prefix) in prefixes.enumerated() { try Self.grant(prefix, at: Int64(entry), table.connection) }
        try Self.grant(9, at: 100, table.connection)
        try table.setEnd(100)
        try table.rebuild(inMemory: inMemory)
        let offsets = prefixes.enumerated().filter { $0.element != 6 }.map {
            GrantOffset(prefix: $0.element, entry: Int64($0.offset))
        }
        try expect(Set(offsets), in: table)
        let stored = try table.connection.all(SQL("SELECT offsets FROM grant_offsets")) { $0.blob(0).count / 8 }
        #expect(stored.reduce(0, +) == offsets.count)
        #expect(try Self.copied(table.connection) == ["6 42", "6 43", "6 44"])
        #expect(try table.end() == 100)
    }

    private func expect(_ known: Set<GrantOffset>, in table: GrantOffsetTable) throws {
        for prefix in Set(known.map(\.prefix) + [0, 3, Self.all / 2, Self.all - 2]) {
            let entries = known.filter { $0.prefix == prefix }.map(\.entry).sorted()
            #expect(try table.entries(of: Self.subject(prefix)) == entries)
        }
    }

    @Test func `rows that another program wrote, or that are gone, leave out nothing that is added`() throws {
        let place = try LogPlace()
        let table = try Self.table(place, ofBlock: 4, ofPrefix: 1000)
        let wrong: [(Int64, [UInt8])] = [(-7, [1, 2, 3]), (500, [1, 2, 3, 4, 5, 6, 7, 8, 9]), (1 << 40, [])]
        for (first, bytes) in wrong {
            try table.connection.run(SQL("INSERT INTO grant_offsets VALUES (?, ?)", .integer(first), .blob(bytes)))
        }
        var generator = SplitMix(seed: 3)
        let offsets = Self.offsets(100, &generator)
        try Self.add(offsets, 1 << 20, to: table)
        try expect(Set(offsets), in: table)
    }

    @Test func `a database begins with none, and keeps up to which entry there are all`() throws {
        let place = try LogPlace()
        let table = GrantOffsetTable(connection: try place.ledger.openPatiently())
        #expect(try table.end() == 0)
        #expect(try table.entries(of: Self.subject(7)).isEmpty)
        try table.setEnd(12)
        #expect(try GrantOffsetTable(connection: place.ledger.openPatiently()).end() == 12)
    }
}
