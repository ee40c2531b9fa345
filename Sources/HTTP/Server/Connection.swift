// SPDX-License-Identifier: Apache-2.0
import CLibEvent
import COpenSSL
import Glibc

/// One client's connection: evhttp carries it, and this watches over it.
///
/// Bytes pass ``RequestHeadScanner`` before evhttp is told of them (libevent runs a buffer's callbacks before the
/// bufferevent's). Requests are scanned one at a time: while one is being answered, what follows it lies unscanned in the
/// input buffer, and is scanned when evhttp asks for the next. When the scanner refuses, the input is drained on the spot,
/// so evhttp never sees the bad bytes, and ``refuse(_:)`` takes the connection over.
///
/// `@unchecked Sendable`: touched only on the thread of its event loop. It is handed to tasks that prefer that loop.
@safe
final class Connection: @unchecked Sendable {
    enum Phase {
        /// TLS is being agreed on.
        case handshake
        /// No byte of the first request has come.
        case fresh
        /// No byte of the next request has come.
        case idle
        case head, body
        /// The scanner has found a whole request, and evhttp is about to hand it over.
        case ready
        /// The responder has it.
        case answering
        /// evhttp writes the answer.
        case writing
        /// ``Rejection``'s answer is written, and what the client still sends is thrown away.
        case rejecting
    }

    unowned let server: ServerLoop
    /// Owned by evhttp's connection.
    let bufferEvent: OpaquePointer
    let isTLS: Bool
    private(set) var phase: Phase
    /// When the phase began, by ``coarseNow()``.
    private(set) var since = coarseNow()
    /// evhttp's connection, from ``adopt()`` until evhttp frees it.
    private var connection: OpaquePointer?
    private var inputCallback: OpaquePointer?
    private var scanner: RequestHeadScanner
    /// Bytes at the end of the input that the scanner has not seen, because a request before them is being answered.
    private var unscanned = 0
    private var peer = PeerAddress.loopback
    private var isCountedForAddress = false
    /// evhttp's request while the responder has it; ours to answer or to forget.
    private var request: UnsafeMutablePointer<evhttp_request>?
    private var task: Task<Void, Never>?
    private var answersHead = false
    private var closesAfterAnswer = false
    /// The client will send no more, and still waits for a rejection's answer.
    private var peerHasFinished = false

    init(_ bufferEvent: OpaquePointer, isTLS: Bool, on server: ServerLoop) {
        unsafe self.bufferEvent = bufferEvent
        self.isTLS = isTLS
        self.server = server
        phase = isTLS ? .handshake : .fresh
        scanner = RequestHeadScanner(limits: server.state.configuration.limits)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe inputCallback = evbuffer_add_cb(bufferevent_get_input(bufferEvent), inputChanged, context)
    }

