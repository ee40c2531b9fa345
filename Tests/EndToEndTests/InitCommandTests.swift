// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// From a key that App Store Connect handed out to a signature for an own offer, with no file edited by hand.
    @Suite(.aboutSQLite) struct InitCommandTests {
        /// A folder with a downloaded key, readable by all users as browsers leave it.
        private struct Place {
            let directory: TemporaryDirectory
            let key: String

            init(name: String = "SubscriptionKey_7H2K9QXW4Z.p8") throws {
                directory = try TemporaryDirectory()
                key = try directory.write(try KeyTool.makeKey(), to: name)
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
            }

            var target: String { directory.path(of: "offers") }

            func run(_ more: String..., key: String? = nil) async throws -> ProcessOutcome {
                try await Program.run(
                    [
                        "init", "--p8", key ?? self.key, "--issuer", "6a1b7e02-93d5-4c1e-8f2a-0d5c3b4a2e19", "--bundle",
                        "com.acme.notes", "--app-id", "6449011111", "--product", "com.acme.notes.monthly", "--group",
                        "21300001", "--offer", "back again", "--directory", target,
                    ] + more
                )
            }

            func text(_ name: String) -> String { textOfFile("\(target)/\(name)") }

            func mode(_ name: String) throws -> Int {
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(target)/\(name)")
                return try #require(attributes[.posixPermissions] as? Int)
            }
        }

        @Test func `one command leads from a key to a configuration that serves and signs`() async throws {
            let place = try Place()
            let outcome = try await place.run("--listen", ":18443")
            #expect(outcome.succeeded, "\(outcome)")
            for name in [
                "SubscriptionKey_7H2K9QXW4Z.p8", "customer-ids.key", "audit-log.key", "api-key", "keys", "offers",
            ] {
                #expect(try place.mode(name) == 0o600, "\(name)")
            }
            #expect(place.text("keys").contains(#"id: "7H2K9QXW4Z""#))
            #expect(place.text("keys").contains(#/publicKeySha256: "[0-9a-f]{64}"/#))
            #expect(place.text("keys").contains(#"origin: "notes.acme.com/offer-signer""#))
            #expect(outcome.output.contains("1 key, 1 active"), "check has run: \(outcome.output)")
            #expect(
                outcome.output.contains("curl -sS http://127.0.0.1:18443/v1/app-store/promotional-offers/signatures")
            )
            #expect(outcome.output.contains("The API key is in \(place.target)/api-key"))
            try await signsAndVerifies(place, outcome.output)
        }

        /// Runs the command that is printed, on another port, asks, and verifies what comes.
        private func signsAndVerifies(_ place: Place, _ guide: String) async throws {
            let line = try #require(guide.split(separator: "\n").first { $0.contains(" serve ") })
            let words = line.split(separator: " ").dropFirst().map {
                $0.replacingOccurrences(of: "0.0.0.0:18443", with: "127.0.0.1:0")
            }
            let log = place.directory.path(of: "log")
            let service = try ChildProcess(
                [Program.path] + words,
                environment: ownEnvironment(),
                output: place.directory.path(of: "output"),
                errors: log
            )
            var port: UInt16 = 0
            try await eventually("it listens") {
                let match = textOfFile(log).firstMatch(of: /"message":"listening".*"port":([0-9]+)/)
                port = match.flatMap { UInt16($0.1) } ?? 0
                return port != 0
            }
            let client = try RawHTTPClient(port: port, patience: 60)
            client.send(
                RunningService.text(
                    "POST",
                    RunningService.signatures,
                    body: place.text("request.json"),
                    apiKey: place.text("api-key")
                )
            )
            let answer = try client.readAnswer()
            #expect(answer.status == 200, "\(answer.body)")
            let saved = try place.directory.write(Array(answer.body.utf8), to: "answer.json")
            let verified = try await Program.run(["verify", saved, "--public-key", "\(place.target)/public-key.pem"])
            #expect(verified.succeeded && verified.output.contains("V1 signature: good"), "\(verified)")
            service.send(SIGTERM)
            _ = try await service.waitForEnd()
        }

        @Test func `nothing that is there is overwritten, and nothing is written then`() async throws {
            let place = try Place()
            #expect(try await place.run().succeeded)
            let before = place.text("keys")
            let again = try await place.run()
            #expect(again.end == .exited(1) && again.errors.contains("/keys already exists"), "\(again)")
            #expect(place.text("keys") == before)

            let other = try Place()
            try FileManager.default.createDirectory(atPath: other.target, withIntermediateDirectories: false)
            try other.directory.write(Array("mine".utf8), to: "offers/request.json")
            #expect(try await other.run().end == .exited(1))
            #expect(try FileManager.default.contentsOfDirectory(atPath: other.target) == ["request.json"])
        }

        @Test func `refuses a key id that contradicts the file's name, and reports a missing file first`()
            async throws
        {
            let place = try Place()
            let other = try await place.run("--key-id", "AAAAAAAAAA")
            #expect(other.end == .exited(2), "\(other)")
            #expect(other.errors.contains("AAAAAAAAAA was given") && other.errors.contains("has the id 7H2K9QXW4Z"))
            #expect(!FileManager.default.fileExists(atPath: place.target))
            #expect(try await place.run("--key-id", "7H2K9QXW4Z").succeeded)
            let missing = try await Place().run(key: "nowhere.p8")
            #expect(missing.end == .exited(1) && missing.errors.contains("--p8: nowhere.p8 is not there"), "\(missing)")
            let home = try await Place().run(key: "~/SubscriptionKey_7H2K9QXW4Z.p8")
            #expect(home.errors.contains("expands ~"), "\(home)")
        }

        @Test func `a key that lies there already is used where it is, and made private`() async throws {
            let place = try Place()
            try FileManager.default.createDirectory(atPath: place.target, withIntermediateDirectories: false)
            let inPlace = "\(place.target)/SubscriptionKey_7H2K9QXW4Z.p8"
            try FileManager.default.moveItem(atPath: place.key, toPath: inPlace)
            let outcome = try await place.run(key: inPlace)
            #expect(outcome.succeeded, "\(outcome)")
            #expect(try place.mode("SubscriptionKey_7H2K9QXW4Z.p8") == 0o600)
        }

        @Test func `lists everything that is missing when it can't ask the user`() async throws {
            let outcome = try await Program.run(["init", "--bundle", "com.acme.notes"])
            #expect(outcome.end == .exited(2))
            #expect(outcome.errors.contains("--p8, --issuer, --product, --group, --offer are missing"), "\(outcome)")
        }

        @Test(arguments: [
            ("AuthKey_7H2K9QXW4Z.p8", "In-App Purchase key"), ("key.p8", "--key-id"),
            ("SubscriptionKey_short.p8", "--key-id"),
        ])
        func `a name that does not tell the key id is refused with what helps`(name: String, help: String) async throws
        {
            let place = try Place(name: name)
            let outcome = try await place.run()
            #expect(outcome.end == .exited(2) && outcome.errors.contains(help), "\(outcome)")
            let named = try await place.run("--key-id", "7H2K9QXW4Z")
            #expect(named.succeeded, "\(named)")
        }

        @Test func `a file that is no key leaves nothing behind`() async throws {
            let place = try Place()
            try place.directory.write(Array("no key\n".utf8), to: "SubscriptionKey_7H2K9QXW4Z.p8")
            let outcome = try await place.run()
            #expect(outcome.end == .exited(1) && outcome.errors.contains("PRIVATE KEY"), "\(outcome)")
            #expect(!FileManager.default.fileExists(atPath: place.target))
        }
    }
}
