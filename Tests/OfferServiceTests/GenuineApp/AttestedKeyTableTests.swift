// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// The keys in the database, on either engine.
@Suite(.overBothEngines) struct AttestedKeyTableTests {
    private static let now = Timestamp(milliseconds: 1_782_907_200_123)

    private struct Place {
        let directory: TemporaryDirectory
        let connection: any DatabaseConnection
        var table: AttestedKeyTable { AttestedKeyTable(connection: connection) }

        init() throws {
            directory = try TemporaryDirectory()
            let settings = try TestService.settings(in: directory, TestFiles())
            connection = try LedgerAccess(location: settings.database, clock: SettableClock().wallClock).open()
        }
    }

    private func register(_ table: AttestedKeyTable, at now: Timestamp = now) throws -> SHA256Digest {
        try startSecureMemory()
        let key = try PrivateKey.generate().publicKey
        let id = SHA256.digest(of: key.spki)
        let app = try BundleID("com.example.app")
        let attested = AttestedKey(key: key, bundleID: app, environment: .production, origin: .testFlight)
        let challenge = AppAttestChallenge(
            for: AppName(app),
            under: try pseudonyms(),
            at: now,
            try SystemRandom()
        )
        guard case .added = try table.register(id, attested, by: challenge, at: now) else {
            throw ChildProcess.Failure("it was not added")
        }
        return id
    }

    private func secretVersion(_ name: String, _ byte: UInt8) throws -> SecretVersion {
        let secret = try SecureBytes(copying: [UInt8](repeating: byte, count: 32))
        return SecretVersion(name: name, key: try HMACKey(secret))
    }

    private func pseudonyms() throws -> Pseudonyms { Pseudonyms(try secretVersion("1", 1)) }

    @Test(.aboutSQLite) func `a challenge is good under the secret that it was made with, for its app and its time`()
        throws
    {
        try startSecureMemory()
        let (old, new) = (try secretVersion("1", 1), try secretVersion("2", 2))
        let (app, other) = (try AppName("com.example.app"), try AppName("com.example.other"))
        let made = AppAttestChallenge(for: app, under: Pseudonyms(old), at: Self.now, try SystemRandom())
        #expect(made.text.utf8.count == 51)
        func read(_ app: AppName, _ pseudonyms: Pseudonyms, after milliseconds: Int64) -> [UInt8]? {
            let now = Timestamp(milliseconds: Self.now.milliseconds + milliseconds)
            return AppAttestChallenge(made.text.utf8, for: app, under: pseudonyms, at: now)?.nonce
        }
        #expect(read(app, Pseudonyms(old), after: 299_999) == made.nonce)
        #expect(read(app, Pseudonyms(new, earlier: [old]), after: 0) == made.nonce, "the secret was changed")
        #expect(read(app, Pseudonyms(new), after: 0) == nil)
        #expect(read(other, Pseudonyms(old), after: 0) == nil)
        #expect(read(app, Pseudonyms(old), after: 300_000) == nil)
    }

    @Test func `keeps what never changes of a key`() throws {
        let place = try Place()
        let id = try register(place.table)
        let found = try #require(try place.table.key(id))
        #expect(SHA256.digest(of: found.key.spki) == id)
        #expect(found.bundleID.text == "com.example.app" && found.environment == .production)
        #expect(found.origin == .testFlight)
        #expect(try place.table.key(SHA256.digest(of: [])) == nil)
    }

    @Test func `takes counters that grow, to the last`() throws {
        let place = try Place()
        let id = try register(place.table)
        let taken = try [1, 1, 0, 3, 2, 1 << 31, 1 << 31, UInt32.max, UInt32.max].map { counter in
            try place.table.advance(id, to: counter, at: Self.now)
        }
        #expect(taken == [true, false, false, true, false, true, false, true, false])
        #expect(try place.table.advance(SHA256.digest(of: []), to: 1, at: Self.now) == false, "no such key")
    }

    @Test func `forgets keys that were not used for 400 days when others come, and no others`() throws {
        let place = try Place()
        let ids = try (0..<3).map { _ in try register(place.table) }
        #expect(try place.table.advance(ids[1], to: 1, at: Self.now.adding(days: 1)))
        _ = try register(place.table, at: Self.now.adding(days: 400))
        #expect(try ids.map { try place.table.key($0) != nil } == [true, true, true])
        _ = try register(place.table, at: Self.now.adding(days: 401))
        #expect(try ids.map { try place.table.key($0) != nil } == [false, true, false])
    }
}
