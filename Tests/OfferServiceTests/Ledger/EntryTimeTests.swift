// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

@testable import Ledger

/// Entries are in the order of their time, whatever the clock does and whichever process writes.
@Suite(.overBothEngines) struct EntryTimeTests {
    private func expectOrder(_ service: TestService, count: Int) throws {
        let times = try service.entries().map { try Tree($0)["t"].integer ?? -1 }
        #expect(times.count == count)
        #expect(times == times.sorted())
    }

    @Test func `does not go back while the clock is behind the last entry`() async throws {
        try await withService { service in
            _ = try await service.sign(offer: "open")
            service.clock.advance(hours: -1)
            let reply = try await service.sign(offer: "open")
            #expect(reply.status == 200)
            service.clock.advance(hours: 2)
            _ = try await service.sign(offer: "open")
            try expectOrder(service, count: 3)
        }
    }

    @Test func `remembers the last entry's time when the connection is reopened`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            _ = try await service.sign(offer: "open")
            service.clock.advance(hours: -1)
            faults.failCommits(Faults.ioFailure)
            let failed = try await service.sign(offer: "open")
            #expect(failed.status == 503)
            _ = try await service.sign(offer: "open")
            #expect(try service.entries("audit.resume").count == 1)
            try expectOrder(service, count: 3)
        }
    }

    @Test func `keeps the order when a command writes beside the service`() async throws {
        try await withService { service in
            _ = try await service.sign(offer: "open")
            let slow = SettableClock()
            slow.advance(hours: -1)
            let fast = SettableClock()
            fast.advance(hours: 1)
            for clock in [slow, fast] {
                let ledger = LedgerAccess(location: service.settings.database, clock: clock.wallClock)
                let callers = Callers(ledger: ledger, clock: clock.wallClock)
                _ = try callers.addKey(to: try #require(CallerID("backend")), expiresInDays: 1).get()
                _ = try await service.sign(offer: "open")
                try callers.revoke(
                    try #require(CallerID("backend")),
                    keyID: String(try #require(service.credentials["backend"]).prefix(16))
                ).get()
            }
            try expectOrder(service, count: 7)
        }
    }
}
