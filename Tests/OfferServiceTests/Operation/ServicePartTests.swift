// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Ledger

/// The order in which the service starts and stops, and what is left when it could not start.
struct ServicePartTests {
    /// Notes what is started and stopped.
    private final class Journal: Sendable {
        private let noted = Mutex<[String]>([])

        var all: [String] { noted.withLock { $0 } }

        func note(_ text: String) { noted.withLock { $0.append(text) } }

        func part(_ name: ServicePart.Name, failing error: ServiceError? = nil) -> ServicePart {
            ServicePart(name) { [self] () throws(ServiceError) in
                note("start \(name)")
                if let error { throw error }
            } stop: { [self] in
                note("stop \(name)")
            }
        }
    }

    @Test func `starts parts in order, and stops them once, the last one first`() throws {
        let (journal, running) = (Journal(), RunningParts())
        try running.start([journal.part(.locks), journal.part(.committer), journal.part(.server)])
        #expect(journal.all == ["start locks", "start committer", "start server"])
        running.stop()
        running.stop()
        #expect(journal.all.dropFirst(3) == ["stop server", "stop committer", "stop locks"])
    }

    @Test func `stops what was started when a part does not start, and says why`() throws {
        let (journal, running) = (Journal(), RunningParts())
        let broken = journal.part(.stores, failing: .records(.stopped))
        do {
            try running.start([journal.part(.locks), journal.part(.committer), broken, journal.part(.server)])
            Issue.record("all parts were started")
        } catch ServiceError.records(.stopped) {
        }
        #expect(journal.all == ["start locks", "start committer", "start stores", "stop committer", "stop locks"])
        running.stop()
        #expect(journal.all.count == 5, "nothing runs any more")
    }

    @Test func `records its start before all that signs or answers, and frees the database last`() throws {
        let order = try RunningPlace().service().parts.map(\.name)
        #expect(order == ServicePart.Name.allCases.filter { $0 != .membership || TestedEngine.isPostgreSQL })
        let place = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
        func comes(_ first: ServicePart.Name, before others: ServicePart.Name...) {
            for other in others { #expect(place[first] ?? .max < place[other] ?? .max, "\(first) before \(other)") }
        }
        comes(.locks, before: .databaseFile)
        comes(.databaseFile, before: .secretsOnRecord, .committer)
        comes(.committer, before: .startOnRecord)
        comes(.startOnRecord, before: .signedLog, .stores, .server)
        // So they stop in the reverse: the end is on record after all that records, and is signed.
        comes(.signedLog, before: .endOnRecord)
        comes(.endOnRecord, before: .sealWatch, .housekeeper, .auditIndex, .logReaders, .stores, .server)
        comes(.sealWatch, before: .server)
        comes(.housekeeper, before: .server)
        comes(.logReaders, before: .server)
        comes(.stores, before: .server)
    }

    @Test func `does not start when its start can't be recorded, and lets the next service in`() async throws {
        let place = try RunningPlace()
        let faults = Faults()
        let broken = try place.service { dependencies in
            dependencies.openForCommits = { ledger throws(StorageError) in try faults.wrap(try ledger.openPatiently()) }
        }
        // One refuses the record; where several could share the database, a batch is tried again.
        faults.failStatements(Faults.diskFull, Faults.diskFull, Faults.diskFull)
        do {
            try await mayBlock { Result { try broken.start() } }.get()
            Issue.record("the service was started")
        } catch ServiceError.records(.database(Faults.diskFull)) {
        }
        #expect(try place.entries().map(\.["ev"].text) == ["epoch.begin"])
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "open").status == 200)
        }
        withExtendedLifetime(broken) {}
    }

    @Test(.enabled(if: TestedEngine.isPostgreSQL, "no later part fails to start on SQLite"))
    func `records its end when a later part does not start`() async throws {
        let place = try RunningPlace()
        let service = try place.service()
        let connection = try place.ledger.openPatiently()
        try connection.run(SQL("ALTER TABLE instances RENAME TO instances_elsewhere"))
        do {
            try await mayBlock { Result { try service.start() } }.get()
            Issue.record("the service was started")
        } catch ServiceError.database {
        }
        try connection.run(SQL("ALTER TABLE instances_elsewhere RENAME TO instances"))
        let events = try place.entries().map(\.["ev"].text)
        #expect(events.first == "epoch.begin" && events.contains("service.start") && events.last == "service.stop")
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "open").status == 200)
        }
    }
}
