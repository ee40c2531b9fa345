// SPDX-License-Identifier: Apache-2.0
import OfferService
import Synchronization

/// The progress of a slow command: one line on a terminal, kept up to date, and nothing anywhere else.
///
/// It appears once the command has taken a second and changes at most four times a second. It is erased at the end, so
/// that only the command's own output remains.
final class Progress: Sendable {
    private struct State {
        var shownAt: Int64
        var isShown = false
    }

    private let what: String
    private let unit: String
    private let begin: Int64
    private let isOn: Bool
    private let state: Mutex<State>

    /// - Parameters:
    ///   - what: What is done, as “exported”.
    ///   - unit: What is counted, as “entries”.
    init(_ what: String, _ unit: String) {
        self.what = what
        self.unit = unit
        let now = ClockStatus.system.elapsedMilliseconds()
        begin = now
        isOn = Terminal.canShow
        state = Mutex(State(shownAt: now + 750))
    }

    /// Says that so much is done, of a total if that is known.
    func update(_ done: Int64, of total: Int64? = nil) {
        guard isOn else { return }
        let now = ClockStatus.system.elapsedMilliseconds()
        state.withLock { state in
            guard now - state.shownAt >= 250 else { return }
            (state.shownAt, state.isShown) = (now, true)
            // Return to the beginning of the line and erase it.
            Terminal.hint("\r\u{1B}[K" + line(done, of: total, milliseconds: now - begin))
        }
    }

    /// Wipes the line out.
    func end() {
        state.withLock { state in
            if state.isShown { Terminal.hint("\r\u{1B}[K") }
            state.isShown = false
        }
    }

    /// As “exported 120,000 of 300,000 entries, 40,000/s, 5 s left”.
    private func line(_ done: Int64, of total: Int64?, milliseconds: Int64) -> String {
        let rate = done * 1000 / max(1, milliseconds)
        var line = "\(what) \(Self.grouped(done))"
        if let total { line += " of \(Self.grouped(total))" }
        line += " \(unit), \(Self.grouped(rate))/s"
        if let total, rate > 0, total > done { line += ", \(Self.duration((total - done + rate - 1) / rate)) left" }
        return line
    }

    private static func duration(_ seconds: Int64) -> String {
        seconds < 100 ? "\(seconds) s" : "\((seconds + 59) / 60) min"
    }

    private static func grouped(_ number: Int64) -> String {
        var text = ""
        for (place, digit) in String(number).reversed().enumerated() {
            if place > 0, place.isMultiple(of: 3) { text = "," + text }
            text = "\(digit)" + text
        }
        return text
    }
}
