// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

extension EndToEnd {
    /// `offer-signer migrate`, from one engine into the other and back.
    @Suite struct MigrateCommandTests {
        @Test(.aboutPostgreSQL)
        func `a history moves to a file and back to a server; caps hold, and the same log goes on`() async throws {
            let demo = try await DemoFolder()
            try demo.lowerCap()
            let body = demo.text(of: "request.json")
            let before = try await RunningService(demo)
            #expect(try (0..<3).map { _ in try before.sign(body).status } == [200, 200, 200])
            #expect(try await before.stop() == .exited(0))

            let (file, back) = ("sqlite:" + demo.directory.path(of: "moved.db"), demo.directory.database("back.db"))
            for (from, to) in [(demo.location, file), (file, back)] {
                let outcome = try await Program.run(["migrate", "--from", from, "--to", to])
                #expect(outcome.succeeded && outcome.output.contains("have the same root as before"), "\(outcome)")
            }
            let mixed = try await Program.run(["migrate", "--from", file, "--to", back])
            #expect(mixed.end == .exited(3) && mixed.errors.contains("was moved into another one"), "\(mixed)")

            let after = try await RunningService(demo, database: "back.db")
            #expect(try after.sign(body).status == 403)
            #expect(try after.sign(demo.request(customer: "after")).status == 200)
            let used = try await Program.run(["migrate", "--from", back, "--to", demo.directory.database("third.db")])
            #expect(used.end == .exited(3), "\(used)")
            #expect(try await after.stop() == .exited(0))
            let verdict = try await Program.run(["audit", "verify"] + demo.options(database: "back.db"))
            #expect(verdict.succeeded, "\(verdict)")
            let events = try await Program.check("events", back).output.split(separator: "\n")
            #expect(events.count { $0 == "ledger.moved" } == 2 && events.count { $0 == "sign.intent" } == 8)
        }
    }
}
