// SPDX-License-Identifier: Apache-2.0
import CLibEvent
import Glibc

/// One client's connection: it reads bytes, passes requests one at a time to the responder, and sends the responses.
///
/// The socket is watched edge-triggered, for reading and writing at once, from beginning to end, so that no request
/// costs a change of interest. Each arrival is therefore reported only once. ``mayHaveInput`` remembers it while a
/// request is being answered; during that time nothing is read. This also slows down a client that sends faster than
/// the server answers.
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
        /// The responder has the request.
        case answering
        /// The response must be assembled, or the client has not taken all of it yet.
        case writing
        /// The last answer goes out, and what the client still sends is thrown away.
        case leaving
        case closed
    }

    let server: ServerLoop
    let socket: Int32
    private(set) var phase: Phase
    /// When the phase began, by ``coarseNow()``.
    private(set) var since = coarseNow()
    private let channel: ConnectionSocket
    var peer: PeerAddress { client.peer }
    /// Whether ``ServerState/admit(_:)`` counted it in.
    private var isCountedForAddress = false
    /// Whether ``ServerState/beginTurningAway()`` let it wait for the client to read why.
    private var isTurnedAway = false
    private var event: OpaquePointer?
    /// Whether something may have come that was not read, or the end.
    private var mayHaveInput = false
    /// Whether the client has ended its output; bytes that it sent before may be unread.
    private var endHasCome = false
    /// Whether everything was read, and the end after it.
    private var inputIsOver = false
    private var scanner: RequestHeadScanner
    /// What ``ServerState/takeBodyBytes(_:from:)`` counted for the current request.
    private var takenBodyBytes = 0
    /// What was read and not scanned, because a request before it is being answered: from `pendingStart` on.
    private var pending: [UInt8] = []
    private var pendingStart = 0
    /// What the responder said, until it is sent.
    private var answer: Response?
    private var answersHead = false
    /// What the socket did not take yet.
    private var unsent: ArraySlice<UInt8> = []
    /// What follows it: the rest of a body that is too large for one piece with the head.
    private var unsentBody: ArraySlice<UInt8> = []
    /// What follows that, of an answer that is made while it is sent.
    private var rest: BodyPieces?
    private var requestTask: RequestTask?
    private var pieceTask: Task<Void, Never>?
    private var client: ConnectionClient
    private var closesAfterAnswer = false
    /// How many requests were answered since others had their turn.
    private var answersInTurn = 0
    /// How many requests may be answered before others have their turn, so that no client can occupy the loop.
    private var mostAnswersInTurn: Int { client.isKnown ? 16 : 1 }
    /// Whether others come first, and then what was sent already.
    private var waitsForTurn = false

    init(_ socket: Int32, _ channel: ConnectionSocket, from peer: PeerAddress, on server: ServerLoop) {
        self.socket = socket
        self.channel = channel
        client = ConnectionClient(peer: peer)
        self.server = server
        phase = channel.isTLS ? .handshake : .fresh
        scanner = RequestHeadScanner(limits: server.state.configuration.limits)
    }

    private func enter(_ next: Phase) {
        phase = next
        since = coarseNow()
    }

    /// The rank for eviction when the server is full, lowest first; nil for known clients and for requests in progress.
    ///
    /// Clients that do not read their answers are evicted too; otherwise they would hold their connections.
    var orderOfGivingWay: Int? {
        guard !client.isKnown else { return nil }
        return switch phase {
        case .fresh, .idle: 0
        case .handshake, .head, .body: 1
        case .writing: 2
        // A rejected connection ends by itself within two seconds.
        case .answering, .leaving, .closed: nil
        }
    }

    // MARK: Beginning and end

    /// Begins to watch the socket; false if the system refuses.
    func watch() -> Bool {
        let interest = Int16(EV_READ | EV_WRITE | EV_CLOSED | EV_ET | EV_PERSIST)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe event = event_new(server.loop.base, socket, interest, socketHasChanged, context)
        guard let added = unsafe event else { return false }
        guard unsafe event_add(added, nil) == 0 else {
            unsafe event_free(added)
            unsafe event = nil
            return false
        }
        return true
    }

    /// Sets the socket up; refuses the client if its address, or the whole server, has too many connections.
    func begin(isCountedForAddress isCounted: Bool, isOverTotal: Bool) {
        // A response that is too large for one segment would otherwise wait for the client's delayed ACK.
        setOption(TCP_NODELAY, at: Int32(IPPROTO_TCP), of: socket)
        isCountedForAddress = isCounted
        guard !isCountedForAddress || isOverTotal else { return }
        let rejection: Rejection = isOverTotal ? .tooManyConnections : .tooManyConnectionsFromAddress
        guard !channel.isTLS else {
            // A handshake for the sake of a refusal would cost more than the refusal saves.
            server.counters.count(rejection)
            return close()
        }
        isTurnedAway = server.state.beginTurningAway()
        refuse(rejection)
        if !isTurnedAway { close() }
    }

    /// Ends the connection at once.
    func close() { end(hasFailed: false) }

    /// Ends a connection without a request, unless one lies in its socket unread.
    func closeUnlessAsked() {
        mayHaveInput = true
        goOn()
        if phase == .fresh || phase == .idle { close() }
    }

    private func end(hasFailed: Bool) {
        guard phase != .closed else { return }
        enter(.closed)
        if let event = unsafe event { unsafe event_free(event) }
        unsafe event = nil
        channel.close(hasFailed: hasFailed)
        pending = []
        answer = nil
        unsent = []
        unsentBody = []
        rest = nil
        giveBodyBytesBack()
        if isCountedForAddress { server.state.dismiss(peer) }
        if isTurnedAway { server.state.endTurningAway() }
        server.remove(self)
    }

    /// Asks the responder to give up; what it still answers is dropped.
    func cancel() {
        requestTask?.cancel()
        pieceTask?.cancel()
    }

    // MARK: Reading

    fileprivate func socketChanged(_ change: Int32) {
        answersInTurn = 0
        if change & EV_CLOSED != 0 { endHasCome = true }
        // TLS may have to write before it can read on.
        if change & (EV_READ | EV_CLOSED) != 0 || channel.isTLS { mayHaveInput = true }
        if !unsent.isEmpty { sendUnsent() }
        goOn()
    }

    /// Goes on after others have had their turn.
    func goOn() {
        answersInTurn = 0
        if waitsForTurn {
            waitsForTurn = false
            if phase == .idle, !pending.isEmpty { scanPending() }
        }
        receive()
    }

    /// Whether bytes that come now are of use, or to be thrown away.
    private var isReading: Bool {
        switch phase {
        case .handshake, .fresh, .idle, .head, .body: true
        case .leaving: !inputIsOver
        case .answering, .writing, .closed: false
        }
    }

    /// Reads what has come, but only so much that others get their turn.
    private func receive() {
        var rounds = 4
        while mayHaveInput, isReading, !waitsForTurn {
            guard rounds > 0 else { return server.continueLater(self) }
            rounds -= 1
            receiveOnce()
        }
    }

    private func receiveOnce() {
        let buffer = unsafe server.inputBuffer
        let reception = unsafe channel.receive(into: buffer)
        if phase == .handshake, channel.handshakeIsComplete {
            client.certificateDigest = channel.certificateDigest
            enter(.fresh)
        }
        switch reception {
        case .bytes(let count, let areAll):
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count]).assumingMemoryBound(to: UInt8.self)
            unsafe take(bytes.span)
            // A reset may follow the bytes. libevent does not distinguish it and reports it only once. Sending a
            // response would detect it; without a response, only reading does.
            if areAll, !endHasCome, phase == .answering { mayHaveInput = false }
        case .nothing: mayHaveInput = false
        case .end: inputHasEnded()
        case .failed: end(hasFailed: true)
        }
    }

    private func inputHasEnded() {
        mayHaveInput = false
        inputIsOver = true
        // A refused client may still read the reason.
        if phase != .leaving || unsent.isEmpty { close() }
    }

    private func take(_ bytes: Span<UInt8>) {
        guard phase != .leaving else { return }
        let consumed = scan(bytes)
        guard let consumed, consumed < bytes.count else { return }
        pending = unsafe bytes.extracting(consumed..<bytes.count).withUnsafeBufferPointer { unsafe Array($0) }
        pendingStart = 0
    }

    /// Shows the scanner the bytes, and hands the request over if it is complete.
    ///
    /// - Returns: After how many of the bytes the request ends; `nil` if it does not, or was refused.
    private func scan(_ bytes: Span<UInt8>) -> Int? {
        // The first head's time runs from the beginning of the connection.
        if phase == .idle { enter(.head) } else if phase == .fresh { phase = .head }
        switch scanner.scan(bytes) {
        case .incomplete:
            if phase == .head, scanner.isInBody { enterBody() }
            if phase == .body, !takeBodyBytes() { refuse(.tooManyBodyBytes) }
            return nil
        case .complete(let consumed):
            guard phase == .head || takeBodyBytes() else {
                refuse(.tooManyBodyBytes)
                return nil
            }
            respond(to: scanner.takeRequest(from: client))
            return consumed
        case .refused(let rejection):
            refuse(rejection)
            return nil
        }
    }

    /// A body that is already complete is too short to be counted: it came in one piece of at most 16 KiB.
    private func enterBody() {
        // The refusal comes before the body where possible; only bytes that arrive take room.
        guard server.state.hasRoom(forBody: scanner.bodyLength, from: peer.group) else {
            return refuse(.tooManyBodyBytes)
        }
        enter(.body)
        guard scanner.clientWaits else { return }
        unsent += ResponseWriter.goOn
        sendUnsent()
    }

    /// Counts the bytes of the body that arrived since the last count; false if there is no room for them.
    private func takeBodyBytes() -> Bool {
        let bytes = scanner.bodyBytesReceived - Limits.uncountedBodyBytes - takenBodyBytes
        guard bytes > 0 else { return true }
        guard server.state.takeBodyBytes(bytes, from: peer.group) else { return false }
        takenBodyBytes += bytes
        return true
    }

    private func giveBodyBytesBack() {
        guard takenBodyBytes > 0 else { return }
        server.state.giveBodyBytesBack(takenBodyBytes, from: peer.group)
        takenBodyBytes = 0
    }

    /// Scans on in what was read already.
    private func scanPending() {
        let (bytes, start) = (pending, pendingStart)
        guard let consumed = scan(bytes.span.extracting(start..<bytes.count)), start + consumed < bytes.count else {
            return pending = []
        }
        pendingStart = start + consumed
    }

    // MARK: Answering

    private func respond(to request: Request) {
        closesAfterAnswer = request.asksToClose
        enter(.answering)
        requestTask = server.start(Assignment(request: request, connection: self))
    }

    /// Answers the request that the ``RequestTask`` got.
    func answer(with response: Response, answersHead: Bool) {
        requestTask = nil
        // The client, or a server that stops, did not wait.
        guard phase == .answering else { return }
        if response.isToKnownClient { client.isKnown = true }
        giveBodyBytesBack()
        enter(.writing)
        (answer, self.answersHead) = (response, answersHead)
        server.sendSoon(self)
    }

    /// Sends the response that ``answer(with:answersHead:)`` received, unless that has happened already.
    func sendAnswer() {
        guard phase == .writing, var response = answer.take() else { return }
        if !answersHead, let pieces = response.rest {
            rest = pieces
            response.body = BodyPieces.chunk(response.body)
        }
        send(response, answersHead: answersHead, closes: closesAfterAnswer || server.isDraining)
        receive()
    }

    /// Assembles head and body in one piece if they are small, otherwise in two, and sends as much as the socket takes.
    private func send(_ response: Response, answersHead: Bool, closes: Bool) {
        let (bodyStart, closes) = server.render(response, answersHead: answersHead, closes: closes)
        closesAfterAnswer = closes
        if bodyStart < response.body.count { unsentBody = response.body[bodyStart...] }
        guard unsent.isEmpty else {
            unsent += server.message(from: 0)
            return sendUnsent()
        }
        switch server.sendMessage(over: channel) {
        case .sent(let count): unsent = server.message(from: count)
        case .full: return unsent = server.message(from: 0)
        case .failed: return end(hasFailed: true)
        }
        if unsent.isEmpty { (unsent, unsentBody) = (unsentBody, []) }
        sendUnsent()
    }

    private func answerHasBeenSent() {
        if let rest { return makeNextPiece(of: rest) }
        guard !closesAfterAnswer else { return leave() }
        enter(.idle)
        answersInTurn += 1
        if answersInTurn >= mostAnswersInTurn, mayHaveInput || !pending.isEmpty {
            waitsForTurn = true
            server.continueLater(self)
        } else if !pending.isEmpty {
            scanPending()
        }
    }

    // MARK: Answering piece by piece

    /// Has the next piece made; the client has taken all before it.
    private func makeNextPiece(of pieces: BodyPieces) {
        enter(.answering)
        pieceTask = server.makePiece(of: pieces, for: self)
    }

    /// Sends the piece that ``makeNextPiece(of:)`` asked for: `nil` is the end, and an interruption ends the connection.
    func send(_ piece: Result<[UInt8]?, BodyPieces.Interruption>) {
        pieceTask = nil
        // The client, or a server that stops, did not wait.
        guard phase == .answering else { return }
        guard case .success(let bytes) = piece else { return end(hasFailed: true) }
        if bytes == nil { rest = nil }
        enter(.writing)
        unsent = BodyPieces.chunk(bytes)[...]
        sendUnsent()
        receive()
    }

    // MARK: Sending

    /// Sends as much as the socket takes.
    private func sendUnsent() {
        while !unsent.isEmpty {
            switch unsafe channel.send(unsent.span.bytes) {
            case .sent(let count): unsent = unsent.dropFirst(count)
            case .full: return
            case .failed: return end(hasFailed: true)
            }
            // Not as an empty slice, which would keep all of the answer.
            if unsent.isEmpty { (unsent, unsentBody) = (unsentBody, []) }
        }
        switch phase {
        // Until the response is assembled, only what precedes it has been sent.
        case .writing where answer == nil: answerHasBeenSent()
        case .leaving: lastAnswerHasBeenSent()
        default: break
        }
    }

    // MARK: Leaving

    /// Answers in the responder's place, then closes.
    func refuse(_ rejection: Rejection) {
        server.counters.count(rejection)
        pending = []
        scanner.dropBody()
        giveBodyBytesBack()
        enter(.leaving)
        answer = nil
        send(
            server.state.configuration.rejectionResponse(rejection),
            answersHead: scanner.method == .head,
            closes: true
        )
    }

    /// Closes after a response: at once, unless the client has sent further bytes.
    private func leave() {
        let hasSentMore = !pending.isEmpty || moreHasCome()
        pending = []
        enter(.leaving)
        if hasSentMore { lastAnswerHasBeenSent() } else { close() }
    }

    private func moreHasCome() -> Bool {
        guard mayHaveInput, case .bytes = unsafe channel.receive(into: server.inputBuffer) else { return false }
        return true
    }

    /// Says goodbye and goes on reading: closing now, with bytes unread, would reset the connection, and the client might
    /// lose the answer (RFC 9112, section 9.6).
    private func lastAnswerHasBeenSent() {
        if inputIsOver { close() } else { channel.finishSending() }
    }
}

// MARK: - Called by libevent

private let socketHasChanged: event_callback_fn = { _, change, context in
    guard let context = unsafe context else { return }
    unsafe Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().socketChanged(Int32(change))
}
