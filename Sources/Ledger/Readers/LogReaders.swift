// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
package import Storage
package import TransparencyLog

/// A few threads that read the database, each through its own read-only connection.
///
/// Reading blocks and may take long, so it does not run on an event loop, on the committer's thread or in Swift's
/// shared pool. If too many questions wait, further ones are refused.
package final class LogReaders: Sendable {
    private typealias Job = @Sendable (Reader) -> Void

    private struct Queue {
        var jobs: [Job] = []
        var isStopping = false
    }

    private let queue = Guarded(Queue())
    private let running = Guarded(0)
    private let threads: Int
    private let maximumWaiting: Int
    private let open: ConnectionOpener
    private let yields: Bool

    /// Readers that are not yet running; `maximumWaiting` questions may wait while all threads are busy.
    ///
    /// With `yields`, they use only the processor time that the threads that answer requests leave.
    package init(
        threads: Int = 2,
        maximumWaiting: Int = 64,
        yields: Bool = false,
        open: @escaping ConnectionOpener
    ) {
        self.threads = threads
        self.yields = yields
        self.maximumWaiting = maximumWaiting
        self.open = open
    }

    /// Starts the threads.
    package func start() {
        running.withLock { $0 = threads }
        for _ in 0..<threads { NamedThread.start(named: "log-reader") { [self] in run() } }
    }

    /// Answers the waiting questions, and ends the threads; later questions are refused.
    package func stop() {
        queue.withLock { $0.isStopping = true }
        queue.wakeOne()
        _ = running.wait { running in running == 0 ? true : nil }
    }

    /// Reads something; `body` sees one snapshot of the database.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any DatabaseConnection) throws(AuditReadError) -> Value
    ) async throws(LogReadersError) -> Value {
        let outcome: Result<Value, LogReadersError> = await withCheckedContinuation { continuation in
            let refusal = submit { reader in continuation.resume(returning: reader.read(body)) }
            if let refusal { continuation.resume(returning: .failure(refusal)) }
        }
        return try outcome.get()
    }

    private func submit(_ job: @escaping Job) -> LogReadersError? {
        let refusal: LogReadersError? = queue.withLock { queue in
            if queue.isStopping { return .stopped }
            if queue.jobs.count >= maximumWaiting { return .overloaded }
            queue.jobs.append(job)
            return nil
        }
        queue.wakeOne()
        return refusal
    }

    private func run() {
        if yields { NamedThread.yieldToOthers() }
        let reader = Reader(open: open)
        while let job = nextJob() { job(reader) }
        // One after the other: each is woken by the one before.
        queue.wakeOne()
        running.withLock { $0 -= 1 }
        running.wakeOne()
    }

    /// The job that has waited longest; sleeps while no job waits; nil when the threads must end.
    private func nextJob() -> Job? {
        queue.wait { queue -> Job?? in
            if queue.jobs.isEmpty { return queue.isStopping ? .some(nil) : .none }
            return .some(queue.jobs.removeFirst())
        }
    }
}

/// What one thread reads with.
private final class Reader {
    private let open: ConnectionOpener
    private var connection: (any DatabaseConnection)?

    init(open: @escaping ConnectionOpener) {
        self.open = open
    }

    func read<Value>(
        _ body: (any DatabaseConnection) throws(AuditReadError) -> Value
    ) -> Result<Value, LogReadersError> {
        do throws(AuditReadError) {
            return .success(try attempt(body))
        } catch {
            // A connection that failed once may fail for ever.
            if case .database = error { connection = nil }
            return .failure(.log(error))
        }
    }

    private func attempt<Value>(
        _ body: (any DatabaseConnection) throws(AuditReadError) -> Value
    ) throws(AuditReadError) -> Value {
        let current: any DatabaseConnection = if let connection { connection } else { try reading(open()) }
        try reading(current.begin())
        connection = current
        defer { current.rollback() }
        return try body(current)
    }
}

/// Why nothing was read.
package enum LogReadersError: Error, Hashable, Sendable {
    /// More questions wait than the readers will hold.
    case overloaded
    /// The service is stopping.
    case stopped
    case log(AuditReadError)
}
