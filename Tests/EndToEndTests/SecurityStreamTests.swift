// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// A receiver of syslog over TLS as a process of its own, with certificates made for it.
private final class SyslogReceiver {
    /// A message that was taken.
    struct Message: Decodable {
        let fault, event, application, categories, text, hash: String?
        let priority, index: Int?
    }

    private let demo: DemoFolder
    private let wantsClient: Bool
    private(set) var port: UInt16 = 0
    private var process: ChildProcess?

    /// Makes an authority, and certificates of it for the receiver and for a client.
    init(_ demo: DemoFolder, wantsClient: Bool = false) async throws {
        (self.demo, self.wantsClient) = (demo, wantsClient)
        for (name, more) in [
            ("ca", ["-addext", "basicConstraints=critical,CA:TRUE"]), ("other-ca", []),
            ("server", ["-addext", "subjectAltName=IP:127.0.0.1"]), ("client", []),
        ] {
            let signer = ["server", "client"].contains(name) ? ["-CA", path("ca.pem"), "-CAkey", path("ca.key")] : []
            _ = try KeyTool.run(
                ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
                    + ["-subj", "/CN=\(name)", "-keyout", path("\(name).key"), "-out", path("\(name).pem")] + more
                    + signer
            )
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path("\(name).key"))
        }
        try be("good")
        try await start()
    }

    func path(_ name: String) -> String { demo.path(of: name) }

    /// How it treats the next connections.
    func be(_ mode: String) throws { try demo.write(mode, to: "mode") }

    func start() async throws {
        try? FileManager.default.removeItem(atPath: path("syslog-port"))
        process = try ChildProcess(
            [
                "/usr/bin/env", "python3", Program.checker("syslog_receiver"), "\(port)", path("syslog-port"),
                path("syslog"),
            ]
                + [path("mode"), path("server.pem"), path("server.key")] + (wantsClient ? [path("ca.pem")] : []),
            environment: ownEnvironment(),
            errors: path("syslog-errors")
        )
        try await eventually("the receiver listens") { !demo.text(of: "syslog-port").isEmpty }
        port = UInt16(demo.text(of: "syslog-port")) ?? 0
    }

    func kill() async throws {
        process?.send(SIGKILL)
        _ = try await process?.waitForEnd()
    }

    var messages: [Message] {
        get throws {
            try demo.text(of: "syslog").split(separator: "\n").compactMap { line in
                // The last one may be half written when it was killed.
                line.hasSuffix("}") ? try JSONDecoder().decode(Message.self, from: Data(line.utf8)) : nil
            }
        }
    }
}

extension DemoFolder {
    /// Writes an events file with such streams; the options that name it follow.
    fileprivate func streams(_ streams: String...) throws -> [String] {
        try write(#"{privateNetworks: ["127.0.0.1"], streams: [\#(streams.joined(separator: ", "))]}"#, to: "events")
        return ["--events", path(of: "events")]
    }
}

extension EndToEnd {
    /// The audit log as a security team's systems receive it.
    @Suite struct SecurityStreamTests {
        private static let rounds = TestRing.rounds(6, nightly: 100)

        private static func syslog(_ receiver: SyslogReceiver, _ members: String = "") -> String {
            #"{id: "siem", syslog: "127.0.0.1:\#(receiver.port)", trustedCertificates: "ca.pem"\#(members)}"#
        }

        /// The indices of a file's lines; each line must be a JSON object with its entry.
        private static func indices(_ text: String) throws -> [Int] {
            struct Line: Decodable {
                let index: Int
                let entry: [String: Unchecked]
            }
            struct Unchecked: Decodable { init(from decoder: any Decoder) {} }
            return try text.split(separator: "\n").map {
                try JSONDecoder().decode(Line.self, from: Data($0.utf8)).index
            }
        }

        @Test func `no entry is lost over kills of the service and of a rude receiver`() async throws {
            let demo = try await DemoFolder()
            try demo.liftBudget()
            let receiver = try await SyslogReceiver(demo)
            let options = try demo.streams(Self.syslog(receiver), #"{id: "own", file: "own.ndjson"}"#)
            var (port, granted): (UInt16, Set<String>) = (0, [])
            for round in 0..<Self.rounds {
                try receiver.be(["good", "reset", "slow", "close"][round % 4])
                let service = try await RunningService(demo, port: port, options: options)
                port = service.port
                for number in 0..<15 {
                    let answer = try service.sign(demo.request(customer: "customer-\(number % 3)"))
                    try #require(answer.status == 200, "\(answer)")
                    granted.insert(String(try #require(answer.body.firstMatch(of: /"grantId":"([0-9a-f-]+)"/)).1))
                    if number == 7, round % 2 == 0 {
                        try await Task.sleep(for: .milliseconds(Int.random(in: 1...500)))
                        try await receiver.kill()
                        try await receiver.start()
                    }
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...500)))
                service.process.send(SIGKILL)
                #expect(try await service.process.waitForEnd() == .killed(bySignal: SIGKILL))
                // Torn as a crash of the machine may leave it.
                if round == 1 { try demo.tear("own.ndjson") }
            }
            try receiver.be("good")
            try await receiver.kill()
            try await receiver.start()
            let service = try await RunningService(demo, port: port, options: options)
            try await eventually("both have each grant") {
                let sent = demo.text(of: "syslog"), written = demo.text(of: "own.ndjson")
                return granted.allSatisfy { sent.contains($0) && written.contains($0) }
            }
            #expect(try await service.stop() == .exited(0))
            let messages = try receiver.messages
            #expect(messages.compactMap(\.fault) == [])
            for found in [messages.compactMap(\.index), try Self.indices(demo.text(of: "own.ndjson"))] {
                var seen: Set<Int> = []
                let firstSeen = found.filter { seen.insert($0).inserted }
                #expect(
                    firstSeen == Array((firstSeen.first ?? 0)...(firstSeen.last ?? 0)),
                    "in order, and without a gap"
                )
                #expect(firstSeen.count > granted.count)
            }
        }

