// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage
import TestSupport
import Testing
import TransparencyLog

@testable import Ledger
@testable import OfferService

/// Round trips of a batch to a database over the network; the batch holds the lock for all but one of them.
@Suite(.aboutPostgreSQL) struct RoundTripTests {
    /// Two for each batch: what must be known, and then what is written with its `COMMIT`.
    private static let most = 2

    /// How a batch is asked for.
    enum Batch: String, CaseIterable, CustomTestStringConvertible {
        case one, withKey, withBudget, together, togetherWithKey

        var testDescription: String { rawValue }

        func call(_ service: TestService, _ number: Int) -> Call {
            let customer = #""customerId": "customer-\#(number)""#
            switch self {
            case .one: return service.call(offer: "once", customer)
            case .withKey:
                return service.call(offer: "twice_a_month", customer).with("Idempotency-Key", "key-\(number)")
            case .withBudget: return service.call(offer: "budget", customer)
            case .together: return service.batch(Self.bodies(number))
            case .togetherWithKey: return service.batch(Self.bodies(number)).with("Idempotency-Key", "batch-\(number)")
            }
        }

        private static func bodies(_ number: Int) -> [String] {
            (0..<16).map { offerBody("once", #""customerId": "\#(number)-\#($0)""#) }
        }
    }

    /// A committer's connection goes through the relay; nothing else does.
    private static func wrap(_ relay: PostgreSQLRelay) -> TestService.Wrap {
        { connection throws(StorageError) in
            let path = try connection.first(SQL("SELECT current_setting('search_path')")) { $0.text(0) } ?? ""
            let schema = String(path.prefix { $0 != "," })
            guard case .postgreSQL(let address)? = DatabaseLocation(relay.address(ofSchema: schema)) else {
                throw .cannotRead("no address")
            }
            return try PostgreSQLConnection(address, options: PostgreSQLOptions(idleTimeoutMilliseconds: 60_000))
        }
    }

    @Test(arguments: Batch.allCases)
    func `a batch takes two round trips, with one instance and with several`(batch: Batch) async throws {
        let relay = try PostgreSQLRelay(.shared())
        try await withService(wrap: Self.wrap(relay)) { service in
            let other = LedgerWriter(connection: try service.ledger.openPatiently())
            for isAlone in [true, false] {
                for number in 0..<4 {
                    // The first ones prepare statements, read the tree, and find that there are others.
                    if number == 2 { relay.reset() }
                    if !isAlone { try other.add(3) }
                    let reply = try await service.send(batch.call(service, isAlone ? number : 10 + number))
                    #expect(batch == .withBudget && reply.status == 403 || reply.status == 200, "\(reply)")
                }
                let counts = relay.counts
                #expect(counts.commits == 2)
                #expect(counts.roundTrips == Self.most * counts.commits, "\(counts)")
                #expect(counts.statements <= (isAlone ? 14 : 20) * counts.commits, "\(counts)")
            }
            #expect(try await service.verifiedSize() == service.entries().count)
        }
    }

    @Test func `requests that come while another instance writes share its turn, and two batches of one key are two`()
        async throws
    {
        let relay = try PostgreSQLRelay(.shared())
        var files = TestFiles()
        files.isShared = true
        try await withService(.inProcess, files, wrap: Self.wrap(relay)) { service in
            let other = LedgerWriter(connection: try service.ledger.openPatiently())
            for number in 0..<4 {
                try other.add(1)
                #expect(try await service.send(Batch.one.call(service, number)).status == 200)
            }
            relay.reset()
            let calls = [10, 11].map { Batch.together.call(service, $0).with("Idempotency-Key", "same") }
            try other.begin(at: service.clock.now)
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for call in calls {
                    let before = relay.counts.statements
                    group.addTask { try await service.send(call) }
                    #expect(try await eventually { relay.counts.statements > before })
                }
                try other.append(.serviceStopped)
                try other.commit()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(replies.map(\.status).sorted() == [200, 422], "\(replies)")
            #expect(relay.counts.commits == 1)
            #expect(relay.counts.roundTrips <= Self.most + 1, "\(relay.counts)")
        }
    }

    @Test func `what another instance grants while a batch's questions wait for the lock counts`() async throws {
        let relay = try PostgreSQLRelay(.shared())
        try await withService(wrap: Self.wrap(relay)) { service in
            let other = LedgerWriter(connection: try service.ledger.openPatiently())
            let customer = #""customerId": "customer-1""#
            #expect(try await service.sign(offer: "twice_a_month", customer).status == 200)
            try other.begin(at: service.clock.now)
            let before = relay.counts.statements
            async let reply = service.sign(offer: "twice_a_month", customer)
            #expect(try await eventually { relay.counts.statements > before })
            try Self.grantAgain(through: other, at: service.clock.now)
            try other.commit()
            #expect(try await reply.status == 403)
        }
    }

    /// Grants the first grant's offer to its customer once more, in the open transaction of another instance.
    private static func grantAgain(through other: LedgerWriter, at now: Timestamp) throws {
        let first = try #require(
            try other.grants.connection.first(SQL("SELECT subject, offer_key FROM grants ORDER BY entry_index")) {
                row in
                (subject: row.blob(0), offer: row.integer(1))
            }
        )
        let entry = try other.append(.serviceStopped)
        let id = UniqueID.version7(at: now, 1, 1)
        try other.grants.add(id, of: first.offer, to: first.subject, entry: entry)
    }

    @Test func `what another instance has granted meanwhile counts, in the same round trips`() async throws {
        let relay = try PostgreSQLRelay(.shared())
        try await withService(wrap: Self.wrap(relay)) { service in
            let other = LedgerWriter(connection: try service.ledger.openPatiently())
            func ask() async throws -> Int {
                try await service.sign(offer: "twice_a_month", #""customerId": "customer-1""#).status
            }
            #expect(try await ask() == 200)
            try other.add(1)
            #expect(try await service.sign(offer: "once", #""customerId": "customer-2""#).status == 200)
            try other.begin(at: service.clock.now)
            try Self.grantAgain(through: other, at: service.clock.now)
            try other.commit()
            relay.reset()
            #expect(try await ask() == 403)
            #expect(relay.counts.roundTrips == Self.most)
        }
    }
}

extension TestService {
    /// The number of entries by the log's head, after the tree of that size was computed again.
    fileprivate func verifiedSize() async throws -> Int {
        let reader = LogReader(connection: try ledger.openForReading())
        return Int(try reader.checkedHead().size)
    }
}
