// SPDX-License-Identifier: Apache-2.0

/// What was sent over a connection whose other side says nothing of what it has read.
///
/// Pure: times are given, in milliseconds. Syslog has no acknowledgement, so some of what was sent is sent again when the
/// connection ends: what is still unacknowledged, and what may have lain unread at the other side. What is acknowledged is
/// sent again three times at most, so that a receiver which often ends its connection does not get it for ever.
package struct SentWindow: Sendable {
    private struct Batch {
        let first: Int64
        let bytes: Int
        let sentAt: Int64
        /// How often it had been sent before.
        let repeats: Int
    }

    /// What is older than this, and acknowledged by the other side's system, counts as read while the connection lasts.
    package static let proofMilliseconds: Int64 = 10_000
    /// After an end that looks orderly, as that of a killed receiver may, no more is sent again than this.
    package static let closedMilliseconds: Int64 = 60_000
    /// After a reset no more is sent again than this; the receive buffer of Linux has 6 MB at most.
    package static let keptMilliseconds: Int64 = 300_000
    package static let keptBytes = 6 << 20
    package static let mostRepeats = 3

    private var batches: [Batch] = []
    /// Those of earlier connections, of which some is to be sent again.
    private var earlier: [Batch] = []
    /// The first entry that no earlier connection was sent; a batch ends before it, so that none has both.
    private(set) var earlierEnd: Int64 = 0
    private var acknowledgedAt: Int64 = .min
    private var bytes = 0

    package init() {}

    /// Notes that the entries from `first` on were sent, up to `end`, which was not.
    package mutating func add(_ first: Int64, upTo end: Int64, bytes count: Int, at now: Int64) {
        let known = end <= earlierEnd ? earlier.last { $0.first < end } : nil
        batches.append(Batch(first: first, bytes: count, sentAt: now, repeats: known.map { $0.repeats + 1 } ?? 0))
        bytes += count
    }

    /// Takes note of the time, and of whether all that was sent is acknowledged; forgets what will not be sent again.
    package mutating func settle(isAcknowledged: Bool, at now: Int64) {
        if isAcknowledged { acknowledgedAt = now }
        var count = 0
        for batch in batches {
            let isOld = batch.sentAt <= now - Self.keptMilliseconds || bytes > Self.keptBytes
            guard isOld, isProven(batch, at: now) else { break }
            bytes -= batch.bytes
            count += 1
        }
        batches.removeFirst(count)
    }

    /// What was sent in the same millisecond may have been sent after it was asked.
    private func isAcknowledged(_ batch: Batch) -> Bool { batch.sentAt < acknowledgedAt }

    private func isProven(_ batch: Batch, at now: Int64, after milliseconds: Int64 = proofMilliseconds) -> Bool {
        isAcknowledged(batch) && batch.sentAt <= now - milliseconds
    }

    /// The first entry that may not have been read, `next` being the first that was not sent.
    package func proven(next: Int64, at now: Int64) -> Int64 {
        batches.first { !isProven($0, at: now) }?.first ?? next
    }

    /// Begins anew after the connection has ended, and returns from which entry on to send again.
    package mutating func restart(next: Int64, wasReset: Bool, at now: Int64) -> Int64 {
        let age = wasReset ? Self.keptMilliseconds : Self.closedMilliseconds
        let first =
            batches.first { batch in
                !isProven(batch, at: now, after: age)
                    && !(isAcknowledged(batch) && batch.repeats >= Self.mostRepeats)
            }?.first ?? next
        earlier = batches.filter { $0.first >= first } + earlier.filter { $0.first >= next }
        earlierEnd = max(earlierEnd, next)
        (batches, bytes, acknowledgedAt) = ([], 0, .min)
        return first
    }
}
