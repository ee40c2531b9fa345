// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// Grants are written in the order of time; that, or where they are, is carried over later, and caps must never notice.
@Suite(.overBothEngines) struct GrantTableTests {
    private static var small: GrantPortions {
        var portions = GrantPortions()
        (portions.fewest, portions.most, portions.step, portions.mostPlaces) = (12, 12, 3, 3)
        (portions.room, portions.rows) = (1, 25)
        (portions.placesAtOnce, portions.mostWords, portions.mostOfPrefix) = (3, 4, 2)
        return portions
    }

    /// What was granted, as a plain list has it.
    private struct Given: Hashable {
        let subject: [UInt8]
        let offer: Int64
        let id: UniqueID
        let entry: Int64
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
        private let portions: GrantPortions

        init(seed: UInt64, portions: GrantPortions = GrantTableTests.small) throws {
            place = try LogPlace()
            connection = try place.ledger.openPatiently()
            self.portions = portions
            table = GrantTable(connection: connection, portions: portions)
            try connection.begin()
            try table.begun()
            try connection.commit()
            generator = SplitMix(seed: seed)
            // Some so alike that they share a place in memory.
            let digests = (0..<20).map { Array(SHA256.digest(of: Array("\($0)".utf8)).bytes.prefix(16)) }
            subjects = digests + digests.prefix(5).map { Array($0.prefix(3)) + [UInt8](repeating: 7, count: 13) }
        }

        func reopen() throws {
            connection = try place.ledger.openPatiently()
            table = GrantTable(connection: connection, portions: portions)
            try begin()
            try connection.commit()
        }

