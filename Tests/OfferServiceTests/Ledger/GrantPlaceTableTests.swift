// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// Where grants are, as the database has it in the order of subjects; no place is ever left out.
@Suite(.overBothEngines) struct GrantPlaceTableTests {
    private static let all = 1 << GrantPlaces.subjectBits

    /// Words of subjects of which many begin alike, at both ends of the order too; some twice.
    private static func words(_ count: Int, _ generator: inout SplitMix) -> [UInt64] {
        (0..<count).map { number in
            let prefix =
                switch number % 5 {
                case 0: UInt64(all - 1)
                case 1: UInt64.random(in: 0...2, using: &generator)
                default: UInt64.random(in: 0..<UInt64(all), using: &generator)
                }
            return prefix << 40 | UInt64.random(in: 1...6, using: &generator)
        }.sorted()
    }

    private static func subject(_ prefix: Int) -> [UInt8] {
        [16, 8, 0].map { UInt8(truncatingIfNeeded: prefix >> $0) } + [UInt8](repeating: 9, count: 13)
    }

    @Test(arguments: [0, 1, 2, 3, 10, 100])
    func `a block is written and read without loss, in parts of which none has more than it may`(count: Int) {
        var generator = SplitMix(seed: UInt64(count))
        var (block, known) = (GrantPlaceBlock(firstPrefix: 0), Set<UInt64>())
        for _ in 0..<5 {
            let words = Self.words(count, &generator)
            block.add(words)
            known.formUnion(words)
            #expect(block.words == known.sorted())
            #expect(GrantPlaceBlock(firstPrefix: 0, bytes: block.bytes) == block)
        }
        for most in [1, 2, 7, 1000] {
            let parts = block.split(atMost: most)
            #expect(parts.flatMap(\.words) == block.words)
            #expect(parts.map(\.firstPrefix) == parts.map(\.firstPrefix).sorted())
            #expect(parts.first?.firstPrefix == 0)
            for (part, next) in zip(parts, parts.dropFirst()) {
                #expect(part.words.allSatisfy { GrantPlaces.prefix($0) < next.firstPrefix })
                #expect(next.words.allSatisfy { GrantPlaces.prefix($0) >= next.firstPrefix })
            }
            #expect(parts.allSatisfy { $0.words.count <= most || Self.lengthWithoutLastPrefix($0) < most })
        }
    }

    /// A part may be longer only by what has the prefix of its last word.
    private static func lengthWithoutLastPrefix(_ block: GrantPlaceBlock) -> Int {
        block.words.count { GrantPlaces.prefix($0) != block.words.last.map(GrantPlaces.prefix) }
    }

    /// Adds them some prefixes at a time.
    private static func add(_ words: [UInt64], _ width: Int, to table: GrantPlaceTable) throws {
        for first in stride(from: 0, to: all, by: width) {
            let range = first..<min(all, first + width)
            try table.add(words.filter { range.contains(GrantPlaces.prefix($0)) }, in: range)
        }
    }

    @Test(arguments: [1 << 24, 1_234_567, 1 << 19], [1, 5, 500])
    func `what is added some at a time is found, whatever came before`(width: Int, most: Int) throws {
        let place = try LogPlace()
        let table = GrantPlaceTable(connection: try place.ledger.openPatiently(), mostWords: most, mostOfPrefix: 1000)
        var generator = SplitMix(seed: UInt64(width * most))
        var known: Set<UInt64> = []
        for _ in 0..<6 {
            let words = Self.words(40, &generator)
            try Self.add(words, width, to: table)
            known.formUnion(words)
            try expect(known, in: table)
        }
        let stored = try table.connection.all(SQL("SELECT places FROM grant_places")) { $0.blob(0).count / 8 }
        #expect(stored.reduce(0, +) == known.count)
    }

    /// A grant of a subject with that prefix, in the order of time.
    private static func grant(_ prefix: Int, at entry: Int64, _ connection: any DatabaseConnection) throws {
        try connection.run(
            SQL(
                "INSERT INTO new_grants (place, subject, offer_key, grant_id) VALUES (?, ?, 7, ?)",
                .integer(NewGrantRow.first(of: entry) + Int64(prefix % 256)),
                .blob(subject(prefix)),
                .blob(UniqueID.version4(UInt64(entry), 1).bytes)
            )
        )
    }

    private static func copied(_ connection: any DatabaseConnection) throws -> [String] {
        try connection.all(SQL("SELECT subject, entry_index FROM grants ORDER BY subject, entry_index")) { row in
            "\(GrantPlaces.prefix(of: row.blob(0))) \(row.integer(1))"
        }
    }

