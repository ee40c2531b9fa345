// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing

extension EndToEnd {
    /// Transfers between customers, with the service killed amid them.
    @Suite struct CustomerTransferTests {
        private static let rounds = 10
        /// What the rule admits each customer in a year.
        private static let cap = 3

        @Test func `a transfer that was answered survives kill -9, and so does the cap over both names`() async throws {
            let demo = try await DemoFolder()
            try demo.lowerCap()
            let asker = Asker()
            var port: UInt16 = 0
            for round in 1...Self.rounds {
                let service = try await RunningService(demo, port: port)
                port = service.port
                async let first: Void = onThread { asker.askUntilKilled(service) }
                async let second: Void = onThread { asker.askUntilKilled(service) }
                try? await eventually("transfers are answered") { asker.answered.transfers.count > 2 * round }
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...300)))
                service.process.send(SIGKILL)
                #expect(try await service.process.waitForEnd() == .killed(bySignal: SIGKILL))
                _ = await (first, second)
            }
            let (transfers, grants) = asker.answered
            #expect(transfers.count > 2 * Self.rounds, "too few to show anything")

            let last = try await RunningService(demo, port: port)
            for (number, answer) in transfers {
                let again = try Asker.transfer(number, last)
                #expect(again == answer.replacingOccurrences(of: "false", with: "true"))
                #expect(grants[number, default: 0] <= Self.cap)
                for _ in 0..<Self.cap { for name in Asker.names(number) { _ = try Asker.sign(name, last) } }
            }
            #expect(try await last.stop() == .exited(0))
            let recorded = try await grantsOfPairs(demo)
            #expect(recorded.count >= transfers.count)
            #expect(recorded.filter { $0 > Self.cap }.isEmpty)
            #expect(recorded.count { $0 == Self.cap } >= transfers.count, "refused too early: \(recorded)")
        }

        /// How many grants are on record for the two names of each transfer.
        private func grantsOfPairs(_ demo: DemoFolder) async throws -> [Int] {
            let outcome = try await Program.run(["audit", "export", "--database", demo.location])
            var grants: [String: Int] = [:]
            var pairs: [(String, String)] = []
            for line in outcome.output.split(separator: "\n") {
                let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                if let from = json?["from"] as? String, let to = json?["to"] as? String { pairs.append((from, to)) }
                guard json?["ev"] as? String == "sign.intent" else { continue }
                for user in json?["users"] as? [String] ?? [] { grants[user, default: 0] += 1 }
            }
            return pairs.map { grants[$0, default: 0] + grants[$1, default: 0] }
        }
    }
}

/// Transfers customers, and asks for offers under both names of each.
private final class Asker: Sendable {
    /// What was answered, by the number of the customer.
    private struct State {
        /// The body of the first answer.
        var transfers: [Int: String] = [:]
        var grants: [Int: Int] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    var answered: (transfers: [Int: String], grants: [Int: Int]) { state.withLock { ($0.transfers, $0.grants) } }

    func askUntilKilled(_ service: RunningService) {
        while true {
            let number = state.withLock { state in
                state.next += 1
                return state.next
            }
            guard let body = try? Self.transfer(number, service) else { return }
            state.withLock { $0.transfers[number] = body }
            for name in Self.names(number) + Self.names(number).reversed() {
                guard let isGranted = try? Self.sign(name, service) else { return }
                if isGranted { state.withLock { $0.grants[number, default: 0] += 1 } }
            }
        }
    }

    static func names(_ number: Int) -> [String] {
        [#""anonymousId": "Device-\#(number)""#, #""customerId": "customer-\#(number)""#]
    }

    static func transfer(_ number: Int, _ service: RunningService) throws -> String {
        let body = """
            {"bundleId": "\(DemoFolder.bundle)", "from": {"anonymousId": "device-\(number)"},
             "to": {"customerId": "customer-\(number)"}}
            """
        let path = "/v1/customers/transfers"
        let answer = try service.ask(path, method: "POST", body: body, apiKey: service.demo.apiKey)
        guard answer.status == 200 else { throw ChildProcess.Failure("\(answer)") }
        return answer.body
    }

    static func sign(_ name: String, _ service: RunningService) throws -> Bool {
        let answer = try service.sign(
            """
            {"bundleId": "\(DemoFolder.bundle)", "productId": "\(DemoFolder.product)", "offerId": "winback_3m",
             \(name), "facts": {"status": "expired", "expiresAt": "2026-01-01T00:00:00Z"}}
            """
        )
        guard [200, 403].contains(answer.status) else { throw ChildProcess.Failure("\(answer)") }
        return answer.status == 200
    }
}

/// Does what blocks, on a thread that is not one of Swift's shared pool.
private func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            body()
            continuation.resume()
        }
    }
}
