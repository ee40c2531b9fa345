// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// Where the program under test and the checkers are.
enum Program {
    /// The `offer-signer` that was built together with these tests.
    static let path: String = {
        let maps = textOfFile("/proc/self/maps")
        let bundle = maps.split(separator: "\n").first { $0.hasSuffix("PackageTests.xctest") }
        let folder = bundle.flatMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } }
            .map { ($0 as NSString).deletingLastPathComponent }
        return (folder ?? "\(root)/.build/debug") + "/offer-signer"
    }()

    /// The folder of the package.
    static let root: String = {
        var url = URL(filePath: #filePath)
        for _ in 0..<3 { url.deleteLastPathComponent() }
        return url.path
    }()

    /// Debian's Python, because that is where Debian's python3-cryptography and python3-jwt are.
    static let python = "/usr/bin/python3"

    static func checker(_ name: String) -> String { "\(root)/Tests/EndToEndTests/Checkers/\(name).py" }

    /// Runs the program to its end; a wrapper is a command that it is started by.
    static func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        wrapper: [String] = []
    ) async throws -> ProcessOutcome {
        try await runProcess(wrapper + [path] + arguments, environment: ownEnvironment().merging(environment) { $1 })
    }

    /// Runs one of the checkers; what it complains of is in the outcome.
    static func check(_ name: String, _ arguments: String...) async throws -> ProcessOutcome {
        try await runProcess([python, "-B", checker(name)] + arguments)
    }

    /// Whether the tests run as root, which some need to look into another process or to mount a file system.
    static let isRoot = geteuid() == 0
}
