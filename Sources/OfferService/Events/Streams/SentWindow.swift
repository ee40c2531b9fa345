// SPDX-License-Identifier: Apache-2.0

/// What was sent over a connection whose other side says nothing of what it has read.
///
/// Pure: times are given, in milliseconds. Syslog has no acknowledgement, so some of what was sent is sent again when the
/// connection ends: what is still unacknowledged, and what may have lain unread at the other side. What is sent again keeps
/// the time of the first sending, so that a receiver which often ends its connection does not get it for ever.
package struct SentWindow: Sendable {
    private struct Batch {
        let first: Int64
        let bytes: Int
        /// The first time.
        let begunAt: Int64
        /// The last time.
        let sentAt: Int64
    }

    /// What is older than this, and acknowledged by the other side's system, counts as read while the connection lasts.
    package static let proofMilliseconds: Int64 = 10_000
    /// After an end that looks orderly, as that of a killed receiver may, no more is sent again than this.
    package static let closedMilliseconds: Int64 = 60_000
    /// After a reset no more is sent again than this; the receive buffer of Linux has 6 MB at most.
    package static let keptMilliseconds: Int64 = 300_000
    package static let keptBytes = 6 << 20

    private var batches: [Batch] = []
    /// Those of earlier connections, for the times of what is sent again.
    private var earlier: [Batch] = []
    /// The first entry that no earlier connection was sent.
    private var earlierEnd: Int64 = 0
    private var acknowledgedAt: Int64 = .min
    private var bytes = 0

    package init() {}

    /// Notes that entries were sent, the first of which is `first`.
    package mutating func add(_ first: Int64, bytes count: Int, at now: Int64) {
        let known = first < earlierEnd ? earlier.last { $0.first <= first } : nil
        batches.append(Batch(first: first, bytes: count, begunAt: known?.begunAt ?? now, sentAt: now))
        bytes += count
    }

    /// Takes note of the time, and of whether all that was sent is acknowledged; forgets what will not be sent again.
    package mutating func settle(isAcknowledged: Bool, at now: Int64) {
        if isAcknowledged { acknowledgedAt = now }
        var count = 0
        for batch in batches {
            let isOld = batch.begunAt <= now - Self.keptMilliseconds || bytes > Self.keptBytes
            guard isOld, isProven(batch, at: now) else { break }
            bytes -= batch.bytes
            count += 1
        }
        batches.removeFirst(count)
    }

    private func isProven(_ batch: Batch, at now: Int64, after milliseconds: Int64 = proofMilliseconds) -> Bool {
        batch.sentAt <= acknowledgedAt && batch.begunAt <= now - milliseconds
    }

    /// The first entry that may not have been read, `next` being the first that was not sent.
    package func proven(next: Int64, at now: Int64) -> Int64 {
        batches.first { !isProven($0, at: now) }?.first ?? next
    }

    /// Begins anew after the connection has ended, and returns from which entry on to send again.
    package mutating func restart(next: Int64, wasReset: Bool, at now: Int64) -> Int64 {
        let age = wasReset ? Self.keptMilliseconds : Self.closedMilliseconds
        let first = batches.first { !isProven($0, at: now, after: age) }?.first ?? next
        if !batches.isEmpty {
            (earlier, earlierEnd) = (batches.filter { $0.first >= first }, max(earlierEnd, next))
        }
        (batches, bytes, acknowledgedAt) = ([], 0, .min)
        return first
    }

    /// When the oldest of what may not have been read was sent.
    package func oldestAt(_ now: Int64) -> Int64? { batches.first { !isProven($0, at: now) }?.sentAt }
}
