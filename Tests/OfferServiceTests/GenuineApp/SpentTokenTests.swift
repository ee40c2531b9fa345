// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// The table of requests with spent tokens, on either engine.
@Suite(.overBothEngines) struct SpentTokenTests {
    private static let now = Timestamp(milliseconds: 1_782_907_200_123)

    private func withTable(_ body: (SpentTokenTable) throws -> Void) throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let settings = try TestService.settings(in: directory, TestFiles())
        let ledger = LedgerAccess(location: settings.database, clock: SettableClock().wallClock)
        try body(SpentTokenTable(connection: try ledger.open()))
    }

    private func key(_ number: UInt8) -> SHA256Digest { SHA256.digest(of: [number]) }

    @Test func `takes each request once, for as long as its token could come again`() throws {
        try withTable { table in
            #expect(try table.spend(key(1), at: Self.now))
            #expect(try table.spend(key(2), at: Self.now))
            #expect(try table.spend(key(1), at: Self.now) == false)
            #expect(try table.spend(key(1), at: Self.now.adding(seconds: 361)) == false)
            #expect(try table.hasOld(at: Self.now.adding(minutes: 15)) == false)
            let later = Self.now.adding(minutes: 16)
            #expect(try table.hasOld(at: later))
            try table.forget(at: later, atMost: 1)
            #expect(try table.hasOld(at: later))
            try table.forget(at: later)
            #expect(try table.hasOld(at: later) == false)
        }
    }
}
