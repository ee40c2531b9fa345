// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// How the service ends.
    @Suite struct StopTests {
        @Test(arguments: [SIGTERM, SIGINT])
        func `requests in flight are answered before the service ends`(_ signal: Int32) async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            // Another process holds the write lock, so that requests wait for their commit.
            let release = demo.directory.path(of: "release")
            let holder = try ChildProcess(
                [Program.python, "-B", Program.checker("hold_writers"), demo.location, release],
                environment: ownEnvironment(),
                output: demo.directory.path(of: "holder")
            )
            try await eventually("the lock is held") { textOfFile(demo.directory.path(of: "holder")) == "held\n" }
            var clients: [RawHTTPClient] = []
            try await eventually("requests wait") {
                // Of those that come one after the other, the first are held up with their batch, the others wait for the next.
                let client = try RawHTTPClient(port: service.port, patience: 60)
                let body = demo.request(customer: "waiting-\(clients.count)")
                client.send(
                    RunningService.text("POST", RunningService.signatures, body: body, apiKey: demo.apiKey)
                )
                clients.append(client)
                let page = try service.ask("/metrics").body
                return page.contains(/\noffer_signer_waiting_requests [1-9]/)
            }
            try await Task.sleep(for: .milliseconds(500))
            service.process.send(signal)
            try await Task.sleep(for: .milliseconds(300))
            #expect(service.process.ended == nil)
            #expect(clients.allSatisfy { !$0.hasInput })
            try Data().write(to: URL(filePath: release))
            for client in clients { #expect(try client.readAnswer().status == 200) }
            #expect(try await service.process.waitForEnd() == .exited(0))
            #expect(try await holder.waitForEnd() == .exited(0))
            let last = try await Program.run(["audit", "query", "--database", demo.location])
            #expect(last.output.split(separator: "\n").last?.contains(#""ev":"service.stop""#) == true, "\(last)")
        }

        @Test func `no answer is cut off when the service ends under load`() async throws {
            let demo = try await DemoFolder()
            try demo.liftBudget()
            let load = try Load(demo)
            for _ in 0..<5 {
                let service = try await RunningService(demo)
                try Load.aim(at: service)
                let before = Load.delivered(to: demo)
                try await eventually("signatures are made") { Load.delivered(to: demo) > before + 20 }
                let end = try await service.stop()
                #expect(end == .exited(0), "\(service.log.suffix(2000))")
            }
            let counts = try await load.stop()
            // A client may write to a connection that is just being closed; half an answer it never gets.
            #expect(counts["no answer: IncompleteRead"] == nil, "\(counts)")
            #expect(counts["no answer: JSONDecodeError"] == nil, "\(counts)")
            let verdict = try await Load.checkRecords(of: demo)
            #expect(verdict.succeeded, "\(verdict)")
            // Every grant on record was delivered: an orderly end loses none.
            let numbers = verdict.output.split(whereSeparator: \.isWhitespace)
            #expect(numbers.count == 2 && numbers[0] == numbers[1], "\(verdict)")
        }

        @Test(.aboutSQLite) func `a second service on the same database is refused`() async throws {
            let demo = try await DemoFolder()
            let first = try await RunningService(demo)
            let second = try await Program.run(["serve", "--listen", "127.0.0.1:0"] + demo.options())
            #expect(second.end == .exited(3), "\(second)")
            #expect(second.errors.contains("\(first.process.id)"), "\(second)")
            #expect(try first.sign(demo.text(of: "request.json")).status == 200)

            // The lock goes with the process, however that ends.
            first.process.send(SIGKILL)
            _ = try await first.process.waitForEnd()
            let third = try await RunningService(demo)
            #expect(try await third.stop() == .exited(0))
        }
    }
}
