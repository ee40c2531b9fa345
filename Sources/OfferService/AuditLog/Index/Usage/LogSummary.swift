// SPDX-License-Identifier: Apache-2.0
import Ledger
package import OfferDomain
package import Storage
package import TransparencyLog

/// What the entries of a span of time come to.
package struct LogSummary: Sendable {
    /// Hour by hour; only of hours within the span.
    package let usage: LogUsage
    /// Whether every entry of the span is counted; not while the index is far behind.
    package let isComplete: Bool

    /// The maximum number of runs missing from the index that are counted entry by entry.
    private static let mostRunsCountedAnew = 8

    /// Adds up the usage of all runs; runs without stored usage are counted from the log.
    ///
    /// `from` and `until` are whole hours. Used by one thread.
    package init(
        from: Timestamp,
        until: Timestamp,
        connection: any DatabaseConnection,
        format: AuditIndexFormat,
        tail: IndexRunBuilder?
    ) throws(AuditReadError) {
        let reader = AuditReader(connection: connection)
        let runs = try IndexRunReader(connection, format)
        let entries =
            try reader.firstIndex(at: from)..<max(try reader.firstIndex(at: from), try reader.firstIndex(at: until))
        let hours = hour(of: from.milliseconds)..<hour(of: until.milliseconds)
        var (sum, isComplete, countedAnew) = (LogUsage(), true, 0)
        var next = entries.lowerBound
        while next < entries.upperBound {
            let run = format.run(of: next)
            next = format.entries(ofRun: run).upperBound
            var usage = try runs.stored(run)
            if usage == nil {
                countedAnew += 1
                let begun = tail?.run == run ? tail : nil
                if countedAnew <= Self.mostRunsCountedAnew { usage = try runs.counted(run, from: begun) }
            }
            guard let usage else {
                isComplete = false
                continue
            }
            for (item, tally) in usage.items where hours.contains(item.hour) { sum.add(tally, to: item) }
        }
        self.usage = sum
        self.isComplete = isComplete
    }
}
