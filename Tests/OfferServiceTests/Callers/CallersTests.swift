// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

@testable import Ledger

/// Callers and their keys, and what is recorded of them.
@Suite(.overBothEngines) struct CallersTests {
    /// A separate database without callers.
    private struct Place {
        let directory: TemporaryDirectory
        let ledger: LedgerAccess
        let callers: Callers
        let clock = SettableClock()

        init() throws {
            try startSecureMemory()
            directory = try TemporaryDirectory()
            let location = try #require(DatabaseLocation(directory.database("ledger.db")))
            ledger = LedgerAccess(location: location, clock: clock.wallClock)
            callers = Callers(ledger: ledger, clock: clock.wallClock)
        }

        func directoryInForce() throws -> CallerDirectory {
            try CallerStore(connection: try ledger.openForReading()).directory()
        }

        func admits(_ key: APIKey) throws -> Bool {
            try directoryInForce().caller(presenting: key, at: clock.now) != nil
        }

        func events() throws -> [Tree] {
            var events: [Tree] = []
            try AuditReader(connection: try ledger.openForReading()).entries(matching: AuditQuery()) { _, entry in
                events.append((try? Tree(String(decoding: entry, as: UTF8.self))) ?? .null)
            }
            return events
        }
    }

    private static func caller(_ name: String = "shop", _ bundleIDs: [String] = []) throws -> Caller {
        Caller(
            id: try #require(CallerID(name)),
            role: .backend,
            apps: Set(try bundleIDs.map { try AppName($0) })
        )
    }

    @Test func `gives a caller a key that only its holder can show`() throws {
        let place = try Place()
        let caller = try Self.caller("shop", ["com.example.a", "com.example.b"])
        let key = try place.callers.add(caller, expiresInDays: nil).get()
        #expect(try place.directoryInForce().caller(presenting: key, at: place.clock.now) == caller)
        #expect(key.credential.wholeMatch(of: #/[0-9a-f]{16}\.[A-Za-z0-9_-]{43}/#) != nil)

        let secret = key.credential.dropFirst(17)
        let stored = try CallerStore(connection: try place.ledger.openForReading()).all()[0].keys
        #expect(stored.map(\.id) == [key.id])
        #expect(stored[0].secretDigest == SHA256.digest(of: Array(secret.utf8)).bytes)
        let text = String(decoding: try place.directory.contents(ofDatabase: "ledger.db"), as: UTF8.self)
        #expect(text.contains(key.id), "what is there can be found")
        #expect(!text.contains(secret))
    }