        /// Grants to a few in one transaction, which may be undone.
        func grant(isUndone: Bool) throws {
            try begin()
            var given = durable
            var next = entry
            if Bool.random(using: &generator) { try readAhead() }
            for _ in 0..<Int.random(in: 0...6, using: &generator) {
                let id = UniqueID.version7(at: place.clock.now, generator.next(), generator.next())
                let offer = Int64.random(in: 1...2, using: &generator)
                for subject in subjects.shuffled(using: &generator).prefix(Int.random(in: 1...3, using: &generator)) {
                    try table.add(id, of: offer, to: subject, entry: next)
                    given.insert(Given(subject: subject, offer: offer, id: id, entry: next))
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

        /// As for requests of some customers, of which some have yet no grant.
        private func readAhead() throws {
            let offer = Int64.random(in: 1...2, using: &generator)
            let some = subjects.shuffled(using: &generator).prefix(Int.random(in: 0...15, using: &generator))
            try table.ask(Set(some.map { GrantTable.Question(subject: $0, offerKey: offer) }))
            try table.readAhead()
        }

        func settle() throws {
            try begin()
            let subject = try #require(subjects.randomElement(using: &generator))
            try table.settle(subject)
            try table.removeCopies(of: subject)
            let new = try connection.all(SQL("SELECT place FROM new_grants WHERE subject = ?", .blob(subject))) {
                $0.integer(0)
            }
            #expect(new.isEmpty)
            try connection.commit()
            table.committed(nextEntry: entry)
        }

        /// A grant of one subject counts for another one too, as another table writes it.
        func share() throws {
            try begin()
            let pair = subjects.shuffled(using: &generator).prefix(2)
            try table.settle(pair[0])
            table.change(pair[1])
            let shared = durable.filter { $0.subject == pair[0] }.map {
                Given(subject: pair[1], offer: $0.offer, id: $0.id, entry: $0.entry)
            }
            try insert(Array(shared), through: connection)
            durable.formUnion(shared)
            try connection.commit()
            table.committed(nextEntry: entry)
        }

        /// A subject gets another name, which some of its grants may have already.
        func rename() throws {
            try begin()
            let pair = subjects.shuffled(using: &generator).prefix(2)
            try table.settle(pair[0])
            try table.removeCopies(of: pair[0])
            for subject in pair { table.change(subject) }
            let renamed = durable.filter { $0.subject == pair[0] }
            let named = renamed.map { Given(subject: pair[1], offer: $0.offer, id: $0.id, entry: $0.entry) }
            try insert(Array(named), through: connection)
            try connection.run(SQL("DELETE FROM grants WHERE subject = ?", .blob(pair[0])))
            durable.subtract(renamed)
            durable.formUnion(named)
            try connection.commit()
            table.committed(nextEntry: entry)
        }

        /// Somebody else has a subject forgotten.
        func forgetElsewhere() throws {
            let subject = try #require(subjects.randomElement(using: &generator))
            let other = try place.ledger.openPatiently()
            try other.run(SQL("DELETE FROM grants WHERE subject = ?", .blob(subject)))
            try other.run(SQL("DELETE FROM new_grants WHERE subject = ?", .blob(subject)))
            durable = durable.filter { $0.subject != subject }
            try begin()
            connection.rollback()
            table.undone()
        }

        /// Somebody else grants something, and has carried it over already, or writes another key for a grant.
        func grantElsewhere() throws {
            let subject = try #require(subjects.randomElement(using: &generator))
            let id = UniqueID.version7(at: place.clock.now, generator.next(), generator.next())
            let given = Given(subject: subject, offer: 1, id: id, entry: entry)
            try insert([given], through: place.ledger.openPatiently())
            durable.insert(given)
            try begin()
            connection.rollback()
            table.undone()
        }

        func begin() throws {
            try connection.begin()
            try table.begun()
        }

        private func insert(_ given: [Given], through connection: any DatabaseConnection) throws {
            for one in given {
                try connection.run(
                    SQL(
                        """
                        INSERT INTO grants (subject, offer_key, grant_id, entry_index) VALUES (?, ?, ?, ?)
                        ON CONFLICT DO NOTHING
                        """,
                        .blob(one.subject),
                        .integer(one.offer),
                        .blob(one.id.bytes),
                        .integer(one.entry)
                    )
                )
            }
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
                try stored("SELECT subject, offer_key, grant_id, entry_index FROM grants")
                    .union(stored("SELECT subject, offer_key, grant_id, place / 256 FROM new_grants")) == given
            )
        }

        /// How many grants are neither carried over, as on a server, nor have their place where places are in SQLite.
        var waiting: Int64 {
            get throws {
                TestedEngine.isPostgreSQL
                    ? try count("SELECT count(*) FROM new_grants")
                    : try count(
                        "SELECT count(*) FROM new_grants, grant_places_state WHERE place >= 256 * before_entry"
                    )
            }
        }

        private func stored(_ text: StaticString) throws -> Set<Given> {
            let rows = try connection.all(SQL(text)) {
                ($0.blob(0), $0.integer(1), UniqueID(bytes: $0.blob(2)), $0.integer(3))
            }
            return Set(try rows.map { Given(subject: $0, offer: $1, id: try #require($2), entry: $3) })
        }

        func count(_ text: StaticString) throws -> Int64 {
            try connection.first(SQL(text)) { $0.integer(0) } ?? -1
        }
    }

    @Test(arguments: 0..<UInt64(TestRing.rounds(1, nightly: 6)), [(atOnce: 3, places: 20), (40, 20), (1, 3)])
    func `whatever is carried over, undone, or interrupted, the same grants are found`(
        seed: UInt64,
        at most: (atOnce: Int, places: Int)
    ) throws {
        var portions = Self.small
        (portions.step, portions.placesAtOnce, portions.mostPlaces) = (most.atOnce, most.atOnce, most.places)
        let world = try World(seed: seed, portions: portions)
        var (merges, readings) = (0, 0)
        for _ in 0..<200 {
            switch Int.random(in: 0..<28, using: &world.generator) {
            case 0..<6: try world.grant(isUndone: false)
            case 6: try world.grant(isUndone: true)
            case 7: try world.settle()
            case 8: try world.reopen()
            case 9: try world.share()
            case 10: try world.grantElsewhere()
            case 11: try world.rename()
            case 12: try world.forgetElsewhere()
            default:
                try world.table.refresh()
                if world.table.isMergeDue { merges += 1 }
                let isReading = world.table.isReadingDue
                try world.table.readGranted(ofLog: world.entry)
                if isReading, !world.table.isReadingDue { readings += 1 }
                try world.table.mergeSome()
            }
            try world.expect(world.durable)
        }
        #expect(merges > (most.atOnce == 3 ? 20 : 2))
        #expect(readings > (TestedEngine.isPostgreSQL ? -1 : 1))
        #expect(try world.count("SELECT count(*) FROM grants") > 0)
    }

    @Test func `once all are carried over, none is looked for in memory`() throws {
        let world = try World(seed: 1)
        while try world.waiting < 40 { try world.grant(isUndone: false) }
        #expect(world.table.isMergeDue)
        var steps = 0
        while world.table.isMergeDue {
            try world.table.mergeSome()
            steps += 1
        }
        // Some at a time: nobody waits for all of them.
        #expect(steps > 10)
        #expect(try world.waiting == 0)
        try world.expect(world.durable)
        try world.reopen()
        try world.expect(world.durable)
    }

    @Test func `however many customers come again and again, few grants are copied in a transaction`() throws {
        var portions = Self.small
        (portions.fewest, portions.most, portions.mostPlaces) = (200, 200, 1000)
        let world = try World(seed: 7, portions: portions)
        while !world.table.isMergeDue { try world.grant(isUndone: false) }
        var (before, most) = (Int64(0), Int64(0))
        while world.table.isMergeDue {
            try world.table.mergeSome()
            let now = try world.count("SELECT count(*) FROM grants")
            (most, before) = (max(most, now - before), now)
        }
        #expect(before > 150)
        #expect(most < 40)
        try world.expect(world.durable)
    }

    @Test func `who comes again and again is not looked for in many places`() throws {
        let world = try World(seed: 2)
        for number in 0..<20 {
            try world.begin()
            let id = UniqueID.version7(at: world.place.clock.now, 1, UInt64(number))
            try world.table.add(id, of: 1, to: world.subjects[0], entry: Int64(number))
            world.durable.insert(Given(subject: world.subjects[0], offer: 1, id: id, entry: Int64(number)))
            try world.connection.commit()
            world.table.committed(nextEntry: Int64(number) + 1)
        }
        #expect(try world.count("SELECT count(*) FROM new_grants") == 3)
        try world.expect(world.durable)
    }

    @Test func `what only somebody with access to the database can have written harms nothing`() throws {
        let world = try World(seed: 6)
        while try world.count("SELECT count(*) FROM new_grants") < 14 { try world.grant(isUndone: false) }
        let subject = world.subjects[0]
        let id = UniqueID.version7(at: world.place.clock.now, 1, 1)
        // Too short a subject, and too long an id for a subject that has a grant in the same entry.
        let last = try world.count("SELECT max(place) FROM new_grants WHERE place < 768")
        for (place, subject, id) in [(last + 1, [1, 2, 3], id.bytes), (last + 2, subject, id.bytes + [0])] {
            try world.place.ledger.openPatiently().run(
                SQL(
                    "INSERT INTO new_grants (place, subject, offer_key, grant_id) VALUES (?, ?, 1, ?)",
                    .integer(place),
                    .blob(subject),
                    .blob(id)
                )
            )
        }
        try world.reopen()
        try world.table.refresh()
        while world.table.isMergeDue { try world.table.mergeSome() }
        #expect(try world.waiting == 0)
        try world.connection.run(SQL("DELETE FROM grants WHERE length(grant_id) = 17"))
        try world.connection.run(SQL("DELETE FROM new_grants WHERE length(grant_id) = 17 OR length(subject) = 3"))
        try world.expect(world.durable)
    }

    @Test func `a grant may count for more names than its entry has places`() throws {
        let world = try World(seed: 5)
        let many = (0..<300).map { Array(SHA256.digest(of: Array("name-\($0)".utf8)).bytes.prefix(16)) }
        for entry in 0..<2 as Range<Int64> {
            try world.begin()
            let id = UniqueID.version7(at: world.place.clock.now, 1, UInt64(entry))
            for subject in many {
                try world.table.add(id, of: 1, to: subject, entry: entry)
                world.durable.insert(Given(subject: subject, offer: 1, id: id, entry: entry))
            }
            try world.connection.commit()
            world.table.committed(nextEntry: entry + 1)
        }
        #expect(try world.count("SELECT count(*) FROM new_grants") == 512)
        try world.expect(world.durable)
        for subject in many { #expect(try world.table.grants(of: 1, to: subject).count == 2) }
        while world.table.isMergeDue { try world.table.mergeSome() }
        // More than an entry has places for are there at once.
        let carriedOver = try world.count("SELECT count(*) FROM grants WHERE entry_index IN (0, 1)")
        #expect(carriedOver == (TestedEngine.isPostgreSQL ? 600 : 88))
        try world.reopen()
        for subject in many { #expect(try world.table.grants(of: 1, to: subject).count == 2) }
    }

    @Test func `what can't be carried over still counts, and is not tried with each request`() throws {
        let world = try World(seed: 3)
        while try world.count("SELECT count(*) FROM new_grants") < 14 { try world.grant(isUndone: false) }
        let obstruct: StaticString =
            TestedEngine.isPostgreSQL
            ? "ALTER TABLE grants ADD CONSTRAINT room CHECK (false) NOT VALID"
            : "CREATE TRIGGER room BEFORE INSERT ON grant_places BEGIN SELECT raise(ABORT, 'none'); END"
        let clear: StaticString =
            TestedEngine.isPostgreSQL ? "ALTER TABLE grants DROP CONSTRAINT room" : "DROP TRIGGER room"
        try world.connection.run(SQL(obstruct))
        #expect(throws: StorageError.self) {
            while world.table.isMergeDue { try world.table.mergeSome() }
        }
        #expect(!world.table.isMergeDue)
        try world.expect(world.durable)
        try world.connection.run(SQL(clear))
        try world.reopen()
        try world.table.refresh()
        while world.table.isMergeDue { try world.table.mergeSome() }
        #expect(try world.waiting == 0)
        try world.expect(world.durable)
    }

    @Test(.aboutPostgreSQL)
    func `the oldest of several services carries over for all, and the others only if it is gone`() throws {
        var portions = GrantPortions()
        (portions.fewest, portions.most, portions.step, portions.mostPlaces) = (100, 100, 20, 1000)
        let world = try World(seed: 4, portions: portions)
        let instances = InstanceTable(connection: world.connection)
        let ids = (1...2).map { UniqueID.version7(at: world.place.clock.now, UInt64($0), UInt64($0)) }
        let tables = try ids.map { id in
            try instances.join(
                Instance(id: id, name: "host", version: "1", policyName: "sha256:00", keysDigest: "00")
            )
            return GrantTable(connection: world.connection, portions: portions, instance: id)
        }
        func grant(upTo count: Int64) throws {
            while try world.count("SELECT count(*) FROM new_grants") < count { try world.grant(isUndone: false) }
            for table in tables {
                table.ledgerChanged()
                try table.refresh()
            }
        }
        /// How many rows are carried over by a table, which does all that it takes to be due no more.
        func carriedOver(by table: GrantTable) throws -> Int64 {
            let before = try world.count("SELECT count(*) FROM grants")
            while table.isMergeDue { try table.mergeSome() }
            try world.expect(world.durable)
            return try world.count("SELECT count(*) FROM grants") - before
        }
        try grant(upTo: 120)
        #expect(try carriedOver(by: tables[1]) == 0, "it leaves that to the older one")
        #expect(try carriedOver(by: tables[0]) >= 120)
        try grant(upTo: 120)
        #expect(try carriedOver(by: tables[1]) == 0, "it sees what the other has removed")
        try grant(upTo: 210)
        #expect(try carriedOver(by: tables[1]) >= 210, "the other may be gone")
        #expect(try carriedOver(by: tables[0]) == 0, "it sees that, too")
        try instances.remove(ids[0])
        try grant(upTo: 120)
        #expect(try carriedOver(by: tables[1]) >= 120, "nobody is before it any more")
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
            let counts = try service.rows([
                TestedEngine.isPostgreSQL
                    ? "SELECT CAST(count(*) AS TEXT) FROM grants"
                    : "SELECT CAST(sum(length(places)) / 8 AS TEXT) FROM grant_places"
            ])
            #expect(!["0", ""].contains(counts.joined()), "some were carried over")
        }
    }
}
