// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// SIGHUP: everything new is checked first, then it comes into force whole.
    @Suite struct ReloadTests {
        private func policy(_ service: RunningService) throws -> Substring {
            let answer = try service.sign(service.demo.request(customer: UUID().uuidString))
            guard let match = answer.body.firstMatch(of: /"policy":"(sha256:[0-9a-f]{64})"/) else {
                throw ChildProcess.Failure("no policy in \(answer)")
            }
            return match.1
        }

        @Test func `a good catalog comes into force, a bad one does not`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            let first = try policy(service)
            try demo.edit("offers", replacing: "atLeastDays: 30", with: "atLeastDays: 31")
            try await service.reload()
            let second = try policy(service)
            #expect(second != first)

            try demo.edit("offers", replacing: "lapsed: {", with: "lapsd: {")
            try await service.reload()
            #expect(try policy(service) == second)
            let complaint = service.log.split(separator: "\n").first { $0.contains("lapsd") }
            #expect(complaint?.contains("did you mean") == true, "\(service.log)")
            #expect(complaint?.contains("/apps/0/plans/0/offers/0/eligibility/all/1") == true)
            #expect(service.log.contains("reload refused; what was in force stays in force"))
            let ready = try service.ask("/health/ready")
            #expect(ready.status == 200 && ready.body.contains(#"{"name":"reload-refused","detail":"the reload at "#))
            #expect(ready.body.contains("was refused because of offers, and"), "\(ready)")

            try demo.edit("offers", replacing: "lapsd: {", with: "lapsed: {")
            try await service.reload()
            #expect(try !service.ask("/health/ready").body.contains("reload-refused"))
            #expect(try await service.stop() == .exited(0))
        }

        @Test(arguments: BadReload.all)
        func `a bad file leaves everything as it was`(_ row: BadReload) async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            let before = try policy(service)
            // The catalog is good and new: it must not come into force without the keys.
            try demo.edit("offers", replacing: "atLeastDays: 30", with: "atLeastDays: 31")
            try row.spoil(demo)
            try await service.reload()
            #expect(try policy(service) == before)
            #expect(service.log.contains(row.reason), "\(service.log)")
            #expect(service.log.contains("reload refused"))
            #expect(try service.ask("/metrics").body.contains(#"reloads_total{result="refused"} 1"#))
        }

        @Test func `logs at once that no key can sign`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            #expect(!service.log.contains("not all is ready"), "\(service.log)")
            try demo.edit("keys", replacing: #"status: "active""#, with: #"status: "retiring""#)
            try await service.reload()
            try await eventually("the log says so") {
                service.log.split(separator: "\n").contains { line in
                    ["warning", "not all is ready", "key-unavailable"].allSatisfy { line.contains($0) }
                }
            }
            #expect(try await service.stop() == .exited(0))
        }

        @Test func `a storm of reloads fails no request`() async throws {
            let demo = try await DemoFolder()
            try demo.liftBudget()
            let service = try await RunningService(demo)
            let load = try Load(demo)
            try Load.aim(at: service)
            try await eventually("signatures are made") { Load.delivered(to: demo) > 20 }
            for round in 0..<30 {
                if round % 3 == 2 { try demo.write(demo.text(of: "offers") + "\n// \(round)\n", to: "offers") }
                service.process.send(SIGHUP)
                try await Task.sleep(for: .milliseconds(50))
            }
            try await service.reload()
            let counts = try await load.stop()
            #expect(Array(counts.keys) == ["200"], "\(counts)")
            #expect(try await service.stop() == .exited(0))
            let verdict = try await Load.checkRecords(of: demo)
            #expect(verdict.succeeded, "\(verdict)")
        }

        @Test func `a key is rotated without a failed request`() async throws {
            let demo = try await DemoFolder()
            try demo.liftBudget()
            let service = try await RunningService(demo)
            let load = try Load(demo)
            try Load.aim(at: service)
            try await eventually("signatures are made") { Load.delivered(to: demo) > 20 }
            let publicKey = try demo.rotateKey(to: "NEW123DEFG")
            try await service.reload()
            let answer = try service.sign(demo.text(of: "request.json"))
            #expect(answer.body.contains(#""keyIdentifier":"NEW123DEFG""#), "\(answer)")
            try demo.write(answer.body, to: "answer")
            let verdict = try await Program.check(
                "signature",
                demo.path(of: "answer"),
                publicKey,
                DemoFolder.bundle,
                DemoFolder.product,
                "winback_3m",
                "NEW123DEFG",
                "57246542-96fe-1a63-e053-0824d011072a"
            )
            #expect(verdict.succeeded, "\(verdict)")
            let counts = try await load.stop()
            #expect(Array(counts.keys) == ["200"], "\(counts)")
            let keys = Set(textOfFile(Load.deliveries(of: demo)).matches(of: /"keyIdentifier": "(\w+)"/).map(\.1))
            #expect(keys == ["ABC123DEFG", "NEW123DEFG"])
            let list = try await Program.run(["keys", "list"] + demo.options())
            #expect(list.output.contains("ABC123DEFG  retiring"), "\(list)")
            #expect(list.output.contains("NEW123DEFG  active"))
        }
    }
}

/// A way to spoil a configuration, and what the log says of it.
struct BadReload: CustomTestStringConvertible {
    let testDescription: String
    let reason: String
    let spoil: @Sendable (DemoFolder) throws -> Void

    static let all = [
        BadReload(testDescription: "the key is readable by others", reason: "/keys/0/file") { demo in
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: demo.privateKey)
        },
        BadReload(testDescription: "the key is gone", reason: "/keys/0/file") { demo in
            try FileManager.default.removeItem(atPath: demo.privateKey)
        },
        BadReload(testDescription: "the key is on another curve", reason: "/keys/0/file") { demo in
            try demo.directory.write(try KeyTool.makeKey(curve: "P-384"), to: "demo/SubscriptionKey_ABC123DEFG.p8")
        },
        BadReload(testDescription: "the keys file is no JSON5", reason: "keys:") { demo in
            try demo.write("{ keys: [", to: "keys")
        },
        BadReload(testDescription: "the offers file is gone", reason: "offers") { demo in
            try FileManager.default.removeItem(atPath: demo.path(of: "offers"))
        },
    ]
}

extension DemoFolder {
    /// Adds a fresh key that signs from the next reload on, and lets the first one retire.
    ///
    /// - Returns: The path of the new public key.
    func rotateKey(to id: String) throws -> String {
        let key = try KeyTool.makeKey()
        try directory.write(key, to: "demo/SubscriptionKey_\(id).p8")
        try edit("keys", replacing: #"status: "active""#, with: #"status: "retiring""#)
        try edit(
            "keys",
            replacing: "keys: [",
            with: """
                keys: [
                    {
                      id: "\(id)", issuerId: "57246542-96fe-1a63-e053-0824d011072a",
                      file: "SubscriptionKey_\(id).p8", bundleIds: ["com.example.app"], status: "active",
                    },
                """
        )
        return try directory.write(try KeyTool.openssl("pkey", "-pubout", input: key), to: "demo/\(id).pem")
    }
}