    private var context: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }
    private var input: OpaquePointer? { unsafe bufferevent_get_input(bufferEvent) }
    private var output: OpaquePointer? { unsafe bufferevent_get_output(bufferEvent) }

    func enter(_ next: Phase) {
        phase = next
        since = coarseNow()
    }

    // MARK: Beginning and end

    /// Finds evhttp's connection, which is made only after the bufferevent, and asks to be told of its end.
    ///
    /// - Returns: The address of evhttp's connection, or `nil` if evhttp gave up on it already.
    func adopt() -> Int? {
        var argument: UnsafeMutableRawPointer?
        // evhttp passes its connection to its own callbacks; there is no other way to it before the first request.
        unsafe bufferevent_getcb(bufferEvent, nil, nil, nil, &argument)
        guard let argument = unsafe argument else { return nil }
        let adopted = OpaquePointer(argument)
        unsafe connection = adopted
        unsafe evhttp_connection_set_closecb(adopted, connectionEnds, context)
        return Int(bitPattern: adopted)
    }

    /// Sets the socket up and checks whether the client may have one more connection.
    func admit(isOverTotal: Bool) {
        let socket = unsafe bufferevent_getfd(bufferEvent)
        // evhttp writes head and body apart over TLS: without this each answer waits for the client's delayed ACK.
        setOption(socket, Int32(IPPROTO_TCP), TCP_NODELAY)
        guard let peer = PeerAddress(connectedTo: socket) else { return close() }
        self.peer = peer
        isCountedForAddress = server.state.admit(peer.group)
        guard isCountedForAddress, !isOverTotal else {
            let rejection: Rejection = isOverTotal ? .tooManyConnections : .tooManyConnectionsFromAddress
            guard isTLS else { return refuse(rejection) }
            // A handshake for the sake of a refusal would cost more than the refusal saves.
            server.counters.count(rejection)
            return close()
        }
    }

    /// Ends the connection at once.
    ///
    /// evhttp frees all that belongs to it and calls ``hasEnded()``.
    func close() {
        guard let connection = unsafe connection else { return }
        unsafe evhttp_connection_free(connection)
    }

    /// Asks the responder to give up; what it still answers is dropped.
    func cancel() {
        task?.cancel()
    }

    fileprivate func hasEnded() {
        guard let connection = unsafe connection else { return }
        unsafe self.connection = nil
        unsafe evbuffer_remove_cb_entry(input, inputCallback)
        // A request that evhttp has let go of is ours to free; one that it still holds it frees itself.
        if let request = unsafe request, unsafe evhttp_request_get_connection(request) == nil {
            unsafe evhttp_request_free(request)
        }
        unsafe request = nil
        if isCountedForAddress { server.state.dismiss(peer.group) }
        server.remove(Int(bitPattern: connection))
    }

    // MARK: Reading

    fileprivate func inputHasGrown(by count: Int) {
        switch phase {
        case .handshake, .idle:
            enter(.head)
            scan(last: count)
        case .fresh:
            // The first head's time runs from the beginning of the connection.
            phase = .head
            scan(last: count)
        case .head, .body: scan(last: count)
        case .ready, .answering, .writing: unscanned += count
        case .rejecting: discardInput()
        }
    }

    /// Shows the scanner the bytes at the end of the input.
    private func scan(last count: Int) {
        var missing = count
        var position = unsafe evbuffer_ptr()
        unsafe evbuffer_ptr_set(input, &position, evbuffer_get_length(input) - count, EVBUFFER_PTR_SET)
        while missing > 0 {
            var piece = unsafe iovec()
            guard unsafe evbuffer_peek(input, -1, &position, &piece, 1) > 0, let start = unsafe piece.iov_base else {
                return
            }
            let length = unsafe min(piece.iov_len, missing)
            let bytes = unsafe UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: length)
            switch unsafe scanner.scan(bytes.span) {
            case .incomplete:
                missing -= length
                if missing > 0 { unsafe evbuffer_ptr_set(input, &position, length, EVBUFFER_PTR_ADD) }
            case .complete(let consumed):
                unscanned = missing - consumed
                return enter(.ready)
            case .refused(let rejection):
                return refuse(rejection)
            }
        }
        if phase == .head, scanner.isInBody { enter(.body) }
    }

    private func discardInput() {
        unsafe evbuffer_drain(input, evbuffer_get_length(input))
    }

    // MARK: Answering

    /// Hands evhttp's request to the responder, if evhttp has read what the scanner has read.
    func receive(_ received: UnsafeMutablePointer<evhttp_request>) {
        guard phase == .ready, unsafe evbuffer_get_length(input) == unscanned else { return disagree() }
        let head = scanner.takeHead()
        let body = unsafe bytes(of: evhttp_request_get_input_buffer(received))
        guard body.count == head.contentLength else { return disagree() }

        unsafe request = received
        unsafe evhttp_request_set_on_complete_cb(received, answerWasSent, context)
        answersHead = head.method == .head
        closesAfterAnswer = head.asksToClose
        enter(.answering)
        let request = Request(
            method: head.method,
            path: head.path,
            query: head.query,
            headers: head.headers,
            body: body,
            peer: peer
        )
        respond(to: request)
    }

    private func respond(to request: Request) {
        let (server, responder) = (server, server.state.responder)
        server.requestBegins()
        task = Task(executorPreference: server.loop) {
            let response = await responder.respond(to: request)
            // Then the connection is gone too, and this is not the thread that may look at it.
            guard !server.loop.hasEnded else { return }
            self.answer(with: response)
            server.requestEnds()
        }
    }

    /// Two readers that read differently are how requests are smuggled; nothing more is believed of this connection.
    private func disagree() {
        server.counters.disagreements.increase()
        close()
    }

    private func bytes(of buffer: OpaquePointer?) -> [UInt8] {
        let length = unsafe evbuffer_get_length(buffer)
        guard length > 0 else { return [] }
        return unsafe [UInt8](unsafeUninitializedCapacity: length) { bytes, count in
            count = unsafe max(0, Int(evbuffer_remove(buffer, bytes.baseAddress, length)))
        }
    }

    private func answer(with response: Response) {
        precondition(server.loop.isCurrent, "a task has left its event loop")
        task = nil
        // The client, or a server that stops, did not wait.
        guard let request = unsafe request else { return }
        unsafe self.request = nil
        if server.isDraining { closesAfterAnswer = true }
        closesAfterAnswer = unsafe ResponseWriter.write(
            response,
            to: request,
            answersHead: answersHead,
            closes: closesAfterAnswer
        )
        enter(.writing)
        let status = ResponseWriter.status(of: response)
        unsafe evhttp_send_reply(request, status, ResponseWriter.phrase(for: Int(status)), nil)
        // evhttp reads on while it writes, to learn of the client's end. A client that has sent all and said so would then
        // lose its answer, and one that does not read could fill our memory.
        unsafe bufferevent_disable(bufferEvent, Int16(EV_READ))
        if !isTLS { writeAtOnce() }
    }

    /// Writes the answer without waiting for the loop to say that the socket takes it, which it nearly always does.
    ///
    /// Saves two calls of `epoll_ctl` for each request. What the socket does not take, and every error, is left to the loop.
    private func writeAtOnce() {
        // A bufferevent freezes the end that it writes from.
        unsafe evbuffer_unfreeze(output, 1)
        unsafe evbuffer_write(output, bufferevent_getfd(bufferEvent))
        unsafe evbuffer_freeze(output, 1)
        guard unsafe evbuffer_get_length(output) == 0 else { return }
        unsafe bufferevent_trigger(bufferEvent, Int16(EV_WRITE), Int32(BEV_TRIG_IGNORE_WATERMARKS.rawValue))
    }

    fileprivate func answerHasBeenSent() {
        guard !closesAfterAnswer else { return }
        enter(.idle)
        guard unscanned > 0 else { return }
        let count = unscanned
        unscanned = 0
        enter(.head)
        scan(last: count)
    }

    // MARK: Refusing

    /// Answers in evhttp's place, then closes.
    ///
    /// The bad bytes are thrown away at once. The answer is written a moment later in the same turn of the loop, when
    /// evhttp is not in the midst of something on this connection.
    func refuse(_ rejection: Rejection) {
        enter(.rejecting)
        discardInput()
        server.counters.count(rejection)
        server.loop.perform { self.writeRejection(rejection) }
    }

    private func writeRejection(_ rejection: Rejection) {
        guard unsafe connection != nil else { return }
        let response = server.state.configuration.rejectionResponse(rejection)
        let bytes = ResponseWriter.closingMessage(response, answersHead: scanner.method == .head)
        unsafe bufferevent_setcb(bufferEvent, nil, rejectionWasWritten, rejectedConnectionChanged, context)
        unsafe evbuffer_add(output, bytes, bytes.count)
        unsafe bufferevent_enable(bufferEvent, Int16(EV_READ | EV_WRITE))
    }

    /// Says goodbye and goes on reading: closing now, with bytes unread, would reset the connection, and the client might
    /// lose the answer (RFC 9112, section 9.6).
    fileprivate func rejectionHasBeenWritten() {
        guard unsafe evbuffer_get_length(output) == 0 else { return }
        guard !peerHasFinished else { return close() }
        if isTLS { unsafe SSL_shutdown(bufferevent_openssl_get_ssl(bufferEvent)) }
        shutdown(unsafe bufferevent_getfd(bufferEvent), Int32(SHUT_WR))
    }

    fileprivate func rejectedConnectionHasChanged(_ events: Int32) {
        guard events & BEV_EVENT_CONNECTED == 0 else { return }
        let isEndOfInput = events & BEV_EVENT_READING != 0 && events & BEV_EVENT_EOF != 0
        guard isEndOfInput, unsafe evbuffer_get_length(output) > 0 else { return close() }
        peerHasFinished = true
    }

    // MARK: Deadlines

    /// Whether TLS is agreed on; true without TLS.
    var handshakeIsComplete: Bool {
        guard isTLS else { return true }
        return unsafe SSL_is_init_finished(bufferevent_openssl_get_ssl(bufferEvent)) == 1
    }
}

// MARK: - Called by libevent

private func withConnection(_ context: UnsafeMutableRawPointer?, _ body: (Connection) -> Void) {
    guard let context = unsafe context else { return }
    body(unsafe Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue())
}

private let inputChanged: evbuffer_cb_func = { _, change, context in
    guard let added = unsafe change?.pointee.n_added, added > 0 else { return }
    unsafe withConnection(context) { $0.inputHasGrown(by: added) }
}

private let connectionEnds: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void = { _, context in
    unsafe withConnection(context) { $0.hasEnded() }
}

private let answerWasSent: @convention(c) (UnsafeMutablePointer<evhttp_request>?, UnsafeMutableRawPointer?) -> Void = {
    _,
    context in
    unsafe withConnection(context) { $0.answerHasBeenSent() }
}

private let rejectionWasWritten: bufferevent_data_cb = { _, context in
    unsafe withConnection(context) { $0.rejectionHasBeenWritten() }
}

private let rejectedConnectionChanged: bufferevent_event_cb = { _, events, context in
    unsafe withConnection(context) { $0.rejectedConnectionHasChanged(Int32(events)) }
}
