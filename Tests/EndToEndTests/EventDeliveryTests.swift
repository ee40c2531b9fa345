// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// A receiver of webhooks as a process of its own; killed, at the latest, when the test lets go of it.
private final class WebhookReceiver: Sendable {
    static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// A message that was taken.
    struct Message: Decodable {
        let path: String
        let id, type, token: String?
        let index: Int?
        let customers: [String]?
        let body: String
    }

    let port: UInt16
    private let process: ChildProcess
    private let recordPath: String

    init(_ demo: DemoFolder) async throws {
        let portPath = demo.directory.path(of: "receiver-port")
        recordPath = demo.directory.path(of: "received")
        process = try ChildProcess(
            ["/usr/bin/env", "python3", Program.checker("webhook_receiver"), portPath, recordPath, Self.secret],
            environment: ownEnvironment(),
            errors: demo.directory.path(of: "receiver-errors")
        )
        try await eventually("the receiver listens") { !textOfFile(portPath).isEmpty }
        port = UInt16(textOfFile(portPath)) ?? 0
    }

    var messages: [Message] {
        get throws {
            try textOfFile(recordPath).split(separator: "\n").map {
                try JSONDecoder().decode(Message.self, from: Data($0.utf8))
            }
        }
    }

    func taken(at path: String) throws -> [Message] { try messages.filter { $0.path == path } }
}

extension DemoFolder {
    /// Writes an events file with an endpoint for each path of the receiver; the options that name it follow.
    fileprivate func tell(
        _ receiver: WebhookReceiver,
        _ paths: [String],
        _ members: String = "",
        networks: String = #"["127.0.0.1"]"#,
        streams: String = ""
    ) throws -> [String] {
        try write(WebhookReceiver.secret, to: "events.secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path(of: "events.secret"))
        let endpoints = paths.map { path in
            #"{id: "\#(path.dropFirst())", url: "http://127.0.0.1:\#(receiver.port)\#(path)", "#
                + #"secrets: ["events.secret"]\#(members)}"#
        }
        let receivers = "endpoints: [\(endpoints.joined(separator: ", "))], streams: [\(streams)]"
        try write("{privateNetworks: \(networks), \(receivers)}", to: "events")
        return ["--events", path(of: "events")]
    }
}

extension EndToEnd {
    /// Webhooks, as real receivers see them.
    @Suite struct EventDeliveryTests {
        private static let rounds =
            ProcessInfo.processInfo.environment["OFFER_SIGNER_TEST_EVENT_ROUNDS"].flatMap { Int($0) }
            ?? TestRing.rounds(8, nightly: 200)

