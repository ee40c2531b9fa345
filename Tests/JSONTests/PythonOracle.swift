// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import JSON
import Testing

/// Python's `json`, made strict, as a second opinion on what texts say.
///
/// Python itself lets `NaN`, repeated names and lone surrogates pass; the script refuses them.
enum PythonOracle {
    /// Whether there is a Python to ask.
    static let isAvailable = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

    private static let script = #"""
        import json, struct, sys

        class Number:
            def __init__(self, text): self.text = text

        class Pairs:
            def __init__(self, pairs):
                self.pairs = pairs
                if len({name for name, _ in pairs}) < len(pairs): raise ValueError("repeated name")

        def refuse(text): raise ValueError(text)

        def show(value):
            if isinstance(value, Pairs):
                return "{" + "".join(show(name) + show(inner) for name, inner in value.pairs) + "}"
            if isinstance(value, list): return "[" + "".join(map(show, value)) + "]"
            if isinstance(value, str): return "s" + value.encode("utf-8").hex() + ";"
            if isinstance(value, Number): return show_number(value.text)
            return {True: "t", False: "f", None: "n"}[value]

        def show_number(text):
            number = float(text)
            shown = "-" if number in (float("inf"), float("-inf")) else struct.pack(">d", number).hex()
            if text.lstrip("-").isdigit() and -2**63 <= int(text) < 2**63: shown += "i" + str(int(text))
            return "#" + shown + ";"

        for line in open(sys.argv[1]):
            try:
                text = bytes.fromhex(line.strip()).decode("utf-8")
                print(show(json.loads(text, object_pairs_hook=Pairs, parse_constant=refuse,
                                      parse_int=Number, parse_float=Number)))
            except (ValueError, RecursionError):
                print("refused")
        """#

    /// What Python says of each text, in the form of ``Tree/shown``; "refused" for a text that is not JSON.
    static func answers(to texts: [[UInt8]]) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("json-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try script.write(to: folder.appendingPathComponent("oracle.py"), atomically: false, encoding: .utf8)
        let lines = texts.map { hexadecimal($0) + "\n" }.joined()
        try lines.write(to: folder.appendingPathComponent("texts"), atomically: false, encoding: .utf8)
        let answer = try output(of: "cd '\(folder.path)' && python3 -I oracle.py texts")
        return answer.split(separator: "\n").map(String.init)
    }

    /// What a command writes; by `popen`, because `Foundation.Process` leaks, which the leak checker takes for ours.
    private static func output(of command: String) throws -> String {
        let stream = try unsafe #require(popen(command, "r"))
        defer { unsafe pclose(stream) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = unsafe fread(&buffer, 1, buffer.count, stream), count > 0 {
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Tree {
    /// The tree on one line, numbers by their bits.
    var shown: String {
        switch self {
        case .object(let members):
            "{" + members.map { Tree.text($0.name).shown + $0.value.shown }.joined() + "}"
        case .array(let elements): "[" + elements.map(\.shown).joined() + "]"
        case .string(let bytes): "s" + hexadecimal(bytes) + ";"
        case .number(let double, let integer):
            "#" + (double.map { padded(String($0.bitPattern, radix: 16)) } ?? "-") + (integer.map { "i\($0)" } ?? "")
                + ";"
        case .boolean(let value): value ? "t" : "f"
        case .null: "n"
        }
    }

    private func padded(_ digits: String) -> String {
        String(repeating: "0", count: 16 - digits.count) + digits
    }
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}
