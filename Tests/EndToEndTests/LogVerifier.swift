// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The programs of `Tests/LogVerifier`, which verify an audit log and share no code with the service.
enum LogVerifier {
    static let folder = "\(Program.root)/Tests/LogVerifier"

    /// Runs Debian's Go, which finds Debian's golang.org/x/mod, in the folder of the program.
    static func go(_ words: String..., environment: [String: String] = [:]) async throws -> ProcessOutcome {
        let arguments = ["env", "-C", folder, "/usr/lib/go-1.19/bin/go"] + words
        let settings = [
            "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": "",
            "GOCACHE": "\(Program.root)/.build/go-cache",
        ]
        return try await runProcess(
            arguments,
            environment: ownEnvironment().merging(settings) { $1 }.merging(environment) { $1 },
            patience: 600
        )
    }

    private static let build = Task {
        let path = "\(Program.root)/.build/logverifier"
        let outcome = try await go("build", "-o", path, ".")
        guard outcome.succeeded else { throw ChildProcess.Failure("logverifier: \(outcome)") }
        return path
    }

    /// The verifier written in Go.
    static var path: String { get async throws { try await build.value } }

    /// Runs it.
    static func run(_ words: [String]) async throws -> ProcessOutcome {
        try await runProcess([try await path] + words)
    }

    /// Runs one of the scripts that need nothing but `openssl` and `sha256sum`.
    static func script(_ name: String, _ words: String...) async throws -> ProcessOutcome {
        try await runProcess(["\(folder)/\(name)"] + words)
    }
}