        @Test func `no event is lost, and each customer's come in order, over kills and a rude receiver`() async throws
        {
            let demo = try await DemoFolder()
            try demo.liftBudget()
            let receiver = try await WebhookReceiver(demo)
            let options = try demo.tell(receiver, ["/flaky"])
            var (port, granted): (UInt16, Set<String>) = (0, [])
            for round in 0..<Self.rounds {
                let service = try await RunningService(demo, port: port, options: options)
                port = service.port
                for number in 0..<12 {
                    let answer = try service.sign(demo.request(customer: "customer-\(number % 3)"))
                    try #require(answer.status == 200, "\(answer)")
                    granted.insert(try Self.grant(answer.body))
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...300)))
                guard round < Self.rounds - 1 else {
                    try await eventually("all is delivered") {
                        Set(try receiver.messages.compactMap(\.id)).count >= granted.count
                    }
                    #expect(try await service.stop() == .exited(0))
                    break
                }
                service.process.send(SIGKILL)
                #expect(try await service.process.waitForEnd() == .killed(bySignal: SIGKILL))
            }
            let taken = try receiver.taken(at: "/flaky")
            let grants = try taken.map { try Self.grant($0.body) }
            #expect(Set(grants) == granted, "every grant is delivered, and no other")
            var (last, seen): ([String: Int], Set<String>) = ([:], [])
            for message in taken {
                // A delivery before a kill may be repeated; the repetition does not count.
                guard let id = message.id, seen.insert(id).inserted, let index = message.index else { continue }
                let customers = try #require(message.customers)
                #expect(!customers.isEmpty)
                for customer in customers {
                    #expect(
                        index > last[customer] ?? -1,
                        "\(customer) gets \(index) after \(last[customer] ?? -1)"
                    )
                    last[customer] = index
                }
            }
        }

        private static func grant(_ body: String) throws -> String {
            try String(#require(body.firstMatch(of: /"grantId":"([0-9a-f-]+)"/)).1)
        }

        @Test func `stops at 410, follows no redirect, waits as asked, and sends again on command`() async throws {
            let demo = try await DemoFolder()
            let receiver = try await WebhookReceiver(demo)
            let options = try demo.tell(
                receiver,
                ["/good", "/gone", "/redirect", "/later"],
                #", types: ["offer.granted"]"#
            )
            let service = try await RunningService(demo, options: options)
            let begin = ContinuousClock.now
            for _ in 0..<3 { #expect(try service.sign(demo.request(customer: "anna")).status == 200) }
            try await eventually("two receivers have all") {
                try receiver.taken(at: "/good").count == 3 && receiver.taken(at: "/later").count == 3
            }
            #expect(begin.duration(to: .now) > .seconds(6), "the schedule alone would have waited for 5.5 s at most")
            #expect(try Set(receiver.messages.map(\.path)) == ["/good", "/later"])
            let words = ["--events", demo.path(of: "events")] + demo.databaseOptions()
            var list = ""
            try await eventually("the receiver that is gone is disabled") {
                list = try await Program.run(["events", "endpoints"] + words).output
                return list.contains("disabled since")
            }
            let deliveries = try await Program.run(["events", "deliveries", "--endpoint", "redirect"] + words)
            #expect(deliveries.output.contains("status 302"), "\(deliveries)")
            let ready = try service.ask("/health/ready").body
            #expect(ready.contains("event-endpoint-disabled"), "\(ready)")
            let page = try service.ask("/metrics").body
            #expect(page.contains(#"offer_signer_event_endpoint_up{endpoint="gone"} 0"#), "\(page)")
            #expect(page.contains(#"offer_signer_event_deliveries_total{endpoint="good",outcome="delivered"} 3"#))

            let replay = try await Program.run(["events", "replay", "--endpoint", "good", "--from-index", "0"] + words)
            #expect(replay.succeeded, "\(replay)")
            try await eventually("the receiver has all a second time") { try receiver.taken(at: "/good").count == 6 }
            #expect(try Set(receiver.taken(at: "/good").compactMap(\.id)).count == 3, "with the same ids")
            let test = try await Program.run(["events", "test", "--endpoint", "good"] + words)
            #expect(test.succeeded && test.output.contains("204"), "\(test)")
            #expect(try receiver.taken(at: "/good").last?.type == "endpoint.test")
            let gone = try await Program.run(["events", "test", "--endpoint", "gone"] + words)
            #expect(gone.end == .exited(1), "\(gone)")
            #expect(try await service.stop() == .exited(0))
        }

        @Test func `an endpoint that is gone, or asked for an hour, gets all once it is enabled`() async throws {
            let demo = try await DemoFolder()
            let receiver = try await WebhookReceiver(demo)
            let options = try demo.tell(receiver, ["/gone-once", "/hour"], #", types: ["offer.granted"]"#)
            let service = try await RunningService(demo, options: options)
            for _ in 0..<3 { #expect(try service.sign(demo.request(customer: "anna")).status == 200) }
            let words = ["--events", demo.path(of: "events")] + demo.databaseOptions()
            try await eventually("one is disabled, and the other waits") {
                let list = try await Program.run(["events", "endpoints"] + words).output
                let held = try await Program.run(["events", "deliveries", "--endpoint", "hour"] + words).output
                return list.contains("disabled since") && held.contains("status 503")
            }
            #expect(try receiver.messages.isEmpty)
            for id in ["gone-once", "hour"] {
                let outcome = try await Program.run(["events", "endpoints", "--enable", id] + words)
                #expect(outcome.succeeded && outcome.output == "\(id) gets events again\n", "\(outcome)")
            }
            let unknown = try await Program.run(["events", "endpoints", "--enable", "none"] + words)
            #expect(unknown.end == .exited(1) && unknown.errors.contains("known: gone-once, hour"), "\(unknown)")
            try await eventually("each gets all") {
                try ["/gone-once", "/hour"].allSatisfy { try Set(receiver.taken(at: $0).compactMap(\.id)).count == 3 }
            }
            let list = try await Program.run(["events", "endpoints"] + words).output
            #expect(!list.contains("disabled"), "\(list)")
            #expect(try await service.stop() == .exited(0))
        }

        @Test(.aboutPostgreSQL, .ring(.check))
        func `another instance goes on with webhooks and streams where one was killed`() async throws {
            let demo = try await DemoFolder()
            try demo.liftBudget()
            let receiver = try await WebhookReceiver(demo)
            let stream = #"{id: "own", file: "own.ndjson"}"#
            let options = try demo.tell(receiver, ["/good"], streams: stream)
            var instances: [RunningService] = []
            for number in 0..<2 {
                instances.append(try await Self.instance(number, demo, options))
            }
            var granted: Set<String> = []
            for round in 0..<4 {
                for service in instances {
                    for number in 0..<6 {
                        let answer = try service.sign(demo.request(customer: "customer-\(number % 3)"))
                        try #require(answer.status == 200, "\(answer)")
                        granted.insert(try Self.grant(answer.body))
                    }
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...1500)))
                instances[round % 2].process.send(SIGKILL)
                #expect(try await instances[round % 2].process.waitForEnd() == .killed(bySignal: SIGKILL))
                try await eventually("the other one delivers all") {
                    let delivered = Set(try receiver.taken(at: "/good").map { try Self.grant($0.body) })
                    let written = demo.text(of: "own.ndjson")
                    return granted.allSatisfy { delivered.contains($0) && written.contains($0) }
                }
                instances[round % 2] = try await Self.instance(round % 2, demo, options)
            }
            for service in instances { #expect(try await service.stop() == .exited(0)) }
            #expect(
                try Set(receiver.messages.filter { $0.type == "offer.granted" }.map { try Self.grant($0.body) })
                    == granted
            )
            let indices = demo.text(of: "own.ndjson").matches(of: /(?m)^{"index":([0-9]+),/).compactMap { Int($0.1) }
            var seen: Set<Int> = []
            let firstSeen = indices.filter { seen.insert($0).inserted }
            let (first, last) = (try #require(firstSeen.first), try #require(firstSeen.last))
            #expect(firstSeen == Array(first...last), "in order, and without a gap")
        }

        private static func instance(
            _ number: Int,
            _ demo: DemoFolder,
            _ options: [String]
        ) async throws -> RunningService {
            try await RunningService(demo, checkpoint: demo.path(of: "\(number).checkpoint"), options: options)
        }

        @Test func `connects to no private address that is not listed`() async throws {
            let demo = try await DemoFolder()
            let receiver = try await WebhookReceiver(demo)
            let options = try demo.tell(receiver, ["/good"], networks: #"["10.0.0.0/8"]"#)
            let service = try await RunningService(demo, options: options)
            #expect(try service.sign(demo.request(customer: "anna")).status == 200)
            let words = ["--events", demo.path(of: "events")] + demo.databaseOptions()
            try await eventually("the attempt has failed") {
                try await Program.run(["events", "deliveries"] + words).output.contains("no public address")
            }
            #expect(try receiver.messages.isEmpty)
            #expect(try await service.stop() == .exited(0))
        }

        @Test func `a reload changes which endpoint gets events`() async throws {
            let demo = try await DemoFolder()
            let receiver = try await WebhookReceiver(demo)
            let options = try demo.tell(receiver, ["/good"], #", format: "cloudevents""#)
            let service = try await RunningService(demo, options: options)
            #expect(try service.sign(demo.request(customer: "anna")).status == 200)
            try await eventually("the first is delivered") { try receiver.taken(at: "/good").count == 1 }
            #expect(try receiver.taken(at: "/good")[0].body.contains(#""specversion":"1.0""#))
            _ = try demo.tell(receiver, ["/other"])
            try await service.reload()
            try await eventually("the second is known") {
                try service.ask("/metrics").body.contains(#"event_endpoint_up{endpoint="other"}"#)
            }
            try await Task.sleep(for: .milliseconds(500))
            #expect(try service.sign(demo.request(customer: "anna")).status == 200)
            try await eventually("the second is delivered") { try receiver.taken(at: "/other").count == 1 }
            #expect(try receiver.taken(at: "/good").count == 1)
            #expect(try await service.stop() == .exited(0))
        }

        @Test func `relays a notification byte for byte, also one that was recorded right before a kill`() async throws
        {
            let (demo, store) = (try await DemoFolder(), try FakeAppStore())
            let receiver = try await WebhookReceiver(demo)
            try demo.write("a-token-of-16-or-more", to: "relay.token")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600],
                ofItemAtPath: demo.path(of: "relay.token")
            )
            let url = "http://127.0.0.1:\(receiver.port)/relay"
            let relay = #"{id: "vendor", store: "app-store", url: "\#(url)", tokenFile: "relay.token"}"#
            try demo.write(#"{privateNetworks: ["127.0.0.1"], relays: [\#(relay)]}"#, to: "events")
            let options =
                ["--app-store-roots", store.rootPEMPath, "--revocation-check", "off"]
                + ["--events", demo.path(of: "events")]
            let transaction = try store.setCustomer(
                FakeAppStore.Customer("anna", subscriptions: [.init(.active, productID: "com.example.pro.monthly")])
            ).subscriptions[0].originalTransactionID
            var sent: [String] = []
            for round in 0..<2 {
                let service = try await RunningService(demo, options: options)
                let body = try store.signNotification(.init("SUBSCRIBED", transactionID: transaction)).body + " \n"
                let answer = try service.ask("/v1/notifications/app-store", method: "POST", body: body)
                #expect(answer.status == 200, "\(answer)")
                sent.append(body)
                if round == 0 {
                    service.process.send(SIGKILL)
                    #expect(try await service.process.waitForEnd() == .killed(bySignal: SIGKILL))
                } else {
                    try await eventually("both are relayed") { try Set(receiver.messages.map(\.body)) == Set(sent) }
                    #expect(try receiver.messages.allSatisfy { $0.token == "Bearer a-token-of-16-or-more" })
                    let words = ["--events", demo.path(of: "events")] + demo.databaseOptions()
                    let replay = ["events", "replay", "--endpoint", "vendor", "--from-index", "0"]
                    #expect(try await Program.run(replay + words).succeeded)
                    let count = try receiver.messages.count
                    try await eventually("both are relayed again") { try receiver.messages.count >= count + 2 }
                    #expect(try Set(receiver.messages.map(\.body)) == Set(sent))
                    #expect(try await service.stop() == .exited(0))
                }
            }
        }
    }
}
