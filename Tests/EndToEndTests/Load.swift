// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// A process that asks for signatures on several connections, and notes each one that it is given.
final class Load: Sendable {
    let demo: DemoFolder
    private let process: ChildProcess
    private let outputPath: String

    /// Starts to ask whatever service listens on the port that ``aim(at:)`` names.
    ///
    /// Each customer asks as often as there are attempts. It ends by itself after that many requests, or when
    /// ``stop()`` ends it.
    init(_ demo: DemoFolder, threads: Int = 8, attempts: Int = 1, requests: Int? = nil) throws {
        self.demo = demo
        outputPath = demo.directory.path(of: "load-\(UUID().uuidString)")
        process = try ChildProcess(
            [
                Program.python, "-B", Program.checker("load"), demo.directory.path,
                "--api-key", demo.path(of: "api-key"), "--deliveries", Self.deliveries(of: demo),
                "--threads", "\(threads)", "--attempts", "\(attempts)",
            ] + (requests.map { ["--requests", "\($0)"] } ?? []),
            environment: ownEnvironment(),
            output: outputPath,
            errors: outputPath
        )
    }

    /// Where the answers with signatures are kept, of all loads on one example.
    static func deliveries(of demo: DemoFolder) -> String { demo.directory.path(of: "deliveries") }

    /// How many signatures were delivered so far.
    static func delivered(to demo: DemoFolder) -> Int { textOfFile(deliveries(of: demo)).utf8.count { $0 == 0x0A } }

    /// How many bytes of answers with signatures were delivered so far; this is fast for any number of answers.
    static func deliveredBytes(to demo: DemoFolder) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: deliveries(of: demo))
        return attributes?[.size] as? Int ?? 0
    }

    /// Tells loads on this example which service to ask.
    static func aim(at service: RunningService) throws {
        try service.demo.directory.write(Array("\(service.port)".utf8), to: "port.new")
        let (from, to) = (service.demo.directory.path(of: "port.new"), service.demo.directory.path(of: "port"))
        // Renamed, so that no reader sees half a number.
        guard unsafe rename(from, to) == 0 else { throw ChildProcess.Failure("\(to) can't be replaced") }
    }

    /// Waits until it has ended by itself; gives the number of answers by status and by problem.
    func finish() async throws -> [String: Int] {
        let end = try await process.waitForEnd(patience: 300)
        let text = textOfFile(outputPath)
        guard end == .exited(0) else { throw ChildProcess.Failure("load: \(end) \(text)") }
        return try JSONDecoder().decode([String: Int].self, from: Data(text.utf8))
    }

    /// Ends it once the requests that are under way have their answers.
    func stop() async throws -> [String: Int] {
        let mark = try demo.directory.write([], to: "stop")
        defer { try? FileManager.default.removeItem(atPath: mark) }
        return try await finish()
    }

    /// Compares what was delivered with what is on record.
    static func checkRecords(
        of demo: DemoFolder,
        cap: Int = 3,
        database: String = DemoFolder.name
    ) async throws -> ProcessOutcome {
        try await Program.check(
            "delivered_is_recorded",
            demo.directory.database(database),
            deliveries(of: demo),
            DemoFolder.bundle,
            DemoFolder.product,
            "\(cap)"
        )
    }
}
