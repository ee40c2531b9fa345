// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Glibc
import Ledger
import OfferDomain
import ServiceRuntime
import Storage
import TransparencyLog

/// Sends entries of the log to one receiver, in order; used by one thread, until another instance takes over.
///
/// A receiver that fails is tried again without end: the log keeps what it has not received.
final class StreamSession {
    let term: Int
    private let stream: LogStream
    private let context: DeliveryContext
    private let connection: any DatabaseConnection
    private let sink: any LogSink
    private let isStopped: () -> Bool
    private let stopwatch: Stopwatch
    private var row: EndpointTable.Row
    private var storedRow: EndpointTable.Row
    /// The index of the next entry to look at.
    private var next: Int64
    private var window = SentWindow()
    /// Set since the first failure, until the receiver works again.
    private var failing: EndpointTable.HeldUp?
    /// Positions that the database holds as failing.
    private var storedHeld: Set<Int64>
    private var retryAt: Int64 = .min
    /// When something was sent first over the present connection.
    private var takesSince: Int64?
    private var (lookedAt, storedAt): (Int64, Int64) = (-10_000, -10_000)
    private var logSize: Int64 = 0
    private(set) var hasMore = false

    init(
        _ stream: LogStream,
        _ context: DeliveryContext,
        term: Int,
        isStopped: @escaping () -> Bool
    ) throws(AuditReadError) {
        (self.stream, self.context, self.term, self.isStopped) = (stream, context, term, isStopped)
        sink = stream.target.makeSink(origin: context.origin)
        stopwatch = context.runtime.clock.stopwatch()
        do throws(StorageError) {
            connection = try context.open()
            let table = EndpointTable(connection: connection)
            let size = try connection.first(SQL("SELECT size FROM log_head")) { $0.integer(0) } ?? 0
            let found = try table.row(stream.id)
            row = found ?? .init(id: stream.id, nextPosition: EventPosition(index: size).number)
            storedHeld = Set(try table.heldUp(stream.id).map(\.position))
        } catch {
            throw .database(error)
        }
        storedRow = row
        next = EventPosition(number: row.nextPosition).index
    }

    private var now: Timestamp { context.runtime.clock.now() }
    private var milliseconds: Int64 { stopwatch.microseconds / 1000 }

    /// Applies commands, sends what is new, and stores its position.
    func step() throws(AuditReadError) {
        if milliseconds - lookedAt >= 1000 {
            lookedAt = milliseconds
            try applyCommands()
        }
        watch()
        hasMore = false
        if milliseconds >= retryAt { try sendPage() }
        storeIfDue()
    }

    // MARK: - Sending

    private func sendPage() throws(AuditReadError) {
        logSize = try newestSize()
        guard next < logSize else { return }
        let page = try AuditReader(connection: connection).page(from: next)
        guard !page.isEmpty else { throw .damaged(index: next) }
        var batch = StreamBatch(first: next)
        var following = next
        for (index, entry) in page {
            guard index == following, let item = StreamItem(index, entry) else { throw .damaged(index: following) }
            following += 1
            if stream.wants(item.categories) { batch.add(sink.bytes(of: item)) }
            guard batch.bytes.count >= sink.batchBytes || following == window.earlierEnd else { continue }
            guard send(batch, upTo: following) else { return }
            batch = StreamBatch(first: following)
        }
        guard send(batch, upTo: following) else { return }
        hasMore = next < logSize
    }

    private func newestSize() throws(AuditReadError) -> Int64 {
        if let logSize = context.logSize { return logSize() }
        return try AuditReader(connection: connection).size()
    }

    /// - Returns: Whether it was taken.
    private func send(_ batch: StreamBatch, upTo following: Int64) -> Bool {
        if batch.count > 0 {
            do throws(LogSinkError) {
                try sink.write(batch.bytes, isStopped: isStopped)
            } catch {
                fail(error)
                return false
            }
            if !sink.isDurable {
                window.add(batch.first, upTo: following, bytes: batch.bytes.count, at: milliseconds)
                takesSince = takesSince ?? milliseconds
            }
            row.delivered += Int64(batch.count)
            row.deliveredAt = now
            context.runtime.metrics.count(.eventDeliveries(endpoint: stream.id, outcome: "delivered"), by: batch.count)
            if sink.isDurable { recover() }
        }
        next = following
        return true
    }

    /// Notices an ended connection, and which entries count as read.
    private func watch() {
        do throws(LogSinkError) {
            try sink.check()
        } catch {
            let before = next
            resume(error)
            // A connection that was closed while idle is opened again when there is something to send.
            if next < before { fail(error) }
            return
        }
        window.settle(isAcknowledged: sink.isAcknowledged, at: milliseconds)
        guard failing != nil, !sink.isDurable, milliseconds >= retryAt else { return }
        // It has taken something since, and kept the connection.
        if let takesSince, sink.isAcknowledged, milliseconds - takesSince >= Self.steadyMilliseconds { recover() }
    }

