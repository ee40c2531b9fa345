// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// Python's `json`, as a second opinion on how a value is written.
///
/// For ASCII names, and no numbers but integers, what it writes here is RFC 8785's canonical form.
enum Python {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let script = """
        import json, sys
        sys.stdin.reconfigure(encoding="utf-8", newline="\\n")
        sys.stdout.reconfigure(encoding="utf-8", newline="\\n")
        for line in sys.stdin:
            print(json.dumps(json.loads(line), sort_keys=True, separators=(",", ":"), ensure_ascii=False))
        """

    /// Each text, read and written again with sorted names and without spaces.
    static func canonicalJSON(of texts: [String]) async throws -> [String] {
        let directory = try TemporaryDirectory()
        let input = try directory.write(Array(texts.map { $0 + "\n" }.joined().utf8), to: "input")
        let outcome = try await runProcess(["/usr/bin/env", "python3", "-c", script], input: input)
        guard outcome.succeeded else { throw Failure(description: "\(outcome)") }
        return outcome.output.split(separator: "\n").map(String.init)
    }

    private static let csvScript = """
        import csv, json, sys
        sys.stdin.reconfigure(encoding="utf-8", newline="")
        sys.stdout.reconfigure(encoding="utf-8")
        print(json.dumps(list(csv.reader(sys.stdin, strict=True))))
        """

    /// The rows of a CSV file, cell by cell.
    static func csv(_ text: String) async throws -> [[String]] {
        let directory = try TemporaryDirectory()
        let input = try directory.write(Array(text.utf8), to: "input")
        let outcome = try await runProcess(["/usr/bin/env", "python3", "-c", csvScript], input: input)
        guard outcome.succeeded else { throw Failure(description: "\(outcome)") }
        return try Tree(outcome.output).elements.map { $0.elements.compactMap(\.text) }
    }
}
