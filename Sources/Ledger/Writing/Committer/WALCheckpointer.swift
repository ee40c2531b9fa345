// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
package import Storage

/// Checkpoints the database's write-ahead log on its own thread, so that no commit does so while others wait.
///
/// The log can restart only when all of it is checkpointed, and commits keep coming. So the committing thread
/// checkpoints the little that came meanwhile. A failed checkpoint is tried again when the log has grown further.
package final class WALCheckpointer: Sendable {
    private enum Phase {
        /// The log is short, or was just checkpointed.
        case idle
        case wanted, running
        /// The thread has checkpointed what was there when it began.
        case almostDone
    }

    private struct State {
        var phase = Phase.idle
        /// The number of pages at which the log is checkpointed next.
        var dueAt: Int
        var isStopping = false
        var hasEnded = false
    }

    /// Opens the thread's own connection; `nil` where there is no log.
    package typealias Opener = @Sendable () throws(StorageError) -> (any WriteAheadLogging)?

    private let pages: Int
    private let open: Opener
    private let state: Guarded<State>

    /// A checkpointer whose thread does not run yet; it checkpoints the log once that has `pages` pages.
    package init(pages: Int = 1000, open: @escaping Opener) {
        self.pages = pages
        self.open = open
        state = Guarded(State(dueAt: pages))
    }

    /// Starts the thread.
    func start() {
        NamedThread.start(named: "log-keeper") { [self] in run() }
    }

    /// Ends the thread and closes its connection.
    func stop() {
        state.withLock { $0.isStopping = true }
        state.wakeAll()
        _ = state.wait { $0.hasEnded ? true : nil }
    }

    // MARK: - The thread that commits

    /// Takes over the checkpoints of a connection that will commit.
    func adopt(_ connection: any DatabaseConnection) {
        (connection as? any WriteAheadLogging)?.leaveLogToOthers()
    }

    /// Checks how long the log is, between two commits of an adopted connection.
    func look(_ connection: any DatabaseConnection) {
        guard let connection = connection as? any WriteAheadLogging else { return }
        let length = connection.pagesInLog
        let (isNext, isLast) = state.withLock { state in
            // The log was restarted.
            if length < pages { (state.phase, state.dueAt) = (state.phase == .running ? .running : .idle, pages) }
            guard length >= state.dueAt else { return (false, false) }
            switch state.phase {
            case .idle:
                state.phase = .wanted
                return (true, false)
            case .wanted, .running: return (false, false)
            case .almostDone:
                (state.phase, state.dueAt) = (.idle, length + pages)
                return (false, true)
            }
        }
        if isNext { state.wakeAll() }
        // A failure leaves the log as it was; the log is durable, and is read from.
        if isLast { try? connection.carryOverLog() }
    }

    // MARK: - Its own thread

    private func run() {
        var connection: (any WriteAheadLogging)?
        while isWanted() {
            do throws(StorageError) {
                if connection == nil { connection = try open() }
                try connection?.carryOverLog()
            } catch {
                connection = nil
            }
            state.withLock { $0.phase = .almostDone }
        }
        connection = nil
        state.withLock { $0.hasEnded = true }
        state.wakeAll()
    }

    /// Sleeps until the log must be checkpointed; false once the thread must end.
    private func isWanted() -> Bool {
        state.wait { state in
            if state.isStopping { return false }
            guard state.phase == .wanted else { return nil }
            state.phase = .running
            return true
        }
    }
}
