// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Python's `json`, as a second opinion on how a value is written.
///
/// For ASCII names, and no numbers but integers, what it writes here is RFC 8785's canonical form.
enum Python {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Each text, read and written again with sorted names and without spaces.
    static func canonicalJSON(of texts: [String]) throws -> [String] {
        let script = """
            import json, sys
            sys.stdin.reconfigure(encoding="utf-8", newline="\\n")
            sys.stdout.reconfigure(encoding="utf-8", newline="\\n")
            for line in sys.stdin:
                print(json.dumps(json.loads(line), sort_keys=True, separators=(",", ":"), ensure_ascii=False))
            """
        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/env")
        python.arguments = ["python3", "-c", script]
        let (input, output) = (Pipe(), Pipe())
        python.standardInput = input
        python.standardOutput = output
        try python.run()
        let lines = Data(texts.map { $0 + "\n" }.joined().utf8)
        Thread.detachNewThread {
            input.fileHandleForWriting.write(lines)
            input.fileHandleForWriting.closeFile()
        }
        let written = try output.fileHandleForReading.readToEnd() ?? Data()
        python.waitUntilExit()
        guard python.terminationStatus == 0 else { throw Failure(description: "python3 failed") }
        return String(decoding: written, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
