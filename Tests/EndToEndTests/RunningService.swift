// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// `offer-signer serve` as a process of its own, on a port that the system chose.
///
/// It is killed, at the latest, when the test lets go of it.
final class RunningService: Sendable {
    let demo: DemoFolder
    let process: ChildProcess
    let port: UInt16
    let logPath: String
    let outputPath: String
    private let logOffset: Int

    /// Starts the service and waits until it listens.
    ///
    /// Port 0 lets the system choose. A wrapper is a command that starts the service and is replaced by it (`exec`).
    /// A database is used instead of the example's own; one of several services on a server keeps its checkpoint in a
    /// file of its own. Options come after those that name its files.
    init(
        _ demo: DemoFolder,
        port: UInt16 = 0,
        address: String = "127.0.0.1",
        wrapper: [String] = [],
        program: String = Program.path,
        database: String = DemoFolder.name,
        checkpoint: String? = nil,
        options: [String] = []
    ) async throws {
        self.demo = demo
        logPath = demo.directory.path(of: "log")
        outputPath = demo.directory.path(of: "output")
        logOffset = textOfFile(logPath).utf8.count
        process = try ChildProcess(
            wrapper + [program, "serve", "--listen", "\(address):\(port)"]
                + demo.options(database: database, checkpoint: checkpoint) + Self.clockCheck(options) + options,
            environment: ownEnvironment(),
            output: outputPath,
            errors: logPath
        )
        self.port = try await Self.portOfListener(logPath, logOffset, process)
    }

    /// Machines on which tests run need not have a time service.
    private static func clockCheck(_ options: [String]) -> [String] {
        options.contains { $0.hasPrefix("--clock-check") } ? [] : ["--clock-check", "warn"]
    }

    private static func portOfListener(_ log: String, _ offset: Int, _ process: ChildProcess) async throws -> UInt16 {
        for _ in 0..<6000 {
            let text = String(decoding: textOfFile(log).utf8.dropFirst(offset), as: UTF8.self)
            if let match = text.firstMatch(of: /"message":"listening".*"port":([0-9]+)/), let port = UInt16(match.1) {
                return port
            }
            guard process.ended == nil else { throw ChildProcess.Failure("did not start: \(text)") }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw ChildProcess.Failure("does not listen: \(textOfFile(log))")
    }

    /// What it has logged since it was started.
    var log: String { String(decoding: textOfFile(logPath).utf8.dropFirst(logOffset), as: UTF8.self) }

    var url: String { "http://127.0.0.1:\(port)" }

    /// Ends it as an operator would, and waits for that.
    func stop() async throws -> ChildProcess.End {
        process.send(SIGTERM)
        return try await process.waitForEnd()
    }

    /// Has it reload its files, and waits until it has said whether that succeeded.
    func reload() async throws {
        let before = reloads
        process.send(SIGHUP)
        try await eventually("a reload is logged") { self.reloads > before }
    }

    /// Waits for a text in its log, which a thread of its own writes a moment after the answer.
    func logs(_ text: String) async throws {
        try await eventually("the log has \(text)") { self.log.contains(text) }
    }

    private var reloads: Int {
        log.matches(of: /"message":"(configuration reloaded|reload refused)/).count
    }

    // MARK: - Asking

    static let signatures = "/v1/app-store/promotional-offers/signatures"

    /// Sends one request on a connection of its own.
    func ask(
        _ path: String,
        method: String = "GET",
        body: String? = nil,
        apiKey: String? = nil
    ) throws -> RawHTTPClient.Answer {
        let client = try RawHTTPClient(port: port, patience: 60)
        client.send(Self.text(method, path, body: body, apiKey: apiKey))
        return try client.readAnswer()
    }

    /// Asks for a signature as the example's caller.
    func sign(_ body: String, apiKey: String? = nil) throws -> RawHTTPClient.Answer {
        try ask(Self.signatures, method: "POST", body: body, apiKey: apiKey ?? demo.apiKey)
    }

    /// The bytes of a request.
    static func text(_ method: String, _ path: String, body: String?, apiKey: String?) -> String {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: localhost"]
        if let apiKey { lines.append("Authorization: Bearer \(apiKey)") }
        if let body { lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
        return (lines + ["", body ?? ""]).joined(separator: "\r\n")
    }
}

/// Waits for something to become true; how long it takes is not judged, only that it happens at all.
func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now.advanced(by: .seconds(60))
    while ContinuousClock.now < deadline {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(50))
    }
    throw ChildProcess.Failure("never came to pass: \(what)")
}
