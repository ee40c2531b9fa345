// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// Wherever grants are kept, caps find each of them; in SQLite also while the log of grants is compacted.
@Suite(.overBothEngines) struct GrantTableTests {
    private static var small: CompactionOptions {
        var policy = CompactionOptions()
        (policy.fewestGrants, policy.mostGrants, policy.mostOffsetsOfSubject) = (12, 12, 3)
        (policy.filterRoom, policy.rowsAtOnce) = (1, 25)
        (policy.offsetsPerTransaction, policy.mostOffsetsOfBlock, policy.mostOffsetsOfPrefix) = (3, 4, 2)
        return policy
    }

    /// What was granted, as a plain list has it.
    private struct Given: Hashable {
        let subject: [UInt8]
        let offer: Int64
        let id: UniqueID
        let entry: Int64
    }

    private static func subject(_ name: String) -> [UInt8] {
        Array(SHA256.digest(of: Array(name.utf8)).bytes.prefix(LedgerKey.byteCount))
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
        private let policy: CompactionOptions

        init(seed: UInt64, policy: CompactionOptions = GrantTableTests.small) throws {
            place = try LogPlace()
            connection = try place.ledger.openPatiently()
            self.policy = policy
            table = GrantTable(connection: connection, compaction: policy)
            try connection.begin()
            try table.begun()
            try connection.commit()
            generator = SplitMix(seed: seed)
            // Some so alike that they share a prefix.
            let digests = (0..<20).map { GrantTableTests.subject("\($0)") }
            subjects = digests + digests.prefix(5).map { Array($0.prefix(3)) + [UInt8](repeating: 7, count: 15) }
        }

        func reopen() throws {
            connection = try place.ledger.openPatiently()
            table = GrantTable(connection: connection, compaction: policy)
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

        /// Reads ahead, as for requests of some customers; some have no grant yet.
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
            let new = try connection.all(SQL("SELECT place FROM grants_by_time WHERE subject = ?", .blob(subject))) {
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

        /// Another connection deletes the grants of a subject.
        func forgetElsewhere() throws {
            let subject = try #require(subjects.randomElement(using: &generator))
            let other = try place.ledger.openPatiently()
            try other.run(SQL("DELETE FROM grants WHERE subject = ?", .blob(subject)))
            try other.run(SQL("DELETE FROM grants_by_time WHERE subject = ?", .blob(subject)))
            durable = durable.filter { $0.subject != subject }
            try begin()
            connection.rollback()
            table.undone()
        }

        /// Another program grants something under a key of its own.
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

        /// The table finds the list's grants for every subject, and so does a read of both tables.
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
                    .union(stored("SELECT subject, offer_key, grant_id, place / 256 FROM grants_by_time")) == given
            )
        }

        /// How many grants of the log have no offset in the database yet.
        var waiting: Int64 {
            get throws {
                try count("SELECT count(*) FROM grants_by_time, grant_offsets_state WHERE place >= 256 * before_entry")
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

    @Test(arguments: 0..<UInt64(TestRing.rounds(1, nightly: 6)), [(atOnce: 3, offsets: 20), (40, 20), (1, 3)])
    func `whatever is compacted, undone, or interrupted, the same grants are found`(
        seed: UInt64,
        at most: (atOnce: Int, offsets: Int)
    ) throws {
        var policy = Self.small
        (policy.offsetsPerTransaction, policy.mostOffsetsOfSubject) = (most.atOnce, most.offsets)
        let world = try World(seed: seed, policy: policy)
        var (compactions, readings) = (0, 0)
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
                try world.table.log?.refresh()
                if world.table.isCompactionDue { compactions += 1 }
                let isReading = world.table.isFilterDue
                try world.table.fillFilter(ofLog: world.entry)
                if isReading, !world.table.isFilterDue { readings += 1 }
                try world.table.compactSome()
            }
            try world.expect(world.durable)
        }
        #expect(compactions > (TestedEngine.isPostgreSQL ? -1 : most.atOnce == 3 ? 20 : 2))
        #expect(readings > (TestedEngine.isPostgreSQL ? -1 : 1))
        #expect(try world.count("SELECT count(*) FROM grants") > 0)
    }

    @Test(.aboutSQLite) func `once all are compacted, none is looked up in memory`() throws {
        let world = try World(seed: 1)
        while try world.waiting < 40 { try world.grant(isUndone: false) }
        #expect(world.table.isCompactionDue)
        var steps = 0
        while world.table.isCompactionDue {
            try world.table.compactSome()
            steps += 1
        }
        // In steps, so that no request waits for all of them.
        #expect(steps > 10)
        #expect(try world.waiting == 0)
        try world.expect(world.durable)
        try world.reopen()
        try world.expect(world.durable)
    }

    @Test(.aboutSQLite) func `however many customers come again and again, few grants are copied in a transaction`()
        throws
    {
        var policy = Self.small
        (policy.fewestGrants, policy.mostGrants, policy.mostOffsetsOfSubject) = (200, 200, 1000)
        let world = try World(seed: 7, policy: policy)
        while !world.table.isCompactionDue { try world.grant(isUndone: false) }
        var (before, most) = (Int64(0), Int64(0))
        while world.table.isCompactionDue {
            try world.table.compactSome()
            let now = try world.count("SELECT count(*) FROM grants")
            (most, before) = (max(most, now - before), now)
        }
        #expect(before > 150)
        #expect(most < 40)
        try world.expect(world.durable)
    }

    @Test(.aboutSQLite) func `of a customer with many grants, few offsets are looked up`() throws {
        let world = try World(seed: 2)
        for number in 0..<20 {
            try world.begin()
            let id = UniqueID.version7(at: world.place.clock.now, 1, UInt64(number))
            try world.table.add(id, of: 1, to: world.subjects[0], entry: Int64(number))
            world.durable.insert(Given(subject: world.subjects[0], offer: 1, id: id, entry: Int64(number)))
            try world.connection.commit()
            world.table.committed(nextEntry: Int64(number) + 1)
        }
        #expect(try world.count("SELECT count(*) FROM grants_by_time") == 3)
        try world.expect(world.durable)
    }

    @Test(.aboutSQLite) func `what only another program can have written harms nothing`() throws {
        let world = try World(seed: 6)
        while try world.count("SELECT count(*) FROM grants_by_time") < 14 { try world.grant(isUndone: false) }
        let subject = world.subjects[0]
        let id = UniqueID.version7(at: world.place.clock.now, 1, 1)
        // Too short a subject, and too long an id for a subject that has a grant in the same entry.
        let last = try world.count("SELECT max(place) FROM grants_by_time WHERE place < 768")
        for (place, subject, id) in [(last + 1, [1, 2, 3], id.bytes), (last + 2, subject, id.bytes + [0])] {
            try world.place.ledger.openPatiently().run(
                SQL(
                    "INSERT INTO grants_by_time (place, subject, offer_key, grant_id) VALUES (?, ?, 1, ?)",
                    .integer(place),
                    .blob(subject),
                    .blob(id)
                )
            )
        }
        try world.reopen()
        try world.table.log?.refresh()
        try world.table.compactAll()
        #expect(try world.waiting == 0)
        try world.connection.run(SQL("DELETE FROM grants WHERE length(grant_id) = 17"))
        try world.connection.run(SQL("DELETE FROM grants_by_time WHERE length(grant_id) = 17 OR length(subject) = 3"))
        try world.expect(world.durable)
    }

    @Test func `a grant may count for more names than its entry has rows`() throws {
        let world = try World(seed: 5)
        let many = (0..<300).map { Self.subject("name-\($0)") }
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
        let inLog: Int64 = TestedEngine.isPostgreSQL ? 0 : 512
        #expect(try world.count("SELECT count(*) FROM grants_by_time") == inLog)
        try world.expect(world.durable)
        for subject in many { #expect(try world.table.grants(of: 1, to: subject).count == 2) }
        try world.table.compactAll()
        // More than an entry has rows for are there at once; on a server all are.
        let copied = try world.count("SELECT count(*) FROM grants WHERE entry_index IN (0, 1)")
        #expect(copied == 600 - inLog)
        try world.reopen()
        for subject in many { #expect(try world.table.grants(of: 1, to: subject).count == 2) }
    }

    @Test(.aboutSQLite) func `what can't be compacted still counts, and is not tried with each request`() throws {
        let world = try World(seed: 3)
        while try world.count("SELECT count(*) FROM grants_by_time") < 14 { try world.grant(isUndone: false) }
        try world.connection.run(
            SQL("CREATE TRIGGER room BEFORE INSERT ON grant_offsets BEGIN SELECT raise(ABORT, 'none'); END")
        )
        #expect(throws: StorageError.self) {
            try world.table.compactAll()
        }
        #expect(!world.table.isCompactionDue)
        try world.expect(world.durable)
        try world.connection.run(SQL("DROP TRIGGER room"))
        try world.reopen()
        try world.table.log?.refresh()
        try world.table.compactAll()
        #expect(try world.waiting == 0)
        try world.expect(world.durable)
    }

    @Test func `compaction begins with a number of grants between two bounds`() {
        let policy = CompactionOptions()
        #expect(policy.mostNewGrants(ofLog: 0) == policy.fewestGrants)
        #expect(policy.mostNewGrants(ofLog: 10_000_000) == 625_000)
        #expect(policy.mostNewGrants(ofLog: .max) == policy.mostGrants)
    }

    @Test(.aboutSQLite) func `caps hold while grants are compacted`() async throws {
        try await withService(compaction: Self.small) { service in
            for round in 0..<3 {
                for number in 0..<30 {
                    let reply = try await service.sign(offer: "once", #""customerId": "customer-\#(number)""#)
                    #expect(round == 0 ? reply.status == 200 : reply.problem == "not-eligible", "\(reply)")
                }
            }
            let counts = try service.rows(["SELECT CAST(sum(length(offsets)) / 8 AS TEXT) FROM grant_offsets"])
            #expect(!["0", ""].contains(counts.joined()), "some were compacted")
        }
    }
}
