// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
package import Storage

/// Has a thread of its own carry the database's write-ahead log over, so that no commit does while others wait for theirs.
///
/// The log can only be begun anew when all of it is carried over, and there is always a commit more. So the thread that
/// commits carries over the little that came meanwhile. Whatever fails is tried again when the log has grown further.
package final class WALCheckpointer: Sendable {
    private enum Phase {
        /// The log is short, or was just carried over.
        case idle
        case wanted, running
        /// The thread has carried over what there was when it began.
        case almostDone
    }

    private struct State {
        var phase = Phase.idle
        /// At so many pages it is next to be carried over.
        var dueAt: Int
        var isStopping = false
        var hasEnded = false
    }

    /// Opens the connection of the thread's own; `nil` where there is no log.
    package typealias Opener = @Sendable () throws(StorageError) -> (any WriteAheadLogging)?

    private let pages: Int
    private let open: Opener
    private let state: Guarded<State>

    /// A keeper whose thread does not run yet; it has the log carried over at so many pages.
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

    /// Takes the log of a connection over that will commit.
    func adopt(_ connection: any DatabaseConnection) {
        (connection as? any WriteAheadLogging)?.leaveLogToOthers()
    }

    /// Looks how long the log is, between two commits of a connection that was adopted.
    func look(_ connection: any DatabaseConnection) {
        guard let connection = connection as? any WriteAheadLogging else { return }
        let length = connection.pagesInLog
        let (isNext, isLast) = state.withLock { state in
            // It was begun anew.
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
        // What fails leaves the log as it was; it is durable, and is read from there.
        if isLast { try? connection.carryOverLog() }
    }

    // MARK: - The thread of its own

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

    /// Sleeps until the log is to be carried over; false once the thread is to end.
    private func isWanted() -> Bool {
        state.wait { state in
            if state.isStopping { return false }
            guard state.phase == .wanted else { return nil }
            state.phase = .running
            return true
        }
    }
}
