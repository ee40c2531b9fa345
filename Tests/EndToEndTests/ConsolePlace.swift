// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// A running service with a log of the last two weeks.
///
/// The past is made by the service itself, run with its clock put back (Debian's libfaketime): each entry is where it
/// would be, and says what it would say, had the service run then.
final class ConsolePlace: Sendable {
    /// What `console.py` needs to know.
    struct Settings: Codable, Sendable {
        var url = ""
        /// By role.
        var apiKeys: [String: String] = [:]
        var key = "ABC123DEFG"
        /// Who used the key last Tuesday, and how often.
        var callers: [String: Int] = [:]
        /// Last Tuesday as the page writes it, and the instants at its ends.
        var tuesday = "", from = "", until = ""
        /// Uses of the key on days, as the page writes them.
        var uses: [String: Int] = [:]
        /// One signature: its nonce, its entry's index, what the service answered, and what the app attached.
        var nonce = "", index = 0, answer = "", attached: [String: String] = [:]
        /// The body of the request for it.
        var request = ""
        var screenshots: String?
    }

    let demo: DemoFolder
    let service: RunningService
    let settings: Settings

    init() async throws {
        let past = ConsolePast()
        demo = try await DemoFolder(wrapper: past.wrapper(daysAgo: 13))
        var settings = Settings()
        settings.apiKeys = try await past.addCallers(demo)
        try await past.write(demo, into: &settings)
        service = try await RunningService(demo, options: try Self.receivers(demo))
        settings.url = service.url
        settings.screenshots = ProcessInfo.processInfo.environment["CONSOLE_SCREENSHOTS"]
        self.settings = settings
    }
}

extension ConsolePlace {
    /// Names one receiver that takes nothing and one that takes everything; the option that names the file follows.
    private static func receivers(_ demo: DemoFolder) throws -> [String] {
        try demo.write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", to: "events.secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: demo.path(of: "events.secret"))
        try demo.write(
            """
            {
              privateNetworks: ["127.0.0.1"],
              endpoints: [{id: "backend", url: "http://127.0.0.1:1/token-in-path?key=1", secrets: ["events.secret"]}],
              streams: [{id: "archive", file: "archive.ndjson"}],
            }
            """,
            to: "events"
        )
        return ["--events", demo.path(of: "events")]
    }
}

/// The last two weeks, as callers made them.
struct ConsolePast {
    private static let day = 86_400.0
    private let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()
    private let now = Date()

    private func start(ofDay daysAgo: Int) -> Date {
        calendar.startOfDay(for: now.addingTimeInterval(-Double(daysAgo) * Self.day))
    }

    /// How many days ago the last Tuesday before today was.
    private var tuesday: Int { (calendar.component(.weekday, from: now) - 3 + 6) % 7 + 1 }

    /// Has a program believe that it is noon as many days ago.
    ///
    /// The shell in between is there because libfaketime changes the environment of the first program that it is loaded
    /// into, after which Swift does not find that program's arguments.
    func wrapper(daysAgo: Int) -> [String] {
        let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
            .replacing("x86_64", with: Self.architecture)
        let noon = start(ofDay: daysAgo).addingTimeInterval(Self.day / 2).formatted(.iso8601.dateSeparator(.dash))
        return [
            "env", "TZ=UTC0", "LD_PRELOAD=\(library)", "FAKETIME=@\(noon)", "FAKETIME_FMT=%Y-%m-%dT%H:%M:%SZ",
            "FAKETIME_DONT_FAKE_MONOTONIC=1", "sh", "-c", #"exec "$@""#, "sh",
        ]
    }

    private static var architecture: String {
        #if arch(arm64)
        "aarch64"
        #else
        "x86_64"
        #endif
    }

    /// libfaketime leaves these behind for each program that it was loaded into.
    static func sweep(processID: Int32) {
        for name in ["faketime_shm_", "sem.faketime_sem_"] { unsafe unlink("/dev/shm/\(name)\(processID)") }
    }

