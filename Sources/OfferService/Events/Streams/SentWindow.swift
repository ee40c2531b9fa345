// SPDX-License-Identifier: Apache-2.0

/// The entries that were sent to a receiver that acknowledges none of them.
///
/// Pure: the caller passes times, in milliseconds. Syslog has no acknowledgments, only TCP has. When a connection ends,
/// entries are sent again that TCP has not acknowledged, or that the receiver may not have read. Acknowledged entries
/// are sent again three times at most, so that a receiver that often ends its connection does not get them without end.
package struct SentWindow: Sendable {
    private struct Batch {
        let first: Int64
        let bytes: Int
        let sentAt: Int64
        /// How often its entries had been sent before.
        let repeats: Int
    }

    /// An acknowledged batch counts as read after this time, while the connection lasts.
    package static let proofMilliseconds: Int64 = 10_000
    /// After an orderly end, which a killed receiver may make too, batches of this time are sent again.
    package static let closedMilliseconds: Int64 = 60_000
    /// After a reset, batches of this time are sent again, at most 6 MB: the largest receive buffer of Linux.
    package static let keptMilliseconds: Int64 = 300_000
    /// The most bytes that are kept to be sent again after a reset.
    package static let keptBytes = 6 << 20
    /// How often an acknowledged batch is sent again at most.
    package static let mostRepeats = 3

    private var batches: [Batch] = []
    /// Batches of earlier connections that are to be sent again.
    private var earlier: [Batch] = []
    /// The first entry that was never sent before this connection; no batch has entries of both sides of it.
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

    /// A batch of the same millisecond may have been sent after the acknowledgments were looked at.
    private func isAcknowledged(_ batch: Batch) -> Bool { batch.sentAt < acknowledgedAt }

    private func isProven(_ batch: Batch, at now: Int64, after milliseconds: Int64 = proofMilliseconds) -> Bool {
        isAcknowledged(batch) && batch.sentAt <= now - milliseconds
    }

    /// The first entry that may not have been read, `next` being the first that was not sent.
    package func proven(next: Int64, at now: Int64) -> Int64 {
        batches.first { !isProven($0, at: now) }?.first ?? next
    }

    /// Notes that an operator has everything from an entry on sent again.
    package mutating func rewind(to entry: Int64) {
        batches.removeAll { $0.first >= entry }
        earlier.removeAll { $0.first >= entry }
        bytes = batches.reduce(0) { $0 + $1.bytes }
        earlierEnd = min(earlierEnd, entry)
    }

    /// Forgets the connection, which has ended, and returns the first entry to send again.
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
