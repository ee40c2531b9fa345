// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Reads requests out of a connection's bytes, as they arrive, and refuses what two readers could read differently.
///
/// Pure: no I/O, no clock. However the bytes are cut into pieces, the verdict and the byte at which a request ends are the
/// same. Stricter than RFC 9112 where that lets a server be lenient: every line ends in CR LF, no folded lines, no
/// transfer coding, one `Host`, at most one `Content-Length` that is digits only, the target a plain path, version 1.1 only (but for ``Limits/pathsForHTTP10``).
///
/// One request is read at a time. After ``Progress/complete(consumed:)`` take it with ``takeRequest(from:)``, which makes
/// the scanner ready for the next one. After ``Progress/refused(_:)`` it is of no further use.
struct RequestHeadScanner: Sendable {
    enum Progress: Hashable, Sendable {
        /// All the bytes were good, and more are needed.
        case incomplete
        /// The request, body included, ends after that many of the bytes just given.
        case complete(consumed: Int)
        case refused(Rejection)
    }

    /// What the scanner is in the midst of.
    enum Stage: Hashable, Sendable {
        case requestLine, fields
        case body(missing: Int)
        case done
    }

    let limits: Limits
    var stage = Stage.requestLine
    /// The head so far, line ends included.
    var head: [UInt8] = []
    /// Where the line that is not complete yet begins in ``head``.
    var lineStart = 0
    var method = Method.get
    var target = 0..<0
    var pathEnd = 0
    var fields: [HeaderFields.Field] = []
    var contentLength: Int?
    var hosts = 0
    var isHTTP10 = false
    var hasTransferEncoding = false
    var asksToClose = false
    var expectsToBeAsked = false
    private var body: [UInt8] = []

    init(limits: Limits) {
        self.limits = limits
    }

    /// Whether the head is complete and bytes of the body are missing.
    var isInBody: Bool {
        if case .body = stage { true } else { false }
    }

    /// How long the body will be, once the head is complete.
    var bodyLength: Int { contentLength ?? 0 }

    /// How much of the body has come.
    var bodyBytesReceived: Int { body.count }

    /// Whether the client waits for permission to send the body (`Expect: 100-continue`) and has not begun.
    var clientWaits: Bool { expectsToBeAsked && isInBody && body.isEmpty }

    /// Takes in the bytes that follow those given before.
    mutating func scan(_ bytes: Span<UInt8>) -> Progress {
        var position = 0
        while position < bytes.count {
            switch stage {
            case .requestLine, .fields:
                if let rejection = scanLine(bytes, &position) { return .refused(rejection) }
            case .body(let missing):
                let taken = min(missing, bytes.count - position)
                let part = bytes.extracting(position..<(position + taken))
                // Not before it begins to come, and then not in steps, each twice the one before it.
                if body.isEmpty { body.reserveCapacity(missing) }
                unsafe part.withUnsafeBufferPointer { unsafe body.append(contentsOf: $0) }
                position += taken
                stage = taken == missing ? .done : .body(missing: missing - taken)
            case .done:
                return .complete(consumed: position)
            }
        }
        return stage == .done ? .complete(consumed: position) : .incomplete
    }

    /// Gives the complete request, which came from `peer`, away and makes ready for the next.
    mutating func takeRequest(from client: ConnectionClient) -> Request {
        precondition(stage == .done, "takeRequest(from:) before the request was complete")
        var client = client
        client.asksToClose = asksToClose
        let finished = Request(
            method: method,
            target: RequestTarget(
                path: Array(head[target.lowerBound..<pathEnd]),
                query: pathEnd < target.upperBound ? Array(head[(pathEnd + 1)..<target.upperBound]) : nil
            ),
            headers: HeaderFields(bytes: head, fields: fields),
            body: body,
            from: client
        )
        self = RequestHeadScanner(limits: limits)
        return finished
    }

    /// Lets go of what has come of a body that will not be taken.
    mutating func dropBody() {
        body = []
    }

    /// Appends the bytes up to the next line end to the head, and reads the line if its end is there.
    private mutating func scanLine(_ bytes: Span<UInt8>, _ position: inout Int) -> Rejection? {
        let rest = bytes.extracting(position..<bytes.count)
        let line = unsafe rest.withUnsafeBytes { rest -> Int? in
            guard let start = rest.baseAddress else { return nil }
            let lineFeed = unsafe memchr(start, Int32(ASCII.lineFeed), rest.count)
            return unsafe lineFeed.map { unsafe UnsafeRawPointer($0) - start + 1 }
        }
        let hasLineEnd = line != nil
        let end = position + (line ?? rest.count)

        // Looked at before the line is read, so that the verdict does not depend on how the bytes were cut.
        guard head.count + end - position <= limits.headBytes else {
            return .headTooLarge(limitBytes: limits.headBytes)
        }
        if head.isEmpty { head.reserveCapacity(512) }
        unsafe bytes.extracting(position..<end).withUnsafeBufferPointer { unsafe head.append(contentsOf: $0) }
        position = end
        return hasLineEnd ? readLine() : nil
    }

    private mutating func readLine() -> Rejection? {
        let end = head.count - 2
        guard end >= lineStart, head[end] == ASCII.carriageReturn else { return .malformed(.lineEnd) }
        let line = lineStart..<end
        lineStart = head.count
        switch stage {
        case .requestLine:
            stage = .fields
            return readRequestLine(line)
        case .fields where line.isEmpty:
            return endHead()
        case .fields:
            return readField(line)
        case .body, .done:
            return nil
        }
    }

    /// Judges the head as a whole, and with it how long the body is.
    private mutating func endHead() -> Rejection? {
        guard hosts == 1 || isHTTP10 && hosts == 0 else { return .malformed(.host) }
        guard !hasTransferEncoding else { return contentLength == nil ? .lengthRequired : .malformed(.framing) }
        let length = contentLength ?? 0
        // Libraries that give HEAD no body would take these bytes for the next request.
        guard length == 0 || method != .head && !isHTTP10 else { return .malformed(.unexpectedBody) }
        if length > limits.bodyBytes {
            let path = Array(head[target.lowerBound..<pathEnd])
            let limit = max(limits.bodyBytes, limits.bodyBytesByPath[path] ?? 0)
            guard length <= limit else { return .bodyTooLarge(limitBytes: limit) }
        }
        stage = length == 0 ? .done : .body(missing: length)
        return nil
    }
}
