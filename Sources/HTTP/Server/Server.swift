// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// An HTTP/1.1 server, over TLS 1.3 or plain.
///
/// It listens from the moment it is made; clients that connect before ``start()`` wait. Release it only after
/// ``stop()`` has returned: a running server keeps its threads and itself alive.
///
/// Making one makes the process ignore SIGPIPE, which a client that disconnects early would otherwise cause.
package final class Server: Sendable {
    private enum Life {
        case notStarted, stopped
        case running([pthread_t])
    }

    /// The port it listens on.
    package let port: UInt16
    private let state: ServerState
    private let loops: [ServerLoop]
    private let life = Mutex(Life.notStarted)

    /// Opens the listening sockets and reads the certificate.
    package init(_ configuration: ServerConfiguration, responder: any Responder) throws(ServerError) {
        signal(SIGPIPE, SIG_IGN)
        let state = try ServerState(configuration, responder)
        self.state = state
        var loops: [ServerLoop] = []
        for _ in 0..<configuration.loops { loops.append(try ServerLoop(state)) }
        self.loops = loops
        var sockets = try ListeningSockets(
            count: configuration.loops,
            address: configuration.address,
            port: configuration.port
        )
        port = sockets.port
        for loop in loops { try loop.listen(on: sockets.takeOne()) }
    }

    /// Starts a thread for each event loop.
    ///
    /// Does nothing the second time.
    ///
    /// - Throws: ``ServerError/cannotPrepare(operation:reason:)`` if the system gives no more threads.
    package func start() throws(ServerError) {
        try life.withLock { life throws(ServerError) in
            guard case .notStarted = life else { return }
            var threads: [pthread_t] = []
            for loop in loops { threads.append(try Self.startThread(loop.loop)) }
            life = .running(threads)
        }
    }

    /// Until when the certificate in use is valid, in seconds since 1970 UTC; `nil` without TLS.
    package var certificateExpiry: Int64? { state.tlsContext?.expiry }

    /// Reads the certificate and key again.
    ///
    /// New connections use them; those that are open keep the old ones. All or nothing: if it throws, nothing has changed.
    package func reloadTLS() throws(ServerError) {
        try state.reloadTLS()
    }

    /// Reads the certificate and key again, if there are any, and uses them once `step` has succeeded.
    ///
    /// For changes that must take effect together: if either fails, neither has changed anything.
    package func reloadTLS(after step: () throws -> Void) throws {
        try state.reloadTLS(after: step)
    }

    /// Stops accepting, lets requests in flight be answered, at most for the drain deadline, and ends the threads.
    ///
    /// The server closes idle connections at once. It cancels responders that have not answered in time, gives them
    /// half a second, and abandons them: they continue on Swift's own threads, and their responses are ignored. Does
    /// nothing if the server does not run.
    package func stop() async {
        let threads = life.withLock { life -> [pthread_t] in
            guard case .running(let threads) = life else { return [] }
            life = .stopped
            return threads
        }
        guard !threads.isEmpty else { return }
        let running = Countdown(loops.count)
        await withCheckedContinuation { continuation in
            for loop in loops { loop.drain { if running.countDown() { continuation.resume() } } }
        }
        for thread in threads { pthread_join(thread, nil) }
    }

    /// How many event loops there are.
    package var loopCount: Int { loops.count }

    /// Has each loop call `answer` with its number, counted from 0, in its next turn.
    package func askLoops(_ answer: @escaping @Sendable (Int) -> Void) {
        for (number, loop) in loops.enumerated() { loop.loop.perform { answer(number) } }
    }

    /// What has happened so far.
    package var statistics: ServerStatistics {
        loops.reduce(into: ServerStatistics()) { $1.counters.add(to: &$0) }
    }

    private static func startThread(_ loop: EventLoop) throws(ServerError) -> pthread_t {
        var thread = pthread_t()
        let argument = unsafe Unmanaged.passRetained(loop)
        let result = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<EventLoop>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            argument.toOpaque()
        )
        guard result == 0 else {
            unsafe argument.release()
            throw .cannotPrepare(operation: "start a thread", reason: unsafe String(cString: strerror(result)))
        }
        return thread
    }
}

/// Tells the last of several that it is the last.
private final class Countdown: Sendable {
    private let left: Atomic<Int>

    init(_ count: Int) { left = Atomic(count) }

    func countDown() -> Bool { left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}
