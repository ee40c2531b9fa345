// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Keeps the lines of a log.
final class LogRecorder: Sendable {
    private let recorded = Mutex<[[UInt8]]>([])

    var lines: [String] { recorded.withLock { $0.map { String(decoding: $0, as: UTF8.self) } } }

    /// How many answers it was warned of.
    var warnedAnswers: Int {
        lines.count { $0.contains(#""level":"warning""#) && $0.contains(#""message":"request answered""#) }
    }

    var sink: @Sendable ([UInt8]) -> Void {
        { [self] line in recorded.withLock { $0.append(line) } }
    }
}
