// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The witness in these tests is a real one: it signs what grew and nothing else.
    @Suite(.ring(.check)) struct FakeWitnessTests {
        @Test func `a witness cosigns each step of a log, and Go accepts its line`() async throws {
            let log = try await SampleLog(size: 33, history: [1, 2, 3, 5, 8, 16, 17, 31, 33])
            let witness = try FakeWitness()
            try witness.trust(log.verifierKey)
            for submission in log.submissions {
                #expect(try post(log.text("submissions/\(submission)"), to: witness).status == 200, "\(submission)")
            }
            let state = try witness.state(of: "example.com/audit")
            #expect(state.size == 33)
            #expect(state.cosigned == [1, 2, 3, 5, 8, 16, 17, 31, 33])
            let note = log.text("history/33")
            let line = try post("old 33\n\n\(note)", to: witness).body
            // The sample has a line of another witness, which this one's follows.
            let path = try log.folder.write(Array((note + line).utf8), to: "cosigned")
            let words = ["checkpoint", "--vkey", log.verifierKey, "--witness", witness.verifierKey, path]
            let verdict = try await LogVerifier.run(words)
            #expect(verdict.succeeded, "\(verdict)")
            #expect(verdict.output.contains("cosigned by witness.example/w1"))

            try witness.behave(.forged)
            let broken = try post("old 33\n\n\(note)", to: witness).body
            try FileManager.default.removeItem(atPath: path)
            try log.folder.write(Array((note + broken).utf8), to: "cosigned")
            #expect(try await LogVerifier.run(words).end == .exited(1))
        }

        @Test func `a witness refuses what did not grow, as the protocol says`() async throws {
            let log = try await SampleLog(size: 33, history: [8, 17, 33])
            let fork = try await SampleLog(
                size: 33,
                history: [8, 17, 33],
                options: ["--from", log.folder.path, "--fork", "9"]
            )
            let stranger = try await SampleLog(size: 33, history: [8, 17], options: ["--origin", "example.com/other"])
            let witness = try FakeWitness()
            try witness.trust(log.verifierKey)
            #expect(try post(stranger.text("submissions/0-8"), to: witness).status == 404)
            #expect(try post(log.text("submissions/8-17"), to: witness).status == 409)
            for name in ["0-8", "8-17"] {
                #expect(try post(log.text("submissions/\(name)"), to: witness).status == 200)
            }

            let rollback = try post(log.text("submissions/0-8"), to: witness)
            #expect(rollback.status == 409)
            #expect(rollback.headers["content-type"] == "text/x.tlog.size")
            #expect(rollback.body == "17\n")
            #expect(try post("old 17\n\n" + log.text("history/8"), to: witness).status == 400)
            // The fork begins after 8: it has the right proofs, for another log of 17 entries.
            #expect(try post(fork.text("submissions/17-33"), to: witness).status == 422)
            #expect(try post("old 17\n\n" + fork.text("history/17"), to: witness).status == 409)
            let unsigned = log.text("submissions/17-33").replacing("\n33\n", with: "\n32\n")
            #expect(try post(unsigned, to: witness).status == 403)
            #expect(try post("", to: witness).status == 400)
            #expect(try witness.state(of: "example.com/audit").size == 17)
            #expect(try post(log.text("submissions/17-33"), to: witness).status == 200)
        }

        private func post(_ body: String, to witness: FakeWitness) throws -> RawHTTPClient.Answer {
            let url = try #require(URL(string: witness.url + "/add-checkpoint"))
            let port = try #require(url.port.flatMap { UInt16(exactly: $0) })
            let client = try RawHTTPClient(port: port, patience: 60)
            client.send(
                "POST \(url.path) HTTP/1.1\r\nHost: witness\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            return try client.readAnswer()
        }
    }
}

/// A log that the service did not write.
private struct SampleLog {
    let folder: TemporaryDirectory
    let submissions: [String]

    init(size: Int, history: [Int], options: [String] = []) async throws {
        folder = try TemporaryDirectory()
        submissions = zip([0] + history, history).map { "\($0)-\($1)" }
        let sizes = history.map(String.init).joined(separator: ",")
        let outcome = try await runProcess(
            [Program.python, "-B", "\(LogVerifier.folder)/write_log.py", folder.path, "\(size)", "--history", sizes]
                + options
        )
        guard outcome.succeeded else { throw ChildProcess.Failure("\(outcome)") }
    }

    func text(_ name: String) -> String { textOfFile(folder.path(of: name)) }

    var verifierKey: String { text("vkey") }
}
