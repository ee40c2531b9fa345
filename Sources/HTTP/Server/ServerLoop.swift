// SPDX-License-Identifier: Apache-2.0
import CLibEvent
import Glibc
import Synchronization

/// One event loop of a server: its listening socket and its connections.
///
/// `@unchecked Sendable`: but for the counters, touched only on the loop's thread, before it starts, or after it ended.
@safe
final class ServerLoop: @unchecked Sendable {
    let loop: EventLoop
    let state: ServerState
    let counters = LoopCounters()
    private(set) var isDraining = false

    /// Where connections read into, one after the other: what is in it is taken before the next one reads.
    let inputBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * 1024, alignment: 16)
    /// Where answers are put together, one after the other, as each is sent; what a socket does not take is copied.
    private var message: [UInt8] = []
    private var responseWriter = ResponseWriter()
    private var dateLine = DateLine()
    private var listener: OpaquePointer?
    private var listenerIsPaused = false
    private var sweepTimer: OpaquePointer?
    private var laterTimer: OpaquePointer?
    /// By their sockets.
    private var connections: [Int32: Connection] = [:]
    /// Those that have more to read than one turn has room for.
    private var unfinished: [Connection] = []
    /// Connections whose responses wait to be sent.
    private var answered: [Connection] = []
    private var idleTasks: [RequestTask] = []
    /// Requests that the responder has.
    private var pendingRequests = 0
    private var drainBegan: UInt64 = 0
    private var hasDrained: (@Sendable () -> Void)?

    init(_ state: ServerState) throws(ServerError) {
        self.state = state
        loop = try EventLoop()
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe sweepTimer = event_new(loop.base, -1, Int16(EV_PERSIST), sweepIsDue, context)
        unsafe laterTimer = event_new(loop.base, -1, 0, laterHasCome, context)
        var interval = timeval(state.configuration.deadlines.sweepInterval)
        guard unsafe sweepTimer != nil, unsafe laterTimer != nil, unsafe event_add(sweepTimer, &interval) == 0 else {
            throw .lastSystemError("create a timer")
        }
        loop.turnEnded = { [unowned self] in turnEnded() }
    }

    private func turnEnded() {
        sendAnswers()
        state.responder.turnEnded()
    }

    deinit {
        if let listener = unsafe listener { unsafe evconnlistener_free(listener) }
        if let sweepTimer = unsafe sweepTimer { unsafe event_free(sweepTimer) }
        if let laterTimer = unsafe laterTimer { unsafe event_free(laterTimer) }
        unsafe inputBuffer.deallocate()
    }

    /// Takes a listening socket over; closes it if that fails.
    func listen(on socket: Int32) throws(ServerError) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let options = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC
        unsafe listener = evconnlistener_new(loop.base, clientHasConnected, context, options, 0, socket)
        guard let listener = unsafe listener else {
            let error = ServerError.lastSystemError("watch a listening socket")
            Glibc.close(socket)
            throw error
        }
        unsafe evconnlistener_set_error_cb(listener, acceptFailed)
    }

    // MARK: Connections

    fileprivate func accept(_ socket: Int32, from peer: PeerAddress) {
        // A client over its own limit must not evict another one.
        let isCountedForAddress = admit(peer)
        let open = state.openConnections.add(1, ordering: .relaxed).newValue
        let most = state.configuration.limits.connections
        let isOverTotal = open > most && !(isCountedForAddress && makeRoom())
        if open >= most, !canMakeRoom { pauseListener() }
        guard let connection = makeConnection(socket, from: peer) else {
            if isCountedForAddress { state.dismiss(peer) }
            state.openConnections.subtract(1, ordering: .relaxed)
            return
        }
        connections[socket] = connection
        counters.acceptedConnections.increase()
        counters.openConnections.increase()
        connection.begin(isCountedForAddress: isCountedForAddress, isOverTotal: isOverTotal)
    }

    private var canMakeRoom: Bool { connections.values.contains { $0.orderOfGivingWay != nil } }

    /// Counts a connection in; if its network has as many as it may, one connection of the network is evicted.
    ///
    /// - Returns: False if the client must be refused.
    private func admit(_ peer: PeerAddress) -> Bool {
        switch state.admit(peer) {
        case .admitted: true
        case .addressIsFull: false
        case .networkIsFull: makeRoom(in: peer.network) && state.admit(peer) == .admitted
        }
    }

    /// Closes the unauthenticated connection that has been idle longest, of those of `network` if one is given; without an idle
    /// one, the next by eviction rank.
    ///
    /// - Returns: False if no connection can be evicted.
    private func makeRoom(in network: PeerAddress.Address? = nil) -> Bool {
        var first: (order: Int, connection: Connection)?
        for connection in connections.values {
            guard let order = connection.orderOfGivingWay, network == nil || connection.peer.network == network else {
                continue
            }
            if let first, (first.order, first.connection.since) <= (order, connection.since) { continue }
            first = (order, connection)
        }
        guard let first else { return false }
        counters.evictedConnections.increase()
        first.connection.close()
        return true
    }

    /// Takes a socket over; closes it if memory is short.
    private func makeConnection(_ socket: Int32, from peer: PeerAddress) -> Connection? {
        guard let channel = makeChannel(socket) else {
            Glibc.close(socket)
            return nil
        }
        let connection = Connection(socket, channel, from: peer, on: self)
        guard connection.watch() else {
            channel.close(hasFailed: true)
            return nil
        }
        return connection
    }

    /// Makes a TLS connection if there is a certificate; nil if no TLS session can be made.
    private func makeChannel(_ socket: Int32) -> ConnectionSocket? {
        guard let tls = state.tlsContext else { return ConnectionSocket(socket) }
        return ConnectionSocket(socket, tls, asksForCertificate: state.configuration.asksForCertificates())
    }

    /// Forgets a connection that has closed.
    func remove(_ connection: Connection) {
        guard connections.removeValue(forKey: connection.socket) != nil else { return }
        counters.openConnections.increase(by: -1)
        state.openConnections.subtract(1, ordering: .relaxed)
        if listenerIsPaused { resumeListener() }
        if isDraining { loop.perform { self.endIfDrained() } }
    }

    /// Has a connection go on in the next turn.
    func continueLater(_ connection: Connection) {
        unfinished.append(connection)
        if unfinished.count == 1 { continueInNextTurn() }
    }

    /// Continues at most ``mostContinued`` connections.
    ///
    /// The rest wait for the next turn, which handles new events first.
    fileprivate func continueUnfinished() {
        let connections = unfinished.prefix(Self.mostContinued)
        unfinished.removeFirst(connections.count)
        if !unfinished.isEmpty { continueInNextTurn() }
        for connection in connections { connection.goOn() }
    }

    private func continueInNextTurn() {
        var atOnce = timeval()
        unsafe event_add(laterTimer, &atOnce)
    }

    private static let mostContinued = 32

    /// Puts an answer together in the loop's memory: its head, followed by as much of the body as fits into one record of TLS.
    ///
    /// - Returns: Where the rest of the body begins, and whether the connection closes after it.
    func render(_ response: Response, answersHead: Bool, closes: Bool) -> (bodyStart: Int, closes: Bool) {
        message.removeAll(keepingCapacity: true)
        let (hasBody, closes) = responseWriter.appendHead(
            of: response,
            to: &message,
            date: dateLine.now(),
            answersHead: answersHead,
            closes: closes
        )
        guard hasBody else { return (response.body.count, closes) }
        let bodyStart = min(response.body.count, max(0, Self.pieceByteCount - message.count))
        message.append(contentsOf: response.body[..<bodyStart])
        return (bodyStart, closes)
    }

    /// A copy of the assembled message, from byte `start` on.
    ///
    /// Without the copy, a slow client would keep all of the loop's buffer, which may be larger than its response.
    func message(from start: Int) -> ArraySlice<UInt8> { Array(message[start...])[...] }

    /// Sends the beginning of the assembled message.
    func sendMessage(over channel: ConnectionSocket) -> ConnectionSocket.Transmission {
        let message = message
        return unsafe channel.send(message.span.bytes)
    }

    private static let pieceByteCount = 16 * 1024

    // MARK: Answering

    /// Gives a request to the responder.
    ///
    /// - Returns: The task to cancel if the response is no longer wanted.
    func start(_ assignment: Assignment) -> RequestTask {
        counters.requests.increase()
        pendingRequests += 1
        if let task = idleTasks.popLast() {
            task.resume(with: assignment)
            return task
        }
        return RequestTask(assignment, on: self)
    }

    /// Whether an idle task should wait for more work, which then comes by ``RequestTask/resume(with:)``.
    func keeps(_ task: RequestTask) -> Bool {
        guard !isDraining, idleTasks.count < 128 else { return false }
        idleTasks.append(task)
        return true
    }

    /// Makes and sends the next piece of a response; it counts as a pending request.
    ///
    /// - Returns: The task to cancel if the piece is no longer wanted.
    func makePiece(of pieces: BodyPieces, for connection: Connection) -> Task<Void, Never> {
        pendingRequests += 1
        return Task(executorPreference: loop) {
            let piece: Result<[UInt8]?, BodyPieces.Interruption>
            do throws(BodyPieces.Interruption) {
                piece = .success(try await pieces.next())
            } catch {
                piece = .failure(error)
            }
            // Then the connection is gone too, and this is not the thread that may look at it.
            guard !self.loop.hasEnded else { return }
            precondition(self.loop.isCurrent, "a task has left its event loop")
            connection.send(piece)
            self.requestEnds()
        }
    }

    func requestEnds() {
        pendingRequests -= 1
        if isDraining { endIfDrained() }
    }

    /// Sends a response at the end of the turn, or once `mostUnsentAnswers` responses wait.
    ///
    /// Each response wakes its client. On the same machine, the client then competes with unanswered requests.
    func sendSoon(_ connection: Connection) {
        answered.append(connection)
        if answered.count >= Self.mostUnsentAnswers { sendAnswers() }
    }

    private static let mostUnsentAnswers = 32

    private func sendAnswers() {
        let connections = answered
        answered.removeAll(keepingCapacity: true)
        for connection in connections { connection.sendAnswer() }
    }

    // MARK: Listening

    private func pauseListener() {
        guard let listener = unsafe listener, !listenerIsPaused else { return }
        listenerIsPaused = true
        unsafe evconnlistener_disable(listener)
    }

    private func resumeListener() {
        guard let listener = unsafe listener else { return }
        guard
            state.openConnections.load(ordering: .relaxed) < state.configuration.limits.connections || canMakeRoom
        else { return }
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
        // Cancelled responders get another half second to notice.
        endIfDrained(evenWithPending: now - drainBegan >= drain + 500_000_000)
    }

    private func check(_ connection: Connection, _ now: UInt64) {
        let deadlines = state.configuration.deadlines
        let age = now - min(now, connection.since)
        let isOver = { (limit: Duration) in age >= limit.nanoseconds }
        switch connection.phase {
        case .handshake where isOver(deadlines.handshake): timeOut(connection)
        case .fresh where isDraining, .idle where isDraining: connection.closeUnlessAsked()
        case .fresh where isOver(deadlines.head): timeOut(connection)
        case .idle where isOver(deadlines.idle): connection.close()
        case .head where isOver(deadlines.head): timeOut(connection, .headTimeout)
        case .body where isOver(deadlines.body): timeOut(connection, .bodyTimeout)
        case .writing where isOver(deadlines.answer): timeOut(connection)
        case .leaving where isOver(deadlines.rejection): connection.close()
        default: break
        }
    }

    private func timeOut(_ connection: Connection, _ rejection: Rejection? = nil) {
        counters.timedOutConnections.increase()
        guard let rejection else { return connection.close() }
        connection.refuse(rejection)
    }

    // MARK: Stopping

    /// Accepts nothing more, closes idle connections, and calls `completion` when the rest is answered or time is up.
    func drain(_ completion: @escaping @Sendable () -> Void) {
        loop.perform { self.beginDraining(completion) }
    }

    private func beginDraining(_ completion: @escaping @Sendable () -> Void) {
        isDraining = true
        hasDrained = completion
        drainBegan = coarseNow()
        endListening()
        for task in idleTasks { task.resume(with: nil) }
        idleTasks = []
        sweep()
        endIfDrained()
    }

    /// Closes the listening socket, after it has accepted the connections in its queue, which closing would reset.
    private func endListening() {
        guard let listener = unsafe listener else { return }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        for _ in 0..<SOMAXCONN {
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let hasAccepted = unsafe withUnsafeMutableBytes(of: &address) {
                let address = unsafe $0.assumingMemoryBound(to: sockaddr.self).baseAddress
                let socket = unsafe Glibc.accept(evconnlistener_get_fd(listener), address, &length)
                guard socket >= 0 else { return false }
                evutil_make_socket_closeonexec(socket)
                evutil_make_socket_nonblocking(socket)
                unsafe clientHasConnected(listener, socket, address, Int32(length), context)
                return true
            }
            if !hasAccepted { break }
        }
        unsafe evconnlistener_free(listener)
        unsafe self.listener = nil
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

private let clientHasConnected: evconnlistener_cb = { _, socket, address, length, context in
    guard let address = unsafe address, let storage = unsafe SocketAddressStorage(address, length: Int(length)),
        let peer = PeerAddress(storage)
    else { return _ = close(socket) }
    unsafe withServerLoop(context) { $0.accept(socket, from: peer) }
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

private let laterHasCome: event_callback_fn = { _, _, context in
    unsafe withServerLoop(context) { $0.continueUnfinished() }
}