    /// Adds who reads the log and who asks for signatures; their API keys by role, or by name.
    func addCallers(_ demo: DemoFolder) async throws -> [String: String] {
        var keys = ["backend": demo.apiKey]
        for (name, role) in [("security", "auditor"), ("operations", "admin"), ("campaigns", "backend")] {
            let added = try await Program.run(
                ["callers", "add", name, "--role", role, "--database", demo.location],
                wrapper: wrapper(daysAgo: 13)
            )
            guard let key = added.output.firstMatch(of: /[0-9a-f]{16}\.[A-Za-z0-9_-]{43}/) else {
                throw ChildProcess.Failure("callers add: \(added)")
            }
            keys[role == "backend" ? name : role] = String(key.0)
        }
        return keys
    }

    /// Runs the service on some of those days, and notes what it did.
    func write(_ demo: DemoFolder, into settings: inout ConsolePlace.Settings) async throws {
        let callers = ["demo-backend": "backend", "campaigns": "campaigns"]
        let busy = [11: [2, 0], 9: [1, 3], tuesday: [3, 1], 0: [1, 1]].sorted { $0.key > $1.key }
        for (daysAgo, requests) in busy {
            let wrapper = daysAgo == 0 ? [] : wrapper(daysAgo: daysAgo)
            let service = try await RunningService(demo, wrapper: wrapper)
            for (name, count) in zip(["demo-backend", "campaigns"], requests) where count > 0 {
                for number in 1...count {
                    let apiKey = settings.apiKeys[callers[name] ?? ""] ?? ""
                    try ask(service, apiKey, "\(name)-\(daysAgo)-\(number)", &settings)
                }
                if daysAgo == tuesday { settings.callers[name] = count }
            }
            if daysAgo == 9 { try beRefused(service) }
            settings.uses[name(ofDay: daysAgo)] = requests.reduce(0, +)
            guard try await service.stop() == .exited(0) else { throw ChildProcess.Failure(service.log) }
            Self.sweep(processID: service.process.id)
        }
        try await noteTuesday(demo, &settings)
    }

    private func ask(
        _ service: RunningService,
        _ apiKey: String,
        _ customer: String,
        _ settings: inout ConsolePlace.Settings
    ) throws {
        let token = UUID().uuidString.lowercased()
        let body = service.demo.request(customer: customer, token: token)
            .replacing(#", "formats": ["v1", "jws"]"#, with: "")
        let answer = try service.sign(body, apiKey: apiKey)
        guard answer.status == 200, let nonce = jsonValue("/nonce", in: answer.body) else {
            throw ChildProcess.Failure("\(answer.status) \(answer.body)")
        }
        (settings.nonce, settings.answer, settings.request) = (nonce, answer.body, body)
        settings.attached = [
            "bundleId": DemoFolder.bundle, "productId": DemoFolder.product, "appAccountToken": token,
        ]
    }

    /// Asks for a customer with an active subscription, so that there is a refusal too.
    private func beRefused(_ service: RunningService) throws {
        let body = service.demo.request(customer: "subscriber")
            .replacing(#""expired", "expiresAt": "2026"#, with: #""active", "expiresAt": "2100"#)
        let answer = try service.sign(body)
        guard answer.status == 403 else { throw ChildProcess.Failure("\(answer.status) \(answer.body)") }
    }

    private func noteTuesday(_ demo: DemoFolder, _ settings: inout ConsolePlace.Settings) async throws {
        let start = start(ofDay: tuesday)
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        settings.tuesday = name(ofDay: tuesday)
        settings.from = start.formatted(format)
        settings.until = start.addingTimeInterval(Self.day).formatted(format)
        let found = try await Program.run(
            ["audit", "query", "--nonce", settings.nonce, "--database", demo.location]
        )
        guard let index = jsonValue("/index", in: found.output).flatMap({ Int($0) }) else {
            throw ChildProcess.Failure("audit query: \(found)")
        }
        settings.index = index
    }

    /// As in “Tue 17 Nov”.
    private func name(ofDay daysAgo: Int) -> String {
        let date = now.addingTimeInterval(-Double(daysAgo) * Self.day)
        let parts = calendar.dateComponents([.weekday, .day, .month], from: date)
        let weekday = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][(parts.weekday ?? 1) - 1]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return "\(weekday) \(parts.day ?? 0) \(months[(parts.month ?? 1) - 1])"
    }
}
