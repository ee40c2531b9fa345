// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// Which secrets of customers' ids a database is used with.
@Suite(.overBothEngines) struct SecretVersionRegisterTests {
    /// What a keys file lists after a start with secret version 1, and what is said of it.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The values of `customerIds`; files `a.key`, `b.key` and `c.key` have different secrets.
        let earlier: [String]
        let listed: String
        /// Part of the only issue; nil if there is none.
        let issue: String?

        init(_ description: String, after earlier: String..., listing: String, _ issue: String?) {
            testDescription = description
            self.earlier = earlier
            listed = listing
            self.issue = issue
        }
    }

    private static let one = #"{epoch: "1", file: "a.key"}"#
    private static let two = #"[{epoch: "2", file: "b.key"}, {epoch: "1", file: "a.key"}]"#

    static let rows = [
        Row("the same", after: one, listing: one, nil),
        Row("the same in a list", after: one, listing: "[\(one)]", nil),
        Row("a new one before it", after: one, listing: two, nil),
        Row("the same two", after: one, two, listing: two, nil),
        Row("two at once, first of all", listing: two, nil),
        Row(
            "another secret under the same name",
            after: one,
            listing: #"{epoch: "1", file: "b.key"}"#,
            "the file of epoch 1 is not the one"
        ),
        Row(
            "another secret of an earlier one",
            after: two,
            listing: #"[{epoch: "2", file: "b.key"}, {epoch: "1", file: "c.key"}]"#,
            "the file of epoch 1 is not the one"
        ),
        Row(
            "another name for the secret",
            after: one,
            listing: #"{epoch: "2", file: "a.key"}"#,
            "epoch 1 is on record and is not listed"
        ),
        Row(
            "two names for one secret",
            after: one,
            listing: #"[{epoch: "2", file: "a.key"}, {epoch: "1", file: "a.key"}]"#,
            "epochs 2 and 1 have one secret"
        ),
        Row(
            "the new one alone",
            after: two,
            listing: #"{epoch: "2", file: "b.key"}"#,
            "epoch 1 is on record and is not listed"
        ),
        Row(
            "the two the other way round",
            after: two,
            listing: #"[{epoch: "1", file: "a.key"}, {epoch: "2", file: "b.key"}]"#,
            "epochs 1 and 2 are in the wrong order"
        ),
        Row(
            "a new one after the one in force",
            after: one,
            listing: #"[{epoch: "1", file: "a.key"}, {epoch: "2", file: "b.key"}]"#,
            "epochs 1 and 2 are in the wrong order"
        ),
    ]

    @Test(.overSQLite, arguments: rows)
    func `starts only with the secrets that the database was used with before`(row: Row) async throws {
        let place = try RunningPlace()
        for name in ["a.key", "b.key", "c.key"] {
            try SecretFile.createRandom(path: place.directory.path(of: name))
        }
        func list(_ versions: String) throws {
            try place.rewrite("keys") { text in
                text.split(separator: "\n").map {
                    $0.contains("customerIds:") ? "customerIds: \(versions)," : String($0)
                }
                .joined(separator: "\n")
            }
        }
        for earlier in row.earlier {
            try list(earlier)
            try await place.run { _ in }
        }
        try list(row.listed)
        let before = try row.earlier.isEmpty ? 0 : place.entries().count
        do {
            try await place.run { service async throws in
                #expect(try await place.sign(service, offer: "open").status == 200)
            }
            #expect(row.issue == nil)
        } catch ServiceError.configuration(let error) {
            #expect(error.issues.count == 1 && error.issues[0].pointer == "/customerIds")
            #expect(try #require(error.issues.first).message.contains(try #require(row.issue, "\(error.issues)")))
            #expect(try place.entries().count == before, "nothing was done")
        }
    }

    @Test func `keeps what was in force when a reload brings another secret`() async throws {
        let place = try RunningPlace()
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "once", #""customerId": "ada""#).status == 200)
            try FileManager.default.removeItem(atPath: place.directory.path(of: "customer-ids.key"))
            try SecretFile.createRandom(path: place.directory.path(of: "customer-ids.key"))
            await mayBlock { service.reload() }
            #expect(
                try await place.sign(service, offer: "once", #""customerId": "ada""#).problem == "not-eligible"
            )
        }
        let refusal = try #require(try place.entries().first { $0["ev"] == .text("config.refuse") })
        #expect(refusal["why"].elements.map(\.text) == ["customerIds"] && refusal["issues"] == .number(1))
        #expect(place.log.lines.contains { $0.contains("epoch 1 is not the one") })
    }

    /// Lists a new secret version, `2b`, before the first.
    private func listNext(_ place: RunningPlace) throws {
        try SecretFile.createRandom(path: place.directory.path(of: "next.key"))
        try place.rewrite("keys") {
            $0.replacing(
                #"customerIds: {epoch: "1", file: "customer-ids.key"}"#,
                with: #"customerIds: [{epoch: "2b", file: "next.key"}, {epoch: "1", file: "customer-ids.key"}]"#
            )
        }
    }

    private func names(_ ledger: LedgerAccess) throws -> [String] {
        try SecretVersionTable(connection: ledger.openForReading()).all().map(\.name)
    }

    /// What is in the way of a reload for a while.
    struct Hindrance: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let begin: SQL
        let end: SQL
    }

    private static let hindranceOfCallers = Hindrance(
        testDescription: "callers can't be read",
        begin: SQL("ALTER TABLE callers RENAME TO callers_elsewhere"),
        end: SQL("ALTER TABLE callers_elsewhere RENAME TO callers")
    )

    private static let hindranceOfRecords = Hindrance(
        testDescription: "the configuration can't be recorded",
        begin: SQL(
            """
            CREATE TRIGGER hindrance BEFORE INSERT ON audit_entries
            WHEN instr(CAST(NEW.entry AS TEXT), 'config.load') > 0 BEGIN SELECT RAISE(ABORT, 'not now'); END
            """
        ),
        end: SQL("DROP TRIGGER hindrance")
    )

    @Test func `begins no secret version with a reload for which callers can't be read`() async throws {
        try await beginsNoVersion(during: Self.hindranceOfCallers)
    }

    @Test(.aboutSQLite) func `begins no secret version with a reload that can't be recorded`() async throws {
        try await beginsNoVersion(during: Self.hindranceOfRecords)
    }

    private func beginsNoVersion(during hindrance: Hindrance) async throws {
        let place = try RunningPlace()
        let customer = #""customerId": "ada""#
        try await place.run { service async throws in
            try listNext(place)
            let connection = try place.ledger.openPatiently()
            try connection.run(hindrance.begin)
            await mayBlock { service.reload() }
            try connection.run(hindrance.end)
            #expect(place.log.lines.contains { $0.contains("what was in force stays in force") })
            #expect(try names(place.ledger) == ["1"])
            #expect(try await place.sign(service, offer: "open", customer).status == 200, "it does stay in force")
            await mayBlock { service.reload() }
            #expect(try names(place.ledger) == ["1", "2b"])
            #expect(try await place.sign(service, offer: "open", customer).status == 200)
        }
        let events = try place.entries().map(\.["ev"].text)
        let began = try #require(events.lastIndex(of: "epoch.begin"))
        #expect(events[began...].dropFirst().first == "config.load")
        #expect(events.count { $0 == "config.load" } == 2)
    }

    @Test func `refuses a secret version that another instance has made wrong since it was looked at`() throws {
        let place = try LogPlace()
        let register = SecretVersionRegister(ledger: place.ledger)
        func secretVersion(_ name: String) throws -> SecretVersion {
            let secret = try SecureBytes(copying: [UInt8](repeating: UInt8(name.utf8.count), count: 32))
            return SecretVersion(name: name, key: try HMACKey(secret))
        }
        let first = try secretVersion("1")
        #expect(try register.adopt(Pseudonyms(first)))
        let (ours, theirs) = (try secretVersion("our"), try secretVersion("their"))
        // Both were compared with what was on record, and both were right.
        try register.begin(Pseudonyms(theirs, earlier: [first]), with: [])
        #expect(throws: SecretVersionError.refused([.missing("their")])) {
            try register.begin(Pseudonyms(ours, earlier: [first]), with: [])
        }
        #expect(try names(place.ledger) == ["1", "their"])
        try register.begin(Pseudonyms(theirs, earlier: [first]), with: [.serviceStopped])
        #expect(try names(place.ledger) == ["1", "their"], "nothing begins twice")
        #expect(try place.entries().count == 3)
    }

    @Test func `refuses a new secret version whose keys end as those of another one`() throws {
        func secretVersion(_ name: String, _ number: Int) throws -> SecretVersion {
            let bytes = (0..<32).map { UInt8(truncatingIfNeeded: number >> (8 * min($0, 7))) }
            return SecretVersion(name: name, key: try HMACKey(try SecureBytes(copying: bytes)))
        }
        func tag(_ secretVersion: SecretVersion) -> [UInt8] { LedgerKey.tag(ofSecret: secretVersion.checkValue) }
        let first = try secretVersion("1", 0)
        // One secret of 65,536 does.
        let alike = try #require(
            try (1..<2_000_000).lazy.map { try secretVersion("2", $0) }.first { tag($0) == tag(first) }
        )
        let place = try LogPlace()
        let register = SecretVersionRegister(ledger: place.ledger)
        try register.adopt(Pseudonyms(first))
        #expect(throws: SecretVersionError.refused([.sameTag("2", as: "1")])) {
            try register.adopt(Pseudonyms(alike, earlier: [first]))
        }
        #expect(try names(place.ledger) == ["1"])
        try register.adopt(Pseudonyms(try secretVersion("2", 1), earlier: [first]))
        #expect(try names(place.ledger) == ["1", "2"])
    }

    @Test func `records when a new secret version begins, once`() async throws {
        let place = try RunningPlace()
        try await place.run { service async throws in
            try listNext(place)
            await mayBlock { service.reload() }
            await mayBlock { service.reload() }
            #expect(try await place.sign(service, offer: "open", #""customerId": "ada""#).status == 200)
        }
        let entries = try place.entries()
        #expect(entries.filter { $0["ev"] == .text("epoch.begin") }.map(\.["epoch"].text) == ["1", "2b"])
        let signed = try #require(entries.last { $0["ev"] == .text("sign.intent") })
        #expect(signed["users"][0].text?.hasPrefix("hmac:2b:") == true, "new entries have the newest")
    }
}
