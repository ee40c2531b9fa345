// SPDX-License-Identifier: Apache-2.0

/// Reads the heads of a response, line by line as libcurl delivers them, and refuses ambiguous ones.
///
/// Pure: no I/O. It is stricter than RFC 9112 where a client may be lenient. Every line ends in CR LF, and no line is
/// folded. There is at most one `Content-Length`, with digits only. The only transfer coding is `chunked`; the only
/// content coding is `gzip`. Over HTTP/1, a length or chunks mark the end of a body, so a truncated response never
/// counts as complete. Interim responses (1xx) and trailers are read and dropped.
struct ResponseHeadReader: Sendable {
    private enum Stage {
        case statusLine, fields, complete
    }

    let limitBytes: Int
    /// Whether the request's method lets an answer have a body.
    let admitsBody: Bool
    private var stage = Stage.statusLine
    private var totalBytes = 0
    private var bytes: [UInt8] = []
    private var fields: [HeaderFields.Field] = []
    private(set) var status = 0
    private(set) var version = ClientResponse.Version.http11
    /// Of the body as it is sent, compressed or not.
    private(set) var contentLength: Int?
    private(set) var isCompressed = false
    private var isChunked = false

    init(limitBytes: Int, admitsBody: Bool) {
        self.limitBytes = limitBytes
        self.admitsBody = admitsBody
    }

    /// Whether the final head has been read to its end.
    var isComplete: Bool { stage == .complete }

    var headers: HeaderFields { HeaderFields(bytes: bytes, fields: fields) }

    /// Takes in one line with its end.
    ///
    /// - Returns: Why the answer is refused; `nil` if it is not.
    mutating func read(_ line: Span<UInt8>) -> ClientError? {
        totalBytes += line.count
        guard totalBytes <= limitBytes else { return .headTooLarge(limitBytes: limitBytes) }
        guard stage != .complete else { return nil }
        let end = line.count - 2
        guard end >= 0, line[end] == ASCII.carriageReturn, line[end + 1] == ASCII.lineFeed else {
            return .protocolViolation("a line of the head does not end in CR LF")
        }
        switch stage {
        case .statusLine: return readStatusLine(line.extracting(0..<end))
        case .fields where end == 0: return endHead()
        case .fields: return readField(line.extracting(0..<end))
        case .complete: return nil
        }
    }

    /// Reads `HTTP-version SP 3DIGIT [SP reason]` (RFC 9112, section 4), and `HTTP/2 3DIGIT`, which libcurl makes up.
    private mutating func readStatusLine(_ line: Span<UInt8>) -> ClientError? {
        let malformed = ClientError.protocolViolation("the status line is malformed")
        guard let (found, length) = Self.readVersion(line), line.count >= length + 4, line[length] == ASCII.space else {
            return malformed
        }
        var code = 0
        for index in (length + 1)..<(length + 4) {
            guard ASCII.isDigit(line[index]) else { return malformed }
            code = code * 10 + Int(line[index] - 0x30)
        }
        guard code >= 100, line.count == length + 4 || line[length + 4] == ASCII.space else { return malformed }
        version = found
        status = code
        stage = .fields
        return nil
    }

    private static func readVersion(_ line: Span<UInt8>) -> (ClientResponse.Version, length: Int)? {
        for version in [ClientResponse.Version.http11, .http2, .http10] {
            let text = Array(version.rawValue.utf8)
            if line.count >= text.count, text.indices.allSatisfy({ line[$0] == text[$0] }) {
                return (version, text.count)
            }
        }
        return nil
    }

    /// Reads `field-name ":" OWS field-value OWS` (RFC 9112, section 5).
    private mutating func readField(_ line: Span<UInt8>) -> ClientError? {
        var nameEnd = 0
        while nameEnd < line.count, ASCII.isToken(line[nameEnd]) { nameEnd += 1 }
        guard nameEnd > 0, nameEnd < line.count, line[nameEnd] == ASCII.colon else {
            return .protocolViolation("a header field has no proper name")
        }
        var start = nameEnd + 1
        while start < line.count, ASCII.isWhiteSpace(line[start]) { start += 1 }
        var end = line.count
        while end > start, ASCII.isWhiteSpace(line[end - 1]) { end -= 1 }
        for index in start..<end where !ASCII.isFieldValue(line[index]) {
            return .protocolViolation("a header field's value holds a control character")
        }
        append(line.extracting(0..<nameEnd), line.extracting(start..<end))
        return judge(line.extracting(0..<nameEnd), line.extracting(start..<end))
    }

    private mutating func append(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        let nameStart = UInt32(bytes.count)
        unsafe name.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
        let nameEnd = UInt32(bytes.count)
        unsafe value.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
        fields.append(
            HeaderFields.Field(
                nameStart: nameStart,
                nameEnd: nameEnd,
                valueStart: nameEnd,
                valueEnd: UInt32(bytes.count)
            )
        )
    }

    /// Checks the few fields that say how to read the body.
    private mutating func judge(_ name: Span<UInt8>, _ value: Span<UInt8>) -> ClientError? {
        if ASCII.equalsIgnoringCase(name, "content-length") {
            guard contentLength == nil, let length = Self.readLength(value) else {
                return .protocolViolation("the length of the body is not one plain number")
            }
            contentLength = length
        } else if ASCII.equalsIgnoringCase(name, "transfer-encoding") {
            guard !isChunked, ASCII.equalsIgnoringCase(value, "chunked") else {
                return .protocolViolation("the transfer coding is not “chunked”")
            }
            isChunked = true
        } else if ASCII.equalsIgnoringCase(name, "content-encoding") {
            guard !isCompressed, ASCII.equalsIgnoringCase(value, "gzip") else {
                return ASCII.equalsIgnoringCase(value, "identity")
                    ? nil : .protocolViolation("the content coding is neither “gzip” nor none")
            }
            isCompressed = true
        }
        return nil
    }

    private static func readLength(_ value: Span<UInt8>) -> Int? {
        guard (1...15).contains(value.count) else { return nil }
        var length = 0
        for index in value.indices {
            guard ASCII.isDigit(value[index]) else { return nil }
            length = length * 10 + Int(value[index] - 0x30)
        }
        return length
    }

    /// Judges a head as a whole; what follows an interim one is another head.
    private mutating func endHead() -> ClientError? {
        guard contentLength == nil || !isChunked else {
            return .protocolViolation("the body has both a length and chunks")
        }
        guard status >= 200 else {
            let total = totalBytes
            self = ResponseHeadReader(limitBytes: limitBytes, admitsBody: admitsBody)
            totalBytes = total
            return nil
        }
        let hasBody = admitsBody && status != 204 && status != 304
        guard !hasBody || version == .http2 || contentLength != nil || isChunked else {
            return .protocolViolation("only the end of the connection ends the body")
        }
        stage = .complete
        return nil
    }
}
