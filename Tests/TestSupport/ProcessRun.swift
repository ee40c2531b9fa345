// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What a program said, and how it ended.
package struct ProcessOutcome: Hashable, Sendable {
    package let end: ChildProcess.End
    package let output: String
    package let errors: String

    /// Whether it ended with exit code 0.
    package var succeeded: Bool { end == .exited(0) }
}

extension ProcessOutcome: CustomStringConvertible {
    package var description: String { "\(end)\n\(output)\n\(errors)" }
}

/// Runs a program to its end, which must come within the patience, in seconds.
package func runProcess(
    _ words: [String],
    environment: [String: String] = ownEnvironment(),
    input: String = "/dev/null",
    patience: Int = 120
) async throws -> ProcessOutcome {
    let folder = try TemporaryDirectory()
    let (output, errors) = (folder.path(of: "output"), folder.path(of: "errors"))
    let child = try ChildProcess(words, environment: environment, input: input, output: output, errors: errors)
    let end = try await child.waitForEnd(patience: patience)
    return ProcessOutcome(end: end, output: textOfFile(output), errors: textOfFile(errors))
}

/// The environment of the tests, without settings of the service that happen to be in it.
///
/// Only the tests' own process checks for leaks: no other registers the secure heap with ``KeyLeakChecker``.
package func ownEnvironment() -> [String: String] {
    var environment = ProcessInfo.processInfo.environment.filter { name, _ in
        !name.hasPrefix("OFFER_SIGNER_") && name != "SWIFT_BACKTRACE"
    }
    if Sanitizer.isActive { environment["ASAN_OPTIONS"] = environment["ASAN_OPTIONS"] ?? "detect_leaks=0" }
    return environment
}

/// The text of a file; empty if there is none.
package func textOfFile(_ path: String) -> String {
    String(decoding: (try? TemporaryDirectory.read(path)) ?? [], as: UTF8.self)
}
