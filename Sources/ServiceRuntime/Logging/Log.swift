// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
import Synchronization

/// How much the log says.
package enum LogLevel: Int, CaseIterable, Hashable, Sendable {
    case debug, info, warning, error

    /// The word in settings and log lines.
    package var name: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .warning: "warning"
        case .error: "error"
        }
    }

    /// Reads a word of the setting `log`; `nil` for any other.
    package init?(name: String) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }
}

/// A value beside a log message; never a key, a token, a customer's id, a body or an SQL argument.
package enum LogValue: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case text(String)
    case integer(Int64)
    case id(UniqueID)

    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
}

/// Writes one line for each event: time, level, a constant message, and values with their names.
package final class Log: Sendable {
    private let level: LogLevel
    private let clock: WallClock
    private let style: LogStyle
    private let sink: @Sendable ([UInt8]) -> Void
    private let logged = OnceAMinute<Cause>()

    /// What is logged once a minute, however often it happens.
    private struct Cause: Hashable {
        let message: String
        let reason: String
        let app: String
    }

    private let dropped: @Sendable () -> Int

    /// A log from `level` on; `sink` receives whole lines and must not block.
    package init(
        level: LogLevel,
        style: LogStyle = LogStyle(.json),
        clock: WallClock,
        sink: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.level = level
        self.style = style
        self.clock = clock
        self.sink = sink
        dropped = { 0 }
    }

    /// A log from `level` on; the default one is on standard error.
    package init(
        level: LogLevel,
        style: LogStyle = LogStyle(.json),
        clock: WallClock,
        writer: LogWriter = .standardError
    ) {
        self.level = level
        self.style = style
        self.clock = clock
        sink = { writer.write($0) }
        dropped = { writer.droppedLines }
    }

    /// How many lines were left out because they were not read.
    package var droppedLines: Int { dropped() }

    /// Writes a line if the level is logged; only then `values` is evaluated.
    package func callAsFunction(
        _ level: LogLevel,
        _ message: StaticString,
        with values: @autoclosure () -> KeyValuePairs<StaticString, LogValue> = [:],
        tone: LogTone = .plain
    ) {
        guard level.rawValue >= self.level.rawValue else { return }
        write(level, message, with: values(), tone: tone)
    }

    private func write(
        _ level: LogLevel,
        _ message: StaticString,
        with values: some Collection<(key: StaticString, value: LogValue)>,
        tone: LogTone = .plain
    ) {
        sink(style.line(level, message, at: clock.now(), with: values, tone: tone))
    }

    /// Logs something that callers may bring about without end: once a minute for each reason and app.
    ///
    /// Reasons and apps are to be of a closed list; `values` are logged beside them.
    package func onceAMinute(
        _ level: LogLevel,
        _ message: StaticString,
        reason: String,
        app: String? = nil,
        with values: @autoclosure () -> KeyValuePairs<StaticString, LogValue> = [:]
    ) {
        guard admits(level, Cause(message: "\(message)", reason: reason, app: app ?? "")) else { return }
        let app: [(key: StaticString, value: LogValue)] = app.map { [("app", .text($0))] } ?? []
        write(level, message, with: [("reason", .text(reason))] + app + Array(values()))
    }

    /// Logs these values alone, once a minute for each cause.
    package func onceAMinute(
        _ level: LogLevel,
        _ message: StaticString,
        of cause: String,
        with values: @autoclosure () -> KeyValuePairs<StaticString, LogValue>
    ) {
        guard admits(level, Cause(message: "\(message)", reason: cause, app: "")) else { return }
        write(level, message, with: values())
    }

    private func admits(_ level: LogLevel, _ cause: Cause) -> Bool {
        level.rawValue >= self.level.rawValue && logged.admits(cause, at: clock.now())
    }
}
