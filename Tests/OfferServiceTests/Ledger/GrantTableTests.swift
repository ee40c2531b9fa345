// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import OfferService

/// Grants are written in the order of time and carried over later; caps must never notice.
struct GrantTableTests {
    private static var small: GrantPortions {
        var portions = GrantPortions()
        (portions.fewest, portions.most, portions.step, portions.mostPlaces) = (12, 12, 3, 3)
        return portions
    }

    /// What was granted, as a plain list has it.
    private struct Given: Hashable {
        let subject: [UInt8]
        let offer: Int64
        let id: UniqueID
    }

    /// A ledger's grants, with a list beside them.
    private final class World {
        let place: LogPlace
        var connection: any DatabaseConnection
        var table: GrantTable
        var generator: SplitMix
        var durable: Set<Given> = []
        var entry: Int64 = 0
        let subjects: [[UInt8]]

        init(seed: UInt64) throws {
            place = try LogPlace()
            connection = try place.ledger.open()
            table = GrantTable(connection: connection, portions: GrantTableTests.small)
            generator = SplitMix(seed: seed)
            // Some so alike that they share a place in memory.
            let digests = (0..<20).map { Array(SHA256.digest(of: Array("\($0)".utf8)).bytes.prefix(16)) }
            subjects = digests + digests.prefix(5).map { Array($0.prefix(3)) + [UInt8](repeating: 7, count: 13) }
        }

        func reopen() throws {
            connection = try place.ledger.open()
            table = GrantTable(connection: connection, portions: GrantTableTests.small)
        }

        /// Grants to a few in one transaction, which may be undone.
        func grant(isUndone: Bool) throws {
            try connection.begin()
            var given = durable
            var next = entry
            for _ in 0..<Int.random(in: 0...6, using: &generator) {
                let id = UniqueID.version7(at: place.clock.now, generator.next(), generator.next())
                let offer = Int64.random(in: 1...2, using: &generator)
                for subject in subjects.shuffled(using: &generator).prefix(Int.random(in: 1...3, using: &generator)) {
                    try table.add(id, of: offer, to: subject, entry: next)
                    given.insert(Given(subject: subject, offer: offer, id: id))
                }
                next += Int64.random(in: 1...3, using: &generator)
                if Bool.random(using: &generator) { try expect(given) }
            }
            if isUndone {
                connection.rollback()
                table.undone()
            } else {
                try connection.commit()
                table.committed(nextEntry: next)
                (durable, entry) = (given, next)
            }
        }

        func settle() throws {
            try connection.begin()
            let subject = try #require(subjects.randomElement(using: &generator))
            try table.settle(subject)
            let new = try connection.all(SQL("SELECT entry_index FROM new_grants WHERE subject = ?", .blob(subject))) {
                $0.integer(0)
            }
            #expect(new.isEmpty)
            try connection.commit()
            table.committed(nextEntry: entry)
        }

        /// The table finds what the list has of everybody; so does who reads both places.
        func expect(_ given: Set<Given>) throws {
            for subject in subjects {
                var all: [Int64: Set<UniqueID>] = [:]
                for grant in given where grant.subject == subject { all[grant.offer, default: []].insert(grant.id) }
                #expect(try table.grants(to: subject) == all)
                for offer in 1...2 as ClosedRange<Int64> {
                    #expect(Set(try table.grants(of: offer, to: subject)) == all[offer] ?? [])
                }
            }
            #expect(
                try stored("SELECT subject, offer_key, grant_id FROM grants")
                    .union(stored("SELECT subject, offer_key, grant_id FROM new_grants")) == given
            )
        }

        private func stored(_ text: StaticString) throws -> Set<Given> {
            let rows = try connection.all(SQL(text)) { ($0.blob(0), $0.integer(1), UniqueID(bytes: $0.blob(2))) }
            return Set(try rows.map { Given(subject: $0, offer: $1, id: try #require($2)) })
        }

        func count(_ text: StaticString) throws -> Int64 {
            try connection.first(SQL(text)) { $0.integer(0) } ?? -1
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `whatever is carried over, undone, or interrupted, the same grants are found`(seed: UInt64) throws {
        let world = try World(seed: seed)
        var merges = 0
        for _ in 0..<150 {
            switch Int.random(in: 0..<12, using: &world.generator) {
            case 0..<4: try world.grant(isUndone: false)
            case 4: try world.grant(isUndone: true)
            case 5: try world.settle()
            case 6: try world.reopen()
            default:
                try world.table.refresh()
                if world.table.isMergeDue { merges += 1 }
                try world.table.mergeSome()
            }
            try world.expect(world.durable)
        }
        #expect(merges > 20)
        #expect(try world.count("SELECT count(*) FROM grants") > 0)
    }

    @Test func `once all are carried over, none is left in the order of time`() throws {
        let world = try World(seed: 1)
        while try world.count("SELECT count(*) FROM new_grants") < 40 { try world.grant(isUndone: false) }
        #expect(world.table.isMergeDue)
        var steps = 0
        while world.table.isMergeDue {
            try world.table.mergeSome()
            steps += 1
        }
        // Some at a time: nobody waits for all of them.
        #expect(steps > 10)
        #expect(try world.count("SELECT count(*) FROM new_grants") == 0)
        try world.expect(world.durable)
    }

    @Test func `who comes again and again is not looked for in many places`() throws {
        let world = try World(seed: 2)
        for number in 0..<20 {
            try world.connection.begin()
            let id = UniqueID.version7(at: world.place.clock.now, 1, UInt64(number))
            try world.table.add(id, of: 1, to: world.subjects[0], entry: Int64(number))
            world.durable.insert(Given(subject: world.subjects[0], offer: 1, id: id))
            try world.connection.commit()
            world.table.committed(nextEntry: Int64(number) + 1)
        }
        #expect(try world.count("SELECT count(*) FROM new_grants") == 3)
        try world.expect(world.durable)
    }

    @Test func `what can't be carried over still counts, and is not tried with each request`() throws {
        let world = try World(seed: 3)
        while try world.count("SELECT count(*) FROM new_grants") < 14 { try world.grant(isUndone: false) }
        try world.connection.run(
            SQL("CREATE TRIGGER full BEFORE INSERT ON grants BEGIN SELECT raise(ABORT, 'no room'); END")
        )
        #expect(throws: StorageError.self) {
            while world.table.isMergeDue { try world.table.mergeSome() }
        }
        #expect(!world.table.isMergeDue)
        try world.expect(world.durable)
        try world.connection.run(SQL("DROP TRIGGER full"))
        try world.reopen()
        try world.table.refresh()
        while world.table.isMergeDue { try world.table.mergeSome() }
        #expect(try world.count("SELECT count(*) FROM new_grants") == 0)
        try world.expect(world.durable)
    }

    @Test func `a size is kept between its bounds`() {
        let portions = GrantPortions()
        #expect(portions.size(ofLog: 0) == portions.fewest)
        #expect(portions.size(ofLog: 10_000_000) == 625_000)
        #expect(portions.size(ofLog: .max) == portions.most)
    }

    @Test func `caps hold while grants are carried over`() async throws {
        try await withService(portions: Self.small) { service in
            for round in 0..<3 {
                for number in 0..<30 {
                    let reply = try await service.sign(offer: "once", #""customerId": "customer-\#(number)""#)
                    #expect(round == 0 ? reply.status == 200 : reply.problem == "not-eligible", "\(reply)")
                }
            }
            let counts = try service.rows(["SELECT CAST(count(*) AS TEXT) FROM grants"])
            #expect(counts != ["0"], "some were carried over")
        }
    }
}
