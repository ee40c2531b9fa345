// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// What `offer-signer demo` writes, in a folder that is removed when the test is done.
final class DemoFolder: Sendable {
    static let bundle = "com.example.app"
    static let product = "com.example.pro.monthly"

    let directory: TemporaryDirectory
    /// What the command said.
    let guide: String

    /// A wrapper is a command that the program is started by.
    init(wrapper: [String] = []) async throws {
        directory = try TemporaryDirectory()
        let outcome = try await Program.run(["demo", directory.path(of: "demo")], wrapper: wrapper)
        guard outcome.succeeded else { throw ChildProcess.Failure("demo: \(outcome)") }
        guide = outcome.output
        if TestedEngine.isPostgreSQL { try await useServer(wrapper) }
    }

    /// Exchanges the example's database, which is SQLite's, for one on the server of the tests.
    private func useServer(_ wrapper: [String]) async throws {
        try FileManager.default.removeItem(atPath: database)
        let words = ["callers", "add", "demo-backend", "--role", "backend", "--database", location]
        let outcome = try await Program.run(words, wrapper: wrapper)
        guard outcome.succeeded else { throw ChildProcess.Failure("callers: \(outcome)") }
        try write(outcome.output.trimmingCharacters(in: .newlines), to: "api-key")
    }

    var path: String { directory.path(of: "demo") }
    /// The file of the database, for tests that are about SQLite's.
    var database: String { directory.path(of: Self.name) }
    /// Where the database is, as `--database` has it.
    var location: String { directory.database(Self.name) }
    /// The database's name in the directory.
    static let name = "demo/offer-signer.db"
    /// The file of the newest checkpoint: beside SQLite's file, or for a server where `--checkpoint-file` says.
    var checkpoint: String { database + ".checkpoint" }
    var privateKey: String { path(of: "SubscriptionKey_ABC123DEFG.p8") }
    var publicKey: String { path(of: "public-key.pem") }
    var apiKey: String { textOfFile(path(of: "api-key")) }

    func path(of name: String) -> String { "\(path)/\(name)" }

    /// What every command needs to find the example; a database is the name of another one in the directory.
    func options(database: String = name, checkpoint: String? = nil) -> [String] {
        options(at: directory.database(database), checkpoint: checkpoint)
    }

    func options(at location: String, checkpoint: String? = nil) -> [String] {
        ["--keys", path(of: "keys"), "--offers", path(of: "offers")]
            + databaseOptions(at: location, checkpoint: checkpoint)
    }

    /// What commands need that look into nothing else.
    func databaseOptions() -> [String] { databaseOptions(at: location) }

    private func databaseOptions(at location: String, checkpoint: String? = nil) -> [String] {
        ["--database", location]
            + (TestedEngine.isPostgreSQL ? ["--checkpoint-file", checkpoint ?? self.checkpoint] : [])
    }

    /// A file with everything that the database holds.
    func databaseContents() throws -> String {
        try directory.write(directory.contents(ofDatabase: Self.name), to: "contents")
    }

    /// Changes the database behind the service's back, in words of both engines.
    func alter(_ statements: String) throws { try directory.alter(Self.name, statements) }

    func text(of name: String) -> String { textOfFile(path(of: name)) }

    func write(_ text: String, to name: String) throws {
        try directory.write(Array(text.utf8), to: "demo/\(name)")
    }

    /// Replaces every occurrence; there must be at least one.
    func edit(_ name: String, replacing old: String, with new: String) throws {
        let text = text(of: name)
        guard text.contains(old) else { throw ChildProcess.Failure("\(name) has no “\(old)”") }
        try write(text.replacingOccurrences(of: old, with: new), to: name)
    }

    /// Lowers the cap of the example's offer to three grants, which tests reach soon.
    func lowerCap() throws { try edit("offers", replacing: "atMost: 100,", with: "atMost: 3,") }

    /// Lifts the daily budget, which load would use up.
    func liftBudget() throws {
        try edit("offers", replacing: "atMost: 10000,", with: "atMost: 1000000000,")
    }

    /// A request for the win-back offer by a customer of that name.
    func request(customer: String, token: String = UUID().uuidString) -> String {
        let number = customer.utf8.reduce(1) { ($0 &* 31 &+ UInt64($1)) % 1_000_000_000_000 }
        return """
            {"bundleId": "com.example.app", "productId": "com.example.pro.monthly", "offerId": "winback_3m",
             "appAccountToken": "\(token)", "customerId": "\(customer)", "formats": ["v1", "jws"],
             "facts": {"status": "expired", "expiresAt": "2026-01-01T00:00:00Z",
                       "originalTransactionId": "2\(number)"}}
            """
    }
}
