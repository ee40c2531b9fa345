// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import OfferDomain
import ServiceRuntime
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// Sends nothing: tests say what is answered.
private struct NoTransport: Transport {
    func send(_ request: ClientRequest) async throws(ClientError) -> ClientResponse { throw .stopped }
}

extension DeliveryContext {
    fileprivate init(_ service: TestService, lease: EventLease? = nil) throws {
        let clock = service.clock.wallClock
        let log = Log(level: .debug, clock: clock, sink: service.log.sink)
        self.init(
            transport: NoTransport(),
            runtime: Runtime(clock: clock, random: try SystemRandom(), log: log),
            committer: service.committer,
            open: service.ledger.openForReading,
            catalog: { [current = service.current] in current.value.catalog },
            logSize: nil,
            lease: lease,
            origin: "example.com/log"
        )
    }
}

extension TestService {
    private static let endpoint = EventEndpoint(
        id: "backend",
        url: "https://backend.example.com/hook",
        source: .events(types: [], .standard),
        secrets: [],
        signingKeys: [],
        apps: []
    )

    fileprivate func session(lease: EventLease? = nil) throws -> DeliverySession {
        try DeliverySession(Self.endpoint, try DeliveryContext(self, lease: lease), term: 1)
    }

    fileprivate func grant(_ count: Int) async throws {
        for _ in 0..<count { #expect(try await sign(offer: "open").status == 200) }
    }

    fileprivate var table: EndpointTable {
        get throws { EndpointTable(connection: try ledger.openPatiently()) }
    }
}

extension DeliverySession {
    /// Sends the next message, which is answered so.
    ///
    /// - Returns: The index of its entry; `nil` if none may be sent.
    fileprivate func send(_ status: Int, _ fields: (String, String)...) throws -> Int64? {
        try follow()
        guard let (delivery, _) = start() else { return nil }
        var headers = HeaderFields()
        for (name, value) in fields { headers.append(name, value) }
        take([(delivery.position.number, .answered(ClientResponse(status: status, headers: headers)))])
        return delivery.position.index
    }
}

/// What an endpoint's answers, commands and other instances do to what is delivered.
@Suite(.overBothEngines) struct DeliverySessionTests {
    @Test(arguments: [(401, "secrets and its clock"), (403, "admits this service"), (404, "endpoint's url")])
    func `one answer that no other message would change stops an endpoint`(status: Int, advice: String) async throws {
        try await withService { service in
            let session = try service.session()
            try await service.grant(3)
            #expect(try session.send(status) == 0)
            #expect(try session.send(204) == nil, "the others wait")
            #expect(session.deliveryStatus.isCircuitOpen && session.deliveryStatus.failure?.contains(advice) == true)
            service.clock.advance(milliseconds: 4999)
            #expect(try session.send(204) == nil)
            // Then one message finds out.
            service.clock.advance(milliseconds: 1)
            #expect(try session.send(status) != nil)
            #expect(try session.send(204) == nil)
            service.clock.advance(milliseconds: 10_000)
            var taken: Set<Int64> = []
            for _ in 0..<3 { if let index = try session.send(204) { taken.insert(index) } }
            #expect(taken == [0, 1, 2] && !session.deliveryStatus.isCircuitOpen, "all of it once the endpoint is back")
        }
    }

    @Test(arguments: [400, 413, 415, 422, 500])
    func `one answer that may be about one message stops nothing else`(status: Int) async throws {
        try await withService { service in
            let session = try service.session()
            try await service.grant(3)
            #expect(try session.send(status) == 0)
            #expect(try (session.send(204), session.send(204)) == (1, 2))
            #expect(!session.deliveryStatus.isCircuitOpen && session.deliveryStatus.retrying == 1)
        }
    }

    @Test func `an endpoint that asked for an hour is tried at once when it is enabled`() async throws {
        try await withService { service in
            let session = try service.session()
            try await service.grant(2)
            #expect(try session.send(503, ("Retry-After", "3600")) == 0)
            session.store()
            service.clock.advance(seconds: 1800)
            #expect(try session.send(204) == nil)
            #expect(try service.table.enable("backend"))
            service.clock.advance(seconds: 1)
            #expect(try Set([session.send(204), session.send(204)]) == [0, 1])
            session.store()
            let row = try service.table.row("backend")
            #expect(row?.rewindTo == nil && row?.nextPosition == EventPosition(index: 2).number, "\(row as Any)")
        }
    }

    @Test func `an endpoint that is gone gets nothing until it is enabled, and then what it missed`() async throws {
        try await withService { service in
            let session = try service.session()
            try await service.grant(1)
            #expect(try session.send(410) == 0)
            #expect(try service.table.row("backend")?.disabledReason == "it answered with status 410")
            try await service.grant(2)
            service.clock.advance(days: 1)
            #expect(try session.send(204) == nil)
            // The endpoint stays disabled after a restart, and in another instance.
            #expect(try service.session().send(204) == nil)
            #expect(try service.table.enable("backend"))
            #expect(try !service.table.enable("none"))
            service.clock.advance(seconds: 1)
            #expect(try (0..<3).map { _ in try session.send(204) } == [0, 1, 2])
            #expect(try service.table.row("backend")?.disabledAt == nil)
        }
    }

    @Test func `a replay goes back, keeps what waits, and never goes ahead`() async throws {
        try await withService { service in
            let session = try service.session()
            try await service.grant(4)
            #expect(try (session.send(204), session.send(500), session.send(204)) == (0, 1, 2))
            session.store()
            #expect(try service.table.askToRewind("backend", to: EventPosition(index: 3).number))
            service.clock.advance(seconds: 1)
            #expect(try Set([session.send(204), session.send(204)]) == [1, 3], "what failed is tried at once")
            session.store()
            #expect(try service.table.askToRewind("backend", to: EventPosition(index: 1).number))
            service.clock.advance(seconds: 1)
            #expect(try (0..<4).map { _ in try session.send(204) } == [1, 2, 3, nil])
        }
    }

    @Test func `an instance that another has followed stores nothing any more`() async throws {
        try await withService { service in
            let clock = service.clock.wallClock
            let leases = [1, 2].map { EventLease(.version7(at: service.clock.now, $0, $0), clock: clock) }
            let connection = try service.ledger.openPatiently()
            for lease in leases { try lease.beat(connection) }
            let first = try service.session(lease: leases[0])
            try await service.grant(3)
            #expect(try first.send(204) == 0)
            first.store()
            #expect(try service.table.row("backend")?.delivered == 1)
            #expect(try first.send(500) == 1)
            // It hangs before it stores that, and is followed.
            service.clock.advance(milliseconds: EventLease.patienceMilliseconds)
            try leases[1].beat(connection)
            let second = try service.session(lease: leases[1])
            #expect(try (second.send(204), second.send(204)) == (1, 2), "what was not stored is sent again")
            second.store()
            first.store()
            let row = try service.table.row("backend")
            #expect(row?.delivered == 3 && row?.nextPosition == EventPosition(index: 3).number, "\(row as Any)")
            #expect(try service.table.heldUp("backend").isEmpty)
        }
    }

    @Test func `what failed outlives the instance`() async throws {
        try await withService { service in
            let session = try service.session()
            try await service.grant(3)
            #expect(try (session.send(500), session.send(204)) == (0, 1))
            session.store()
            #expect(try service.table.heldUp("backend").map(\.attempts) == [1])
            service.clock.advance(seconds: 60)
            let next = try service.session()
            #expect(try Set([next.send(204), next.send(204), next.send(204)]) == [2, 0, nil])
            next.store()
            #expect(try service.table.heldUp("backend").isEmpty)
        }
    }
}