    @Test func `rotates a key without a gap: two live ones, and never a third`() throws {
        let place = try Place()
        let caller = try Self.caller()
        let first = try place.callers.add(caller, expiresInDays: nil).get()
        let second = try place.callers.addKey(to: caller.id, expiresInDays: nil).get()
        #expect(try place.admits(first) && place.admits(second))
        #expect(throws: CallersError.self) { try place.callers.addKey(to: caller.id, expiresInDays: 1).get() }
        try place.callers.revoke(caller.id, keyID: first.id).get()
        #expect(try !place.admits(first) && place.admits(second))
        let third = try place.callers.addKey(to: caller.id, expiresInDays: 1).get()
        #expect(try place.admits(second) && place.admits(third))
        place.clock.advance(days: 1)
        #expect(try place.admits(second) && !place.admits(third))
        let fourth = try place.callers.addKey(to: caller.id, expiresInDays: nil).get()
        #expect(try place.admits(fourth), "an expired key is no live one")
        #expect(
            try place.events().map(\.["ev"].text)
                == ["caller.create", "caller.key", "caller.revoke", "caller.key", "caller.key"]
        )
    }

    @Test func `records who was given which key, by its id`() throws {
        let place = try Place()
        let caller = try Self.caller()
        let first = try place.callers.add(caller, expiresInDays: nil).get()
        let second = try place.callers.addKey(to: caller.id, expiresInDays: 30).get()
        try place.callers.revoke(caller.id, keyID: second.id).get()
        try place.callers.revoke(caller.id, keyID: nil).get()
        let events = try place.events()
        #expect(events.map(\.["ck"].text) == [first.id, second.id, second.id, nil])
        #expect(events.allSatisfy { $0["caller"] == .text("shop") })
        #expect(events[0]["role"] == .text("backend"))
    }

    @Test func `revokes a caller with all its keys, for good`() throws {
        let place = try Place()
        let caller = try Self.caller()
        let keys = try [
            place.callers.add(caller, expiresInDays: nil).get(),
            place.callers.addKey(to: caller.id, expiresInDays: nil).get(),
        ]
        try place.callers.revoke(caller.id, keyID: nil).get()
        for key in keys { #expect(try !place.admits(key)) }
        #expect(try place.directoryInForce().isEmpty)
        for refused in [
            place.callers.addKey(to: caller.id, expiresInDays: nil), place.callers.add(caller, expiresInDays: nil),
        ] {
            let error = try #require(throws: CallersError.self) { try refused.get() }
            #expect(error.description == "the caller shop is revoked for good; add one under another name")
        }
    }

    @Test func `says what it refuses, and leaves everything as it was`() throws {
        let place = try Place()
        let caller = try Self.caller()
        let key = try place.callers.add(caller, expiresInDays: nil).get()
        let nobody = try #require(CallerID("nobody"))
        let refusals = [
            place.callers.add(caller, expiresInDays: nil).map { _ in },
            place.callers.addKey(to: nobody, expiresInDays: nil).map { _ in },
            place.callers.revoke(nobody, keyID: nil), place.callers.revoke(caller.id, keyID: "0123456789abcdef"),
        ].map { result in
            if case .failure(let error) = result { error.description } else { "done" }
        }
        #expect(
            refusals == [
                "a caller named shop already exists; choose another name, or give it one more key with add-key",
                "there is no caller named nobody", "there is no caller named nobody",
                "the caller has no key 0123456789abcdef",
            ]
        )
        #expect(try place.events().count == 1)
        #expect(try place.admits(key))
    }

    @Test func `changes nothing without its record, and records nothing without the change`() throws {
        struct Refused: Error {}
        let place = try Place()
        let caller = try Self.caller()
        #expect(throws: LedgerChangeError<Refused>.self) {
            try place.ledger.change { connection throws(Refused) in
                do { try CallerStore(connection: connection).add(caller, at: place.clock.now) } catch {
                    throw Refused()
                }
                throw Refused()
            }
        }
        #expect(try CallerStore(connection: try place.ledger.openForReading()).all().isEmpty)

        // Another entry already has the next index, so the record fails, and the change with it.
        #expect(throws: LedgerChangeError<StorageError>.self) {
            try place.ledger.change { connection throws(StorageError) in
                try connection.run(SQL("INSERT INTO key_states (key_id, disabled_at) VALUES ('X', 1)"))
                try connection.run(SQL("INSERT INTO audit_entries (entry_index, entry) VALUES (0, x'00')"))
                return [.serviceStopped]
            }
        }
        #expect(try KeyStateStore(connection: try place.ledger.openForReading()).disabled().isEmpty)
        #expect(try place.events().isEmpty)
    }

    /// No scope means every app, so one that can't be read must not become none.
    @Test func `refuses a caller if its scope cannot be read`() throws {
        let place = try Place()
        let key = try place.callers.add(try Self.caller("shop", ["com.example.app"]), expiresInDays: nil).get()
        #expect(try place.admits(key))
        try place.ledger.openPatiently().run(SQL("UPDATE callers SET bundle_ids = 'com.one.app,com.two.app'"))
        #expect(try !place.admits(key))
    }

    @Test func `lists callers and keys with their states, and nothing secret`() throws {
        let place = try Place()
        let keys = try [
            place.callers.add(Self.caller("b"), expiresInDays: 1).get(),
            place.callers.add(Self.caller("a", ["com.example.b", "com.example.a"]), expiresInDays: nil).get(),
            place.callers.add(Self.caller("c"), expiresInDays: 1).get(),
        ]
        try place.callers.revoke(try #require(CallerID("b")), keyID: nil).get()
        place.clock.advance(days: 2)
        let since = "since 2026-07-01T12:00:00.123Z"
        #expect(
            try place.callers.all().get() == [
                "a  backend  com.example.a com.example.b  live", "  key \(keys[1].id)  \(since)  live",
                "b  backend  all apps  revoked 2026-07-01T12:00:00.123Z",
                "  key \(keys[0].id)  \(since)  revoked 2026-07-01T12:00:00.123Z", "c  backend  all apps  live",
                "  key \(keys[2].id)  \(since)  expired 2026-07-02T12:00:00.123Z",
            ]
        )
    }

    @Test(
        arguments: [
            ("", false), ("a", true), ("A", false), ("shop-1.test_2", true), ("sh op", false), ("shöp", false),
            (String(repeating: "a", count: 64), true), (String(repeating: "a", count: 65), false), ("a\u{0}", false),
        ]
    )
    func `names callers in lowercase ASCII`(name: (text: String, isGood: Bool)) {
        #expect((CallerID(name.text) != nil) == name.isGood)
    }
}
