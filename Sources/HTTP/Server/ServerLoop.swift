// SPDX-License-Identifier: Apache-2.0
import CLibEvent
import COpenSSL
import Glibc
import Synchronization

/// One event loop of a server: its listening socket, its evhttp and its connections.
///
/// `@unchecked Sendable`: but for the counters, touched only on the loop's thread, before it starts, or after it ended.
@safe
final class ServerLoop: @unchecked Sendable {
    let loop: EventLoop
    let state: ServerState
    let counters = LoopCounters()
    private(set) var isDraining = false

    private var http: OpaquePointer?
    private var boundSocket: OpaquePointer?
    private var listener: OpaquePointer?
    private var listenerIsPaused = false
    private var sweepTimer: OpaquePointer?
    /// By the address of evhttp's connection.
    private var connections: [Int: Connection] = [:]
    /// Requests that the responder has.
    private var pendingRequests = 0
    private var drainBegan: UInt64 = 0
    private var hasDrained: (@Sendable () -> Void)?

    init(_ state: ServerState) throws(ServerError) {
        self.state = state
        loop = try EventLoop { [responder = state.responder] in responder.turnEnded() }
        guard let http = unsafe evhttp_new(loop.base) else { throw .lastSystemError("create an HTTP server") }
        unsafe self.http = http
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe configure(http, context)
        unsafe sweepTimer = event_new(loop.base, -1, Int16(EV_PERSIST), sweepIsDue, context)
        var interval = timeval(state.configuration.deadlines.sweepInterval)
        guard unsafe sweepTimer != nil, unsafe event_add(sweepTimer, &interval) == 0 else {
            throw .lastSystemError("create a timer")
        }
    }

    deinit {
        if let http = unsafe http { unsafe evhttp_free(http) }
        if let sweepTimer = unsafe sweepTimer { unsafe event_free(sweepTimer) }
    }

    /// evhttp's own limits are a little above ours, so that ours speak first, with our answer.
    private func configure(_ http: OpaquePointer, _ context: UnsafeMutableRawPointer) {
        let methods = [
            EVHTTP_REQ_GET, EVHTTP_REQ_HEAD, EVHTTP_REQ_POST, EVHTTP_REQ_PUT, EVHTTP_REQ_DELETE, EVHTTP_REQ_OPTIONS,
            EVHTTP_REQ_PATCH,
        ]
        unsafe evhttp_set_allowed_methods(http, methods.reduce(0) { $0 | UInt16($1.rawValue) })
        unsafe evhttp_set_max_headers_size(http, state.configuration.limits.headBytes + 1024)
        unsafe evhttp_set_max_body_size(http, state.configuration.limits.mostBodyBytes + 1024)
        unsafe evhttp_set_default_content_type(http, nil)
        unsafe evhttp_set_gencb(http, requestArrived, context)
        unsafe evhttp_set_bevcb(http, connectionArrived, context)
    }

    /// Takes a listening socket over; closes it if that fails.
    func listen(on socket: Int32) throws(ServerError) {
        guard let bound = unsafe evhttp_accept_socket_with_handle(http, socket) else {
            let error = ServerError.lastSystemError("watch a listening socket")
            Glibc.close(socket)
            throw error
        }
        unsafe boundSocket = bound
        unsafe listener = evhttp_bound_socket_get_listener(bound)
        unsafe evconnlistener_set_error_cb(listener, acceptFailed)
    }

    // MARK: Connections

    /// Makes the bufferevent of a connection that evhttp is accepting.
    ///
    /// Never `nil` while there is memory: evhttp would make one itself, which nobody watches over.
    fileprivate func makeBufferEvent() -> OpaquePointer? {
        let options = Int32(BEV_OPT_CLOSE_ON_FREE.rawValue)
        var made: OpaquePointer?
        let tls = state.tlsContext
        if let session = unsafe tls?.makeConnection() {
            unsafe made = bufferevent_openssl_socket_new(loop.base, -1, session, BUFFEREVENT_SSL_ACCEPTING, options)
            if unsafe made == nil { unsafe SSL_free(session) }
        }
        let isTLS = unsafe made != nil
        if isTLS { unsafe bufferevent_openssl_set_allow_dirty_shutdown(made, 1) }
        if unsafe made == nil { unsafe made = bufferevent_socket_new(loop.base, -1, options) }
        guard let bufferEvent = unsafe made else { return nil }

        let connection = unsafe Connection(bufferEvent, isTLS: isTLS, on: self)
        let open = state.openConnections.add(1, ordering: .relaxed).newValue
        if open >= state.configuration.limits.connections { pauseListener() }
        let mayStay = isTLS || tls == nil
        // evhttp knows the connection only when this has returned; the reference keeps the bufferevent until then.
        unsafe bufferevent_incref(bufferEvent)
        loop.perform {
            self.adopt(connection, isOverTotal: open > self.state.configuration.limits.connections, mayStay)
        }
        return unsafe bufferEvent
    }

    private func adopt(_ connection: Connection, isOverTotal: Bool, _ mayStay: Bool) {
        defer { unsafe bufferevent_decref(connection.bufferEvent) }
        guard let key = connection.adopt() else {
            state.openConnections.subtract(1, ordering: .relaxed)
            return
        }
        connections[key] = connection
        counters.acceptedConnections.increase()
        counters.openConnections.increase()
        guard mayStay else { return connection.close() }
        connection.admit(isOverTotal: isOverTotal)
    }

