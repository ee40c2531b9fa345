// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Foundation
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

@testable import Ledger

/// Destroying a secret version: its pseudonyms can no longer be traced to customers.
@Suite(.overBothEngines) struct SecretDestructionTests {
    private static let listed = #"customerIds: {epoch: "1", file: "customer-ids.key"}"#
    private static let both = #"customerIds: [{epoch: "2", file: "next.key"}, {epoch: "1", file: "customer-ids.key"}]"#
    private static let ada = #""customerId": "ada""#

    private func destruction(_ place: RunningPlace) -> SecretDestruction {
        SecretDestruction(
            ledger: place.ledger,
            clock: place.clock.wallClock,
            keysPath: place.directory.path(of: "keys")
        )
    }

    private func beginSecondVersion(_ place: RunningPlace) throws {
        try SecretFile.createRandom(path: place.directory.path(of: "next.key"))
        try place.rewrite("keys") { $0.replacing(Self.listed, with: Self.both) }
    }

    @Test(arguments: [false, true])
    func `the customer's cap opens, also of one who came back in between`(returns: Bool) async throws {
        let place = try RunningPlace()
        let keyPath = place.directory.path(of: "customer-ids.key")
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "once", Self.ada).status == 200)
            try beginSecondVersion(place)
            await mayBlock { service.reload() }
            if returns {
                #expect(try await place.sign(service, offer: "once", Self.ada).problem == "not-eligible")
            }
            #expect(try await place.sign(service, offer: "once", #""customerId": "grace""#).status == 200)
            #expect(try destruction(place).destroy("1") == .removed(path: keyPath))
            #expect(!FileManager.default.fileExists(atPath: keyPath))
            // The running service lets go of the secret too.
            let isOpen = try await eventually { try await place.sign(service, offer: "once", Self.ada).status == 200 }
            #expect(isOpen, "the cap")
            let grace = try await place.sign(service, offer: "once", #""customerId": "grace""#)
            #expect(grace.problem == "not-eligible", "what was granted under the next secret counts on")
        }
        let entries = try place.entries()
        let destroyed = entries.filter { $0["ev"] == .text("epoch.destroy") }
        #expect(destroyed.count == 1 && destroyed[0]["epoch"] == .text("1"))
        let users = entries.filter { $0["ev"] == .text("sign.intent") }.compactMap { $0["users"][0].text }
        #expect(users.map { String($0.prefix(7)) } == ["hmac:1:", "hmac:2:", "hmac:2:"])

        // The service starts with what is left, and not with a copy of what was destroyed.
        try place.rewrite("keys") {
            $0.replacing(Self.both, with: #"customerIds: {epoch: "2", file: "next.key"}"#)
        }
        let loaded = try LoadedConfiguration(place.settings)
        let lookup = CustomerLookup(ledger: place.ledger, pseudonyms: loaded.keys.pseudonyms)
        let found = try lookup.users([.customer(try CustomerID("ada"))], in: try AppName("com.example.app"))
        #expect(found.map(\.text) == Array(users.dropFirst(2)), "the old pseudonym can't be derived")
        try await place.run { _ in }
        try place.rewrite("keys") {
            $0.replacing(#"customerIds: {epoch: "2", file: "next.key"}"#, with: Self.both)
        }
        try SecretFile.createRandom(path: keyPath)
        do {
            try await place.run { _ in }
            Issue.record("started with a destroyed epoch")
        } catch ServiceError.configuration(let error) {
            #expect(try #require(error.issues.first).message.contains("epoch 1 was destroyed"))
        }
    }

    @Test func `the service starts while its list still names what was destroyed, and warns`() async throws {
        let place = try RunningPlace()
        let path = place.directory.path(of: "customer-ids.key")
        try await place.run { service async throws in
            try beginSecondVersion(place)
            await mayBlock { service.reload() }
        }
        #expect(try destruction(place).destroy("1") == .removed(path: path))
        #expect(try destruction(place).destroy("1") == .gone(path: path), "and again")
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "open", Self.ada).status == 200)
        }
        let warnings = try LoadedConfiguration(place.settings).warnings.map(\.message)
        #expect(warnings.contains { $0.contains("epoch 1 is gone") }, "\(warnings)")
        #expect(try place.entries().count { $0["ev"] == .text("epoch.destroy") } == 1)
    }

    @Test(arguments: [true, false])
    func `a file that is gone without its secret version having ended stops the service`(isOnRecord: Bool) async throws
    {
        let place = try RunningPlace()
        try await place.run { service async throws in
            try beginSecondVersion(place)
            if isOnRecord { await mayBlock { service.reload() } }
        }
        let name = isOnRecord ? "customer-ids.key" : "other.key"
        if isOnRecord {
            try FileManager.default.removeItem(atPath: place.directory.path(of: name))
        } else {
            try place.rewrite("keys") {
                $0.replacing(Self.both, with: Self.both.replacing("}]", with: #"}, {epoch: "0", file: "other.key"}]"#))
            }
        }
        do {
            try await place.run { _ in }
            Issue.record("started without \(name)")
        } catch ServiceError.configuration(let error) {
            let issue = try #require(error.issues.first)
            #expect(error.issues.count == 1 && issue.pointer == "/customerIds", "\(error)")
            #expect(issue.message.contains("is not there, and the epoch was not destroyed"), "\(issue)")
        }
        #expect(try LoadedConfiguration(place.settings).secretIssues(in: place.ledger).count == 1)
    }

    @Test func `no grant leads from an entry of that secret version to a key in force`() async throws {
        let place = try RunningPlace()
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "open", Self.ada).status == 200)
            try beginSecondVersion(place)
            await mayBlock { service.reload() }
            #expect(try await place.sign(service, offer: "open", Self.ada).status == 200)
        }
        let old = try place.entries().filter {
            $0["ev"] == .text("sign.intent") && $0["users"][0].text?.hasPrefix("hmac:1:") == true
        }
        let grantID = try #require(old.first?["grant"].text.flatMap { UniqueID($0) })
        let connection = try place.ledger.openPatiently()
        func grants() throws -> Int {
            try Self.grantIDs(connection).count { $0 == grantID.bytes }
        }
        #expect(try grants() == 1)
        #expect(try destruction(place).destroy("1") != .notNamed)
        #expect(try grants() == 0)
        #expect(try Self.grantIDs(connection).count == 1)
    }

    private static func grantIDs(_ connection: any DatabaseConnection) throws -> [[UInt8]] {
        let all = SQL("SELECT grant_id FROM grants UNION ALL SELECT grant_id FROM grants_by_time")
        return try connection.all(all) { $0.blob(0) }
    }

    @Test func `refuses to destroy the secret version in force or an unknown one`() async throws {
        let place = try RunningPlace()
        try await place.run { _ in }
        do {
            _ = try destruction(place).destroy("1")
            Issue.record("the epoch in force was ended")
        } catch {
            guard case .inForce = error else { throw error }
        }
        // Listed as an earlier one, but the service has not begun the next.
        try beginSecondVersion(place)
        do {
            _ = try destruction(place).destroy("1")
            Issue.record("the epoch in force was ended")
        } catch {
            guard case .inForce = error else { throw error }
        }
        do {
            _ = try destruction(place).destroy("9")
            Issue.record("an unknown epoch was ended")
        } catch {
            guard case .unknown = error else { throw error }
        }
        #expect(FileManager.default.fileExists(atPath: place.directory.path(of: "customer-ids.key")))
        #expect(try place.entries().allSatisfy { $0["ev"] != .text("epoch.destroy") })
    }

    @Test func `it can be repeated when the file could not be removed, and is recorded once`() async throws {
        let place = try RunningPlace()
        try await place.run { service async throws in
            try beginSecondVersion(place)
            await mayBlock { service.reload() }
        }
        let path = place.directory.path(of: "customer-ids.key")
        let moved = place.directory.path(of: "moved.key")
        try FileManager.default.moveItem(atPath: path, toPath: moved)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: moved)
        do {
            _ = try destruction(place).destroy("1")
            Issue.record("a link was taken for the file")
        } catch {
            guard case .file = error else { throw error }
        }
        #expect(FileManager.default.fileExists(atPath: moved), "what a link leads to is left alone")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: moved, toPath: path)
        #expect(try destruction(place).destroy("1") == .removed(path: path))
        #expect(try place.entries().count { $0["ev"] == .text("epoch.destroy") } == 1)
    }

    @Test func `a known customer is looked up under each secret, and the record has no name`() async throws {
        let place = try RunningPlace()
        try await place.run { service async throws in
            try beginSecondVersion(place)
            await mayBlock { service.reload() }
            #expect(try await place.sign(service, offer: "open", Self.ada).status == 200)
        }
        let loaded = try LoadedConfiguration(place.settings)
        let lookup = CustomerLookup(ledger: place.ledger, pseudonyms: loaded.keys.pseudonyms)
        let names: [CustomerIdentity] = [
            .customer(try CustomerID("Ada")), .originalTransaction(try TransactionID("77")),
        ]
        let users = try lookup.users(names, in: try AppName("com.example.app")).map(\.text)
        #expect(users.map { String($0.prefix(7)) } == ["hmac:2:", "hmac:1:", "hmac:2:", "hmac:1:"])
        let entries = try place.entries()
        let signed = try #require(entries.first { $0["ev"] == .text("sign.intent") })
        #expect(signed["users"][0].text == users[0])
        let record = try #require(entries.last)
        #expect(record["ev"] == .text("customer.lookup") && record["app"] == .text("com.example.app"))
        // Both in one entry would link the newer pseudonym to the older one, whose secret may be destroyed.
        #expect(record["users"].elements.map(\.text) == [users[0], users[2]])
        #expect(record.names == ["app", "ev", "t", "users", "v"])
    }
}