    @Test func `of a prefix that has too many places none is left, and its grants are copied`() throws {
        let place = try LogPlace()
        let table = GrantPlaceTable(connection: try place.ledger.openPatiently(), mostWords: 4, mostOfPrefix: 2)
        let words = (0..<24).flatMap { prefix in (0...prefix % 3).map { GrantPlaces.word(prefix, Int64($0)) } }
        for word in words { try Self.grant(GrantPlaces.prefix(word), at: GrantPlaces.entry(word), table.connection) }
        var told: Set<[UInt8]> = []
        for some in [words.filter { GrantPlaces.entry($0) != 1 }, words] {
            try table.add(some, in: 0..<Self.all) { told.insert($0) }
        }
        let tooMany = words.filter { GrantPlaces.prefix($0) % 3 == 2 }
        #expect(
            try Self.copied(table.connection)
                == tooMany.map { "\(GrantPlaces.prefix($0)) \(GrantPlaces.entry($0))" }.sorted {
                    ($0.split(separator: " ").compactMap { Int($0) }).lexicographicallyPrecedes(
                        $1.split(separator: " ").compactMap { Int($0) }
                    )
                }
        )
        #expect(told == Set(tooMany.map { Self.subject(GrantPlaces.prefix($0)) }))
        try expect(Set(words).subtracting(tooMany), in: table)
    }

    @Test(arguments: [1, 7, 1000])
    func `made anew, it has the places of what is there, and no others`(inMemory: Int) throws {
        let place = try LogPlace()
        let table = GrantPlaceTable(connection: try place.ledger.openPatiently(), mostWords: 4, mostOfPrefix: 2)
        var generator = SplitMix(seed: 8)
        try Self.add(Self.words(60, &generator), 1 << 22, to: table)
        let prefixes = (0..<40).map { _ in Int.random(in: 0..<Self.all, using: &generator) } + [5, 5, 6, 6, 6]
        for (entry, prefix) in prefixes.enumerated() { try Self.grant(prefix, at: Int64(entry), table.connection) }
        try Self.grant(9, at: 100, table.connection)
        try table.setEnd(100)
        try table.remake(inMemory: inMemory)
        let words = prefixes.enumerated().filter { $0.element != 6 }.map {
            GrantPlaces.word($0.element, Int64($0.offset))
        }
        try expect(Set(words), in: table)
        let stored = try table.connection.all(SQL("SELECT places FROM grant_places")) { $0.blob(0).count / 8 }
        #expect(stored.reduce(0, +) == words.count)
        #expect(try Self.copied(table.connection) == ["6 42", "6 43", "6 44"])
        #expect(try table.end() == 100)
    }

    private func expect(_ known: Set<UInt64>, in table: GrantPlaceTable) throws {
        for prefix in Set(known.map(GrantPlaces.prefix) + [0, 3, Self.all / 2, Self.all - 2]) {
            let entries = known.filter { GrantPlaces.prefix($0) == prefix }.map(GrantPlaces.entry).sorted()
            #expect(try table.entries(of: Self.subject(prefix)) == entries)
        }
    }

    @Test func `rows that nobody of ours has written, or that are gone, leave nothing out that is added`() throws {
        let place = try LogPlace()
        let table = GrantPlaceTable(connection: try place.ledger.openPatiently(), mostWords: 4, mostOfPrefix: 1000)
        let wrong: [(Int64, [UInt8])] = [(-7, [1, 2, 3]), (500, [1, 2, 3, 4, 5, 6, 7, 8, 9]), (1 << 40, [])]
        for (first, bytes) in wrong {
            try table.connection.run(SQL("INSERT INTO grant_places VALUES (?, ?)", .integer(first), .blob(bytes)))
        }
        var generator = SplitMix(seed: 3)
        let words = Self.words(100, &generator)
        try Self.add(words, 1 << 20, to: table)
        try expect(Set(words), in: table)
    }

    @Test func `a database begins with none, and keeps up to which entry there are all`() throws {
        let place = try LogPlace()
        let table = GrantPlaceTable(connection: try place.ledger.openPatiently())
        #expect(try table.end() == 0)
        #expect(try table.entries(of: Self.subject(7)).isEmpty)
        try table.setEnd(12)
        #expect(try GrantPlaceTable(connection: place.ledger.openPatiently()).end() == 12)
    }
}
