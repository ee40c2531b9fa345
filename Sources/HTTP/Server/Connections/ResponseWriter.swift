// SPDX-License-Identifier: Apache-2.0

/// Puts a ``Response`` into the form that goes over the wire.
///
/// The status line and the responder's fields are kept as they were last written, for most answers have the same.
struct ResponseWriter {
    /// Tells a client that waits for it to send the body (RFC 9110, section 10.1.1).
    static let goOn = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    private var status = 0
    private var headers: [(name: String, value: String)] = []
    /// The status line with that status, and those headers.
    private var beginning: [UInt8] = []
    /// Whether one of those headers says so.
    private var headersClose = false

    /// Appends the status line and the fields with the empty line after them.
    ///
    /// The length, the date (a whole line) and the connection are the server's own business. A status that no response may
    /// have becomes 500 without a body.
    ///
    /// - Returns: Whether the body follows, and whether the connection closes after it.
    mutating func appendHead(
        of response: Response,
        to output: inout [UInt8],
        date: [UInt8],
        answersHead: Bool,
        closes: Bool
    ) -> (hasBody: Bool, closes: Bool) {
        let isPossible = (200...599).contains(response.status)
        let status = isPossible ? response.status : 500
        begin(status, response.headers)
        let mayHaveBody = status != 204 && status != 304
        let closes = closes || headersClose
        let isChunked = mayHaveBody && isPossible && response.rest != nil
        let length = mayHaveBody && !isChunked ? isPossible ? response.body.count : 0 : nil
        output.append(addingCapacity: beginning.count + date.count + 80) { output in
            output.append(beginning.span)
            output.append(date.span)
            if let length {
                output.append("Content-Length: ")
                output.append(decimal: length)
                output.append("\r\n")
            }
            if isChunked { output.append("Transfer-Encoding: chunked\r\n") }
            if closes { output.append("Connection: close\r\n") }
            output.append("\r\n")
        }
        return (mayHaveBody && isPossible && !answersHead, closes)
    }

    private mutating func begin(_ status: Int, _ headers: [(name: String, value: String)]) {
        // Usually it is the very same list, so its elements need no comparison.
        let areSame = headers.span.isIdentical(to: self.headers.span) || headers.elementsEqual(self.headers, by: ==)
        guard status != self.status || !areSame else { return }
        self.status = status
        self.headers = headers
        headersClose = false
        beginning = Array("HTTP/1.1 \(status) \(Self.phrase(for: status))\r\n".utf8)
        for (name, value) in headers {
            switch Self.role(of: name, value) {
            case .plain: for part in [name, ": ", value, "\r\n"] { beginning.append(contentsOf: part.utf8) }
            case .close: headersClose = true
            case .omitted: break
            }
        }
    }

    private enum Role {
        case plain, close, omitted
    }

    private static func role(of name: String, _ value: String) -> Role {
        let (name, value) = (name.utf8.span, value.utf8.span)
        guard !name.isEmpty, all(name, ASCII.isToken), all(value, ASCII.isFieldValue) else { return .omitted }
        switch name.count {
        case 4 where ASCII.equalsIgnoringCase(name, "date"): return .omitted
        case 10 where ASCII.equalsIgnoringCase(name, "connection"):
            return ASCII.equalsIgnoringCase(value, "close") ? .close : .omitted
        case 14 where ASCII.equalsIgnoringCase(name, "content-length"): return .omitted
        case 17 where ASCII.equalsIgnoringCase(name, "transfer-encoding"): return .omitted
        default: return .plain
        }
    }

    private static func all(_ bytes: Span<UInt8>, _ isWanted: (UInt8) -> Bool) -> Bool {
        for index in bytes.indices where !isWanted(bytes[index]) { return false }
        return true
    }

    /// The reason phrase that RFC 9110 or RFC 6585 has for a status; empty, which RFC 9112 allows, where they have none.
    static func phrase(for status: Int) -> StaticString {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 203: "Non-Authoritative Information"
        case 204: "No Content"
        case 205: "Reset Content"
        case 206: "Partial Content"
        case 300...399: redirectionPhrase(for: status)
        case 400...499: clientErrorPhrase(for: status)
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 511: "Network Authentication Required"
        default: ""
        }
    }

    private static func redirectionPhrase(for status: Int) -> StaticString {
        switch status {
        case 300: "Multiple Choices"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        default: ""
        }
    }

    private static func clientErrorPhrase(for status: Int) -> StaticString {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        default: ""
        }
    }
}

extension OutputSpan<UInt8> {
    fileprivate mutating func append(_ text: StaticString) {
        unsafe append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount).span)
    }

    /// Appends all of `text`; the caller must ensure that there is room.
    fileprivate mutating func append(_ text: Span<UInt8>) {
        precondition(text.count <= freeCapacity, "no room for a text")
        unsafe text.withUnsafeBufferPointer { text in
            unsafe withUnsafeMutableBufferPointer { buffer, count in
                guard let target = buffer.baseAddress, let source = text.baseAddress else { return }
                unsafe (target + count).update(from: source, count: text.count)
                count += text.count
            }
        }
    }

    /// Appends a number that is not negative in decimal digits.
    fileprivate mutating func append(decimal number: Int) {
        if number >= 10 { append(decimal: number / 10) }
        append(0x30 &+ UInt8(truncatingIfNeeded: number % 10))
    }
}
