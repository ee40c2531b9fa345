// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Foundation
import OfferDomain
import OfferService
import ServiceRuntime
import Storage
import TestSupport
import Testing

/// The example files and the documentation, held to what the service reads.
struct ExampleTests {
    private static func demo() throws -> (TemporaryDirectory, Demo, Settings) {
        try startSecureMemory()
        let directory = try TemporaryDirectory()
        let demo = Demo(directory: directory.path(of: "demo"), clock: SettableClock().wallClock)
        try demo.write()
        let settings = try Settings(
            flags: [
                .keys: demo.path(.keys), .offers: demo.path(.offers), .database: "sqlite:\(demo.path(.database))",
                .listen: "127.0.0.1:0", .clockCheck: "warn",
            ],
            environment: [:]
        )
        return (directory, demo, settings)
    }

    @Test func `writes an example that is free of errors and warnings, from the files of the repository`() throws {
        let (directory, demo, settings) = try Self.demo()
        let loaded = try LoadedConfiguration(settings)
        #expect(loaded.warnings.isEmpty, "\(loaded.warnings)")
        #expect(loaded.keys.ring.keys.map(\.id.text) == ["ABC123DEFG"])
        #expect(loaded.catalog.offers.map(\.id.text) == ["winback", "stay", "trial", "yearly_upgrade"])
        for (file, name) in [(Demo.File.keys, "keys.example"), (.offers, "offers.example")] {
            #expect(try String(contentsOfFile: demo.path(file), encoding: .utf8) == Repository.text(name))
        }
        let pem = try String(contentsOfFile: demo.path(.publicKey), encoding: .utf8)
        #expect(pem == loaded.keys.ring.keys[0].privateKey?.publicKey.pem)
        for file in Demo.File.allCases {
            let attributes = try FileManager.default.attributesOfItem(atPath: demo.path(file))
            #expect(try #require(attributes[.posixPermissions] as? Int) == 0o600, "\(file)")
        }
        withExtendedLifetime(directory) {}
    }

    @Test func `leaves an example that is there as it is`() throws {
        let (directory, demo, _) = try Self.demo()
        let read = { Demo.File.allCases.map { FileManager.default.contents(atPath: demo.path($0)) } }
        let before = read()
        try demo.write()
        try Demo(directory: directory.path(of: "demo") + "/", clock: SettableClock().wallClock).write()
        #expect(read() == before)
        #expect(!before.contains(nil))
    }

    @Test func `answers the example's request with both signatures`() async throws {
        let (directory, demo, settings) = try Self.demo()
        let clock = SettableClock()
        let service = try Service(
            settings: settings,
            dependencies: Dependencies(
                clock: clock.wallClock,
                random: try SystemRandom(),
                log: Log(level: .error, clock: clock.wallClock)
            )
        )
        try service.start()
        let key = try String(contentsOfFile: demo.path(.apiKey), encoding: .utf8)
        let body = try #require(FileManager.default.contents(atPath: demo.path(.request)))
        let call = Call(body: Array(body)).with("Content-Type", "application/json")
            .with("Authorization", "Bearer \(key)")
        let reply = try await sendOverLoopback([call], to: service.port)[0]
        #expect(reply.status == 200, "\(reply)")
        #expect(reply.json["identifier"] == .text("winback_3m") && reply.json["jws"].text != nil)
        let curl = demo.curl(url: "http://127.0.0.1:8080")
        #expect(curl.contains(call.path) && curl.contains(demo.path(.apiKey)) && curl.contains(demo.path(.request)))
        await mayBlock { service.stop() }
        withExtendedLifetime(directory) {}
    }

    /// The blocks of docs/rules.md, each divided where it has an empty line.
    private static let documentedBlocks: [String] = {
        guard let page = try? Repository.text("docs/rules.md") else { return [] }
        return page.split(separator: "```").enumerated().filter { !$0.offset.isMultiple(of: 2) }
            .map { String($0.element.drop { $0 != "\n" }) }
            .flatMap { $0.split(separator: "\n\n").map(String.init) }
    }()

    /// Each rule that docs/rules.md shows, in blocks and in lines.
    static let documentedRules: [String] = {
        guard let page = try? Repository.text("docs/rules.md") else { return [] }
        let blocks = documentedBlocks.filter { !$0.contains("appStore:") && !$0.contains("bundleId:") }
            .map { $0.replacing("eligibility:", with: "") }
        let inLines = page.matches(of: #/`(\{[^`]*\})`/#).map { String($0.1).replacing("\n", with: " ") }
            .filter { !$0.contains("RULE") }
        return blocks.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) } + inLines
    }()

    @Test func `finds the rules of the documentation`() {
        #expect(Self.documentedRules.count > 20)
        let names = Rule.names.filter { name in !Self.documentedRules.contains { $0.contains("\(name):") } }
        #expect(names.isEmpty, "\(names) are not shown")
    }

    @Test(arguments: documentedBlocks.filter { $0.contains("appStore:") })
    func `reads every offer and plan as the documentation writes it`(text: String) throws {
        let directory = try TemporaryDirectory()
        let isPlan = text.contains("introductoryOffer:")
        let plan = isPlan ? text : #"{appStore: {productId: "pro", subscriptionGroupId: "1"}, offers: [\#(text)]}"#
        let path = try directory.write(
            Array(#"{apps: [{bundleId: "com.example.app", plans: [\#(plan)]}]}"#.utf8),
            to: "offers"
        )
        #expect(throws: Never.self) { try CatalogFile.read(path) }
    }

    @Test(arguments: documentedBlocks.filter { $0.contains("bundleId:") && !$0.contains("appStore:") })
    func `reads every app as the documentation writes it`(text: String) throws {
        let directory = try TemporaryDirectory()
        let plans = """
            plans: [{appStore: {productId: "pro"}, offers: [{id: "one", appStore: {offerId: "one"},
              eligibility: {subscribedBefore: true}}]}]
            """
        #expect(text.contains("// …"))
        let path = try directory.write(Array("{apps: [\(text.replacing("// …", with: plans))]}".utf8), to: "offers")
        #expect(throws: Never.self) { try CatalogFile.read(path) }
    }

    @Test(arguments: documentedRules)
    func `reads every rule as the documentation writes it`(text: String) throws {
        let directory = try TemporaryDirectory()
        let rule = text.hasSuffix(",") ? String(text.dropLast()) : text
        let file = """
            {apps: [{bundleId: "com.example.app", plans: [{appStore: {productId: "pro"},
              offers: [{id: "one", appStore: {offerId: "one"}, eligibility: \(rule)}]}]}]}
            """
        let path = try directory.write(Array(file.utf8), to: "offers")
        do throws(ConfigurationError) {
            let catalog = try CatalogFile.read(path)
            #expect(catalog.offers[0].policy.rule != nil)
        } catch {
            Issue.record("\(rule): \(error.issues)")
        }
    }
}
