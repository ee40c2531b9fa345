// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The way of a newcomer: write the example, start it, paste the command.
    @Suite struct FirstSignatureTests {
        /// The command that the guide prints, from `curl` to the line that does not go on.
        private func curl(in guide: String) -> String {
            let lines = guide.split(separator: "\n", omittingEmptySubsequences: false)
            let first = lines.firstIndex { $0.hasPrefix("curl ") } ?? lines.endIndex
            let last = lines[first...].firstIndex { !$0.hasSuffix("\\") } ?? lines.endIndex - 1
            return lines[first...last].joined(separator: "\n").replacingOccurrences(of: " | tee answer.json", with: "")
        }

        @Test func `the printed command gives signatures that openssl and PyJWT accept`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            let command = curl(in: demo.guide).replacingOccurrences(
                of: "http://127.0.0.1:8080/",
                with: "http://127.0.0.1:\(service.port)/"
            )
            let answer = try await runProcess([
                "sh", "-c", command + " -o \(demo.path(of: "answer")) -w '%{http_code}'",
            ])
            #expect(answer.output == "200", "\(answer) \(demo.text(of: "answer"))")
            let verdict = try await check(demo, demo.publicKey)
            #expect(verdict.succeeded, "\(verdict)")
            #expect(demo.text(of: "answer").contains(#""appAccountToken":"7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60""#))

            // The checker can say no: with another key, neither signature is good.
            let stranger = try demo.directory.write(
                try KeyTool.openssl("pkey", "-pubout", input: try KeyTool.makeKey()),
                to: "stranger.pem"
            )
            #expect(try await check(demo, stranger).end == .exited(1))
        }

        private func check(_ demo: DemoFolder, _ publicKey: String) async throws -> ProcessOutcome {
            try await Program.check(
                "signature",
                demo.path(of: "answer"),
                publicKey,
                DemoFolder.bundle,
                DemoFolder.product,
                "winback_3m",
                "ABC123DEFG",
                "57246542-96fe-1a63-e053-0824d011072a"
            )
        }

        @Test func `the example admits a hundred requests, and then says by which names it counted`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            let body = demo.text(of: "request.json")
            let replies = try (0..<101).map { _ in try service.sign(body) }
            #expect(replies.map(\.status) == Array(repeating: 200, count: 100) + [403])
            #expect(replies.last?.body.contains(#""countedBy":["appAccountToken","originalTransactionId"]"#) == true)
        }

        @Test func `the command saves the answer for verify`() async throws {
            let demo = try await DemoFolder()
            #expect(demo.guide.contains("-d @\(demo.path(of: "request.json")) | tee answer.json\n"))
            #expect(demo.guide.contains("verify answer.json --public-key \(demo.publicKey)"))
        }

        @Test func `the example lies in demo unless another folder is named, and names the port that is set`()
            async throws
        {
            let directory = try TemporaryDirectory()
            let script = #"cd "$0" && OFFER_SIGNER_LISTEN=:18080 "$1" demo"#
            let outcome = try await runProcess(["sh", "-c", script, directory.path, Program.path])
            #expect(outcome.succeeded && outcome.output.contains("curl -sS http://127.0.0.1:18080/v1/"), "\(outcome)")
            #expect(FileManager.default.fileExists(atPath: directory.path(of: "demo/request.json")))
        }

        @Test(.aboutSQLite) func `an example that is there already is left as it is, and is whole`() async throws {
            let demo = try await DemoFolder()
            let key = demo.text(of: "SubscriptionKey_ABC123DEFG.p8")
            let again = try await Program.run(["demo", demo.path])
            #expect(again.succeeded)
            #expect(demo.text(of: "SubscriptionKey_ABC123DEFG.p8") == key)
            try FileManager.default.removeItem(atPath: demo.database)
            let half = try await Program.run(["demo", demo.path])
            #expect(half.end == .exited(1) && half.output.isEmpty, "\(half)")
            #expect(half.errors.contains("\(demo.database) is missing"), "\(half)")
        }

        @Test func `nothing is written into a folder where a file is in the way`() async throws {
            let directory = try TemporaryDirectory()
            let folder = directory.path(of: "mine")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try directory.write(Array("mine\n".utf8), to: "mine/keys")
            let outcome = try await Program.run(["demo", folder])
            #expect(
                outcome.end == .exited(1) && outcome.errors.contains("\(folder)/keys already exists"),
                "\(outcome)"
            )
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["keys"])
        }

        @Test func `what the guide prints can be pasted where the folder's name has spaces`() async throws {
            let directory = try TemporaryDirectory()
            let folder = directory.path(of: "my 'first' demo")
            let guide = try await Program.run(["demo", folder])
            #expect(guide.succeeded, "\(guide)")
            // A curl that only says what it was given.
            let script = "curl() { printf '%s\n' \"$@\"; }\n" + curl(in: guide.output)
            let words = try await runProcess(["sh", "-c", script]).output.split(separator: "\n").map(String.init)
            #expect(words.contains("Authorization: Bearer \(textOfFile(folder + "/api-key"))"), "\(words)")
            #expect(words.last == "@\(folder)/request.json")
            #expect(guide.output.contains(#"--keys '"# + folder.replacing("'", with: #"'\''"#) + "/keys'"))
        }
    }
}