        @Test func `sends categories alone, with their priority, and again on command`() async throws {
            let demo = try await DemoFolder()
            let receiver = try await SyslogReceiver(demo, wantsClient: true)
            let client = #", clientCertificate: "client.pem", clientKey: "client.key""#
            let options = try demo.streams(
                Self.syslog(receiver, client + #", categories: ["keyUse", "seals"]"#),
                #"{id: "own", file: "own.ndjson", categories: ["seals"]}"#
            )
            let service = try await RunningService(demo, options: options)
            for _ in 0..<3 { #expect(try service.sign(demo.request(customer: "anna")).status == 200) }
            let words = ["--events", demo.path(of: "events")] + demo.databaseOptions()
            let seal = try await Program.run(["seal", "--reason", "a drill"] + demo.databaseOptions())
            #expect(seal.succeeded, "\(seal)")
            try await eventually("the seal is reported") {
                try receiver.messages.contains { $0.event == "service.sealed" }
            }
            let messages = try receiver.messages
            #expect(messages.map(\.event).filter { $0 == "sign.intent" }.count >= 3)
            #expect(
                Set(messages.map(\.priority)) == [106, 110] && Set(messages.map(\.application)) == ["offer-signer"]
            )
            #expect(messages.allSatisfy { $0.text?.hasPrefix(#"{"#) == true && $0.hash?.count == 64 })
            try await eventually("the file has it") { demo.text(of: "own.ndjson").contains("service.sealed") }
            #expect(!demo.text(of: "own.ndjson").contains("sign.intent"))

            let replay = try await Program.run(["events", "replay", "--endpoint", "own", "--from-index", "0"] + words)
            #expect(replay.succeeded, "\(replay)")
            try await eventually("the file has it a second time") {
                demo.text(of: "own.ndjson").matches(of: /"ev":"service.sealed"/).count == 2
            }
            let list = try await Program.run(["events", "endpoints"] + words).output
            #expect(
                list.contains("siem\tsyslog 127.0.0.1:\(receiver.port)\t") && list.contains("own\tfile "),
                "\(list)"
            )
            for id in ["siem", "own"] {
                let test = try await Program.run(["events", "test", "--endpoint", id] + words)
                #expect(test.succeeded, "\(test)")
            }
            try await eventually("the test arrives") { try receiver.messages.contains { $0.event == "endpoint.test" } }
            #expect(demo.text(of: "own.ndjson").contains(#"{"test":"#))
            let page = try service.ask("/metrics").body
            #expect(page.contains(#"offer_signer_event_endpoint_up{endpoint="siem"} 1"#))
            #expect(try await service.stop() == .exited(0))
        }

        @Test func `a receiver that is not trusted, or does not trust, gets nothing and is shown`() async throws {
            let demo = try await DemoFolder()
            let receiver = try await SyslogReceiver(demo, wantsClient: true)
            let options = try demo.streams(
                Self.syslog(receiver),
                #"{id: "other", syslog: "127.0.0.1:\#(receiver.port)", trustedCertificates: "other-ca.pem"}"#,
                #"{id: "gone", syslog: "127.0.0.1:1"}"#
            )
            let service = try await RunningService(demo, options: options)
            #expect(try service.sign(demo.request(customer: "anna")).status == 200)
            let words = ["--events", demo.path(of: "events")] + demo.databaseOptions()
            var list = ""
            try await eventually("each has failed") {
                list = try await Program.run(["events", "deliveries"] + words).output
                return ["siem\t", "other\t", "gone\t"].allSatisfy(list.contains)
            }
            #expect(
                list.contains("certificate is not trusted") && list.contains("No connection could be made"),
                "\(list)"
            )
            #expect(try service.ask("/health/ready").body.contains("event-endpoint-failing"))
            for id in ["siem", "other", "gone"] {
                let test = try await Program.run(["events", "test", "--endpoint", id] + words)
                #expect(test.end == .exited(1), "\(test)")
            }
            #expect(try receiver.messages.isEmpty)
            #expect(try await service.stop() == .exited(0))
        }

        @Test func `a receiver that hangs delays no other receiver, and gets all once it reads`() async throws {
            let demo = try await DemoFolder()
            let receiver = try await SyslogReceiver(demo)
            try receiver.be("hang")
            let options = try demo.streams(Self.syslog(receiver), #"{id: "own", file: "own.ndjson"}"#)
            let service = try await RunningService(demo, options: options)
            for _ in 0..<5 { #expect(try service.sign(demo.request(customer: "anna")).status == 200) }
            try await eventually("the file has them") {
                demo.text(of: "own.ndjson").matches(of: /"ev":"sign.intent"/).count >= 5
            }
            try await Task.sleep(for: .seconds(12))
            // A command that has it tried again must not make the service forget what lies unread.
            let words = ["events", "endpoints", "--enable", "siem", "--events", demo.path(of: "events")]
            #expect(try await Program.run(words + demo.databaseOptions()).succeeded)
            try await Task.sleep(for: .seconds(2))
            try receiver.be("good")
            try await receiver.kill()
            try await receiver.start()
            try await eventually("what lay unread is sent again") {
                try receiver.messages.filter { $0.event == "sign.intent" }.count >= 5
            }
            #expect(try await service.stop() == .exited(0))
        }
    }
}

extension DemoFolder {
    /// Adds what a crash may leave of a line.
    fileprivate func tear(_ name: String) throws {
        try write(textOfFile(path(of: name)) + #"{"index":99,"hash":"3f"#, to: name)
    }
}
