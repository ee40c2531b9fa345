// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `offer-signer verify`: what is what in a saved answer.
    @Suite struct VerifyCommandTests {
        /// An example, and one answer of its service in a file.
        private struct Place {
            let demo: DemoFolder
            let answer: String

            init(formats: String = #"["v1", "jws"]"#) async throws {
                demo = try await DemoFolder()
                try demo.edit("request.json", replacing: #"["v1", "jws"]"#, with: formats)
                let service = try await RunningService(demo)
                answer = try service.sign(demo.text(of: "request.json")).body
                _ = try await service.stop()
            }

            func verify(_ text: String, _ options: String...) async throws -> ProcessOutcome {
                try demo.write(text, to: "answer.json")
                return try await Program.run(["verify", demo.path(of: "answer.json")] + options)
            }
        }

        @Test func `both signatures are good by the public key, the key ring and the log`() async throws {
            let place = try await Place()
            let byKey = try await place.verify(place.answer, "--public-key", place.demo.publicKey)
            #expect(
                byKey.succeeded && byKey.output.contains("V1 signature: good") && byKey.output.contains("JWS: good")
            )
            let head = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
            let withHead = try await place.verify(head + place.answer, "--public-key", place.demo.publicKey)
            #expect(withHead.output == byKey.output, "curl -i: \(withHead)")
            try place.demo.write(place.answer, to: "answer.json")
            let byRing = try await Program.run(["verify", place.demo.path(of: "answer.json")] + place.demo.options())
            #expect(byRing.succeeded, "\(byRing)")
            #expect(byRing.output.matches(of: /on record as entry/).count == 2, "\(byRing)")
            let byLog = try await Program.run(
                ["verify", place.demo.path(of: "answer.json")] + place.demo.databaseOptions()
            )
            #expect(byLog.succeeded && byLog.output.contains("on record as entry"), "\(byLog)")
        }

        @Test func `a V1 signature alone is completed from the catalog, the log or the options`() async throws {
            let place = try await Place(formats: #"["v1"]"#)
            #expect(try await !place.verify(place.answer, "--public-key", place.demo.publicKey).succeeded)
            try place.demo.write(place.answer, to: "answer.json")
            let options = Array(place.demo.options().prefix(4))
            #expect(try await Program.run(["verify", place.demo.path(of: "answer.json")] + options).succeeded)
            let named = ["--bundle-id", DemoFolder.bundle, "--product-id", DemoFolder.product]
            let key = ["--public-key", place.demo.publicKey]
            #expect(try await Program.run(["verify", place.demo.path(of: "answer.json")] + key + named).succeeded)
            let other = ["--bundle-id", "com.example.other", "--product-id", DemoFolder.product]
            let wrong = try await Program.run(["verify", place.demo.path(of: "answer.json")] + key + other)
            #expect(wrong.end == .exited(1) && wrong.output.contains("V1 signature: BAD"), "\(wrong)")
        }

        @Test func `a changed field and a strange key are bad, and a refusal is called one`() async throws {
            let place = try await Place()
            let changed = place.answer.replacingOccurrences(of: #""winback_3m""#, with: #""winback_4m""#)
            let bad = try await place.verify(changed, "--public-key", place.demo.publicKey)
            #expect(bad.end == .exited(1))
            #expect(bad.output.contains("V1 signature: BAD") && bad.output.contains("JWS: good"), "\(bad)")
            let stranger = try place.demo.directory.write(
                try KeyTool.openssl("pkey", "-pubout", input: try KeyTool.makeKey()),
                to: "stranger.pem"
            )
            #expect(try await place.verify(place.answer, "--public-key", stranger).end == .exited(1))
            let refusal = #"{"type":"/problems/sealed","title":"The service is sealed","status":503,"detail":"No."}"#
            let refused = try await place.verify(refusal, "--public-key", place.demo.publicKey)
            #expect(refused.end == .exited(1) && refused.output.contains("nothing is signed"), "\(refused)")
        }

        @Test func `it reads standard input, a JWS alone, and nothing without a key`() async throws {
            let place = try await Place()
            let pipe = #"printf '%s' "$1" | "$0" verify --public-key "$2""#
            let piped = try await runProcess(["sh", "-c", pipe, Program.path, place.answer, place.demo.publicKey])
            #expect(piped.succeeded, "\(piped)")
            let jws = try #require(place.answer.firstMatch(of: /"jws":"([^"]+)"/)?.1)
            #expect(try await place.verify(String(jws), "--public-key", place.demo.publicKey).succeeded)
            let keyless = try await place.verify(place.answer)
            #expect(keyless.end == .exited(1) && keyless.errors.contains("--public-key FILE"), "\(keyless)")
            #expect(try await place.verify("{}", "--public-key", place.demo.publicKey).errors.contains("whole body"))
        }
    }
}
