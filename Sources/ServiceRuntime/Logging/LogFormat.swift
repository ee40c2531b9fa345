// SPDX-License-Identifier: Apache-2.0
import Glibc
import JSON
import OfferDomain

/// How log lines are written.
package enum LogFormat: String, CaseIterable, Hashable, Sendable {
    /// One JSON object a line, for programs.
    case json
    /// One line of words, for people.
    case text
}

/// What a line reports, for its color.
package enum LogTone: Hashable, Sendable {
    /// As the level has it.
    case plain
    /// Something was granted.
    case good
    /// A request was refused.
    case refused
}

/// Writes log lines in one format.
package struct LogStyle: Hashable, Sendable {
    /// How a line is written.
    package let format: LogFormat
    /// Whether words have ANSI colors.
    package let isColored: Bool

    package init(_ format: LogFormat, isColored: Bool = false) {
        self.format = format
        self.isColored = isColored
    }

    /// The style for standard error: text on a terminal, JSON otherwise, unless `format` is given.
    ///
    /// Colors are used only on terminals, and never if NO_COLOR is set and not empty (https://no-color.org).
    package static func standardError(_ format: LogFormat?, environment: [String: String]) -> LogStyle {
        let isTerminal = isatty(STDERR_FILENO) == 1
        let isPlain = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        return LogStyle(format ?? (isTerminal ? .text : .json), isColored: isTerminal && !isPlain)
    }

    /// One line with its end.
    func line(
        _ level: LogLevel,
        _ message: StaticString,
        at time: Timestamp,
        with values: some Collection<(key: StaticString, value: LogValue)>,
        tone: LogTone
    ) -> [UInt8] {
        switch format {
        case .json: jsonLine(level, message, at: time, with: values)
        case .text: textLine(level, message, at: time, with: values, tone: tone)
        }
    }

    private func jsonLine(
        _ level: LogLevel,
        _ message: StaticString,
        at time: Timestamp,
        with values: some Collection<(key: StaticString, value: LogValue)>
    ) -> [UInt8] {
        var writer = JSONWriter(reserving: 384)
        writer.beginObject()
        writer.member("time", upTo: Timestamp.mostRFC3339Bytes) { time.appendRFC3339(to: &$0) }
        writer.member("level", plain: level.name)
        writer.name("message")
        writer.string("\(message)")
        for (name, value) in values {
            switch value {
            case .text(let text):
                writer.name(name)
                writer.string(text)
            case .integer(let integer): writer.member(name, integer: integer)
            case .id(let id): writer.member(name, upTo: UniqueID.textBytes) { id.append(to: &$0) }
            }
        }
        writer.endObject()
        writer.endLine()
        return writer.bytes
    }

    private func textLine(
        _ level: LogLevel,
        _ message: StaticString,
        at time: Timestamp,
        with values: some Collection<(key: StaticString, value: LogValue)>,
        tone: LogTone
    ) -> [UInt8] {
        let name = level.name.uppercased()
        let word = name + String(repeating: " ", count: max(0, 7 - name.count))
        var text = "\(time.rfc3339) \(colored(word, as: level, tone)) \(colored("\(message)", as: level, tone))"
        for (name, value) in values {
            switch value {
            case .text(let value): text += "  \(name)=\(Self.shown(value))"
            case .integer(let value): text += "  \(name)=\(value)"
            case .id(let id): text += "  \(name)=\(id)"
            }
        }
        return Array((text + "\n").utf8)
    }

    private func colored(_ text: String, as level: LogLevel, _ tone: LogTone) -> String {
        guard isColored else { return text }
        let code =
            switch (tone, level) {
            case (.good, _): "32"
            case (.refused, _): "33"
            case (.plain, .debug): "2"
            case (.plain, .info): "36"
            case (.plain, .warning): "33"
            case (.plain, .error): "31"
            }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }

    /// A value as one word, or in quotes; nothing in it can move a terminal's cursor or begin another line.
    private static func shown(_ value: String) -> String {
        let isWord = value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
        guard !isWord || value.isEmpty else { return value }
        let quoted = value.replacing("\\", with: #"\\"#).replacing("\"", with: #"\""#)
        return "\"" + HiddenCharacters.escaped(quoted) + "\""
    }
}