    /// A receiver counts as working again once it has kept the connection for this time.
    private static let steadyMilliseconds: Int64 = 2000

    /// Goes back to what the receiver may not have read.
    private func resume(_ error: LogSinkError) {
        next = window.restart(next: next, wasReset: error.wasReset, at: milliseconds)
        takesSince = nil
    }

    private func fail(_ error: LogSinkError) {
        resume(error)
        guard !error.isStop else { return }
        let attempts = (failing?.attempts ?? 0) + 1
        let pause = min(Self.longestPause, 1000 << min(attempts - 1, 10))
        let jitter = Int64(context.runtime.random.next() % UInt64(pause / 5 + 1)) - pause / 10
        retryAt = milliseconds + pause + jitter
        context.runtime.metrics.count(.eventDeliveries(endpoint: stream.id, outcome: "failed"))
        if failing?.failure != error.description {
            context.runtime.log(
                .warning,
                "a stream has not taken entries",
                with: [
                    "endpoint": .text(stream.id), "reason": .text(error.description), "kind": .text(error.label),
                ]
            )
        }
        failing = EndpointTable.HeldUp(
            position: EventPosition(index: next).number,
            attempts: attempts,
            firstAttemptAt: failing?.firstAttemptAt ?? now,
            nextAttemptAt: now.adding(milliseconds: pause + jitter),
            failure: error.description
        )
        store()
    }

    /// Between two attempts, in milliseconds.
    private static let longestPause: Int64 = 60_000

    private func recover() {
        guard failing != nil else { return }
        failing = nil
        context.runtime.log(.info, "a stream takes entries again", with: ["endpoint": .text(stream.id)])
        store()
    }

    /// Ends the connection; the next session sends again what the receiver may not have read.
    func end() {
        watch()
        sink.close()
        store()
    }

    // MARK: - The database

    /// Applies what commands have written.
    private func applyCommands() throws(AuditReadError) {
        guard let found = try reading(EndpointTable(connection: connection).row(stream.id)) else { return addRow() }
        guard let asked = found.rewindTo else { return }
        // Going ahead would lose what was not delivered yet.
        let index = min(EventPosition(number: asked).index, provenNext)
        let (id, lease, position) = (stream.id, context.lease, EventPosition(index: index).number)
        let isDone = derive { connection throws(StorageError) in
            guard try lease?.isHeld(connection) ?? true else { return }
            try EndpointTable(connection: connection).rewound(id, to: position, asked: asked)
        }
        guard isDone else { return }
        (next, retryAt) = (index, .min)
        // What was sent before that may still lie unread at the receiver.
        window.rewind(to: index)
        (row.nextPosition, storedRow.nextPosition) = (position, position)
        storedHeld = storedHeld.filter { $0 < position }
    }

    private var provenNext: Int64 { window.proven(next: next, at: milliseconds) }

    private func storeIfDue() {
        if milliseconds - storedAt >= 1000 { store() }
    }

    private func store() {
        storedAt = milliseconds
        row.nextPosition = EventPosition(index: provenNext).number
        let (row, failing, id, lease) = (row, failing, stream.id, context.lease)
        let gone = storedHeld.subtracting(failing.map { [$0.position] } ?? [])
        let isHeld = failing.map { $0.attempts != storedAttempts || !storedHeld.contains($0.position) } ?? false
        guard row != storedRow || isHeld || !gone.isEmpty else { return }
        let isDone = derive { connection throws(StorageError) in
            guard try lease?.isHeld(connection) ?? true else { return }
            let table = EndpointTable(connection: connection)
            try table.update(row)
            if let failing { try table.put(failing, of: id) }
            for position in gone { try table.remove(position, of: id) }
        }
        guard isDone else { return }
        (storedRow, storedAttempts) = (row, failing?.attempts ?? 0)
        storedHeld = failing.map { [$0.position] } ?? []
    }

    private var storedAttempts: Int64 = 0

    private func addRow() {
        let row = row
        _ = derive { connection throws(StorageError) in try EndpointTable(connection: connection).add(row) }
    }

    private func derive(_ body: @escaping Committer.Derivation) -> Bool {
        context.store(body, of: stream.id)
    }

    var deliveryStatus: EndpointThread.Status {
        EndpointThread.Status(
            backlog: max(0, logSize - next),
            retrying: failing == nil ? 0 : 1,
            oldestFirstAttemptAt: failing?.firstAttemptAt,
            failure: failing?.failure,
            isCircuitOpen: failing != nil,
            deliveredAt: row.deliveredAt
        )
    }
}

/// Entries that are sent together.
private struct StreamBatch {
    let first: Int64
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0

    init(first: Int64) {
        self.first = first
    }

    mutating func add(_ item: [UInt8]) {
        bytes += item
        count += 1
    }
}

extension LogStream.Target {
    func makeSink(origin: String) -> any LogSink {
        switch self {
        case .syslog(let target): SyslogSink(target, origin: origin)
        case .file(let path): LogFile(path: path)
        }
    }
}