    /// Forgets a connection that evhttp is freeing.
    func remove(_ key: Int) {
        guard connections.removeValue(forKey: key) != nil else { return }
        counters.openConnections.increase(by: -1)
        state.openConnections.subtract(1, ordering: .relaxed)
        if listenerIsPaused { resumeListener() }
        if isDraining { loop.perform { self.endIfDrained() } }
    }

    fileprivate func receive(_ request: UnsafeMutablePointer<evhttp_request>) {
        let carrier = unsafe evhttp_request_get_connection(request)
        guard let connection = connections[Int(bitPattern: carrier)] else {
            // One that nobody watches over; see makeBufferEvent().
            counters.disagreements.increase()
            return unsafe evhttp_connection_free(carrier)
        }
        unsafe connection.receive(request)
    }

    func requestBegins() {
        counters.requests.increase()
        pendingRequests += 1
    }

    func requestEnds() {
        pendingRequests -= 1
        if isDraining { endIfDrained() }
    }

    // MARK: Listening

    private func pauseListener() {
        guard let listener = unsafe listener, !listenerIsPaused else { return }
        listenerIsPaused = true
        unsafe evconnlistener_disable(listener)
    }

    private func resumeListener() {
        guard let listener = unsafe listener else { return }
        guard state.openConnections.load(ordering: .relaxed) < state.configuration.limits.connections else { return }
        listenerIsPaused = false
        unsafe evconnlistener_enable(listener)
    }

    // MARK: Deadlines

    fileprivate func sweep() {
        loop.takeRemoteWork()
        let now = coarseNow()
        for connection in Array(connections.values) { check(connection, now) }
        resumeListener()
        guard isDraining else { return }
        let drain = state.configuration.deadlines.drain.nanoseconds
        if now - drainBegan >= drain { abandon() }
        // Responders that were told to give up get another half second to notice.
        endIfDrained(evenWithPending: now - drainBegan >= drain + 500_000_000)
    }

    private func check(_ connection: Connection, _ now: UInt64) {
        let deadlines = state.configuration.deadlines
        let age = now - min(now, connection.since)
        let isOver = { (limit: Duration) in age >= limit.nanoseconds }
        switch connection.phase {
        case .handshake where connection.handshakeIsComplete: connection.enter(.fresh)
        case .handshake where isOver(deadlines.handshake): timeOut(connection)
        case .fresh where isDraining, .idle where isDraining: connection.close()
        case .fresh where isOver(deadlines.head): timeOut(connection)
        case .idle where isOver(deadlines.idle): connection.close()
        case .head where isOver(deadlines.head): timeOut(connection, .headTimeout)
        case .body where isOver(deadlines.body): timeOut(connection, .bodyTimeout)
        case .ready where isOver(deadlines.answer), .writing where isOver(deadlines.answer): timeOut(connection)
        case .rejecting where isOver(deadlines.rejection): connection.close()
        default: break
        }
    }

    private func timeOut(_ connection: Connection, _ rejection: Rejection? = nil) {
        counters.timedOutConnections.increase()
        guard let rejection else { return connection.close() }
        connection.refuse(rejection)
    }

    // MARK: Stopping

    /// Accepts nothing more, ends what is idle, and calls `completion` when the rest is answered or the time is up.
    func drain(_ completion: @escaping @Sendable () -> Void) {
        loop.perform { self.beginDraining(completion) }
    }

    private func beginDraining(_ completion: @escaping @Sendable () -> Void) {
        isDraining = true
        hasDrained = completion
        drainBegan = coarseNow()
        unsafe listener = nil
        if let boundSocket = unsafe boundSocket { unsafe evhttp_del_accept_socket(http, boundSocket) }
        unsafe boundSocket = nil
        sweep()
        endIfDrained()
    }

    /// Ends the connections that were not done in time.
    private func abandon() {
        for connection in Array(connections.values) {
            connection.cancel()
            connection.close()
        }
    }

    private func endIfDrained(evenWithPending: Bool = false) {
        guard connections.isEmpty, pendingRequests == 0 || evenWithPending, let completion = hasDrained else { return }
        hasDrained = nil
        unsafe evhttp_free(http)
        unsafe http = nil
        loop.finish()
        completion()
    }
}

extension timeval {
    fileprivate init(_ duration: Duration) {
        let nanoseconds = duration.nanoseconds
        self.init(tv_sec: Int(nanoseconds / 1_000_000_000), tv_usec: Int(nanoseconds % 1_000_000_000 / 1000))
    }
}

// MARK: - Called by libevent

private func withServerLoop<Result>(
    _ context: UnsafeMutableRawPointer?,
    _ body: (ServerLoop) -> Result
) -> Result? {
    guard let context = unsafe context else { return nil }
    return body(unsafe Unmanaged<ServerLoop>.fromOpaque(context).takeUnretainedValue())
}

private let connectionArrived: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> OpaquePointer? = {
    _,
    context in
    unsafe withServerLoop(context) { unsafe $0.makeBufferEvent() } ?? nil
}

private let requestArrived: @convention(c) (UnsafeMutablePointer<evhttp_request>?, UnsafeMutableRawPointer?) -> Void = {
    request,
    context in
    guard let request = unsafe request else { return }
    unsafe withServerLoop(context) { unsafe $0.receive(request) }
}

/// Mostly when there is no descriptor left; libevent would try again at once, and for ever.
///
/// A sweep tries again.
private let acceptFailed: evconnlistener_errorcb = { listener, _ in
    unsafe evconnlistener_disable(listener)
}

private let sweepIsDue: event_callback_fn = { _, _, context in
    unsafe withServerLoop(context) { $0.sweep() }
}
