// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTP

/// Bytes that two readers could understand differently, and what has to become of them.
struct SmugglingVector: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let rejection: Rejection

    init(_ name: String, _ text: String, _ rejection: Rejection) {
        self.init(name, Array(text.utf8), rejection)
    }

    init(_ name: String, _ bytes: [UInt8], _ rejection: Rejection) {
        self.name = name
        self.bytes = bytes
        self.rejection = rejection
    }

    var testDescription: String { name }

    /// Follows each vector on the wire; the server must never take it for a request.
    static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

    static let all: [SmugglingVector] = lines + fields + targets

    private static func post(_ fields: String, body: String = "") -> String {
        "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\(body)"
    }

    private static let lines = [
        SmugglingVector("bare LF ends the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", .malformed(.lineEnd)),
        SmugglingVector("bare LF ends a field", "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", .malformed(.lineEnd)),
        SmugglingVector("bare LF ends the head", "GET / HTTP/1.1\r\nHost: a\r\n\n", .malformed(.lineEnd)),
        SmugglingVector(
            "bare CR in a field",
            "GET / HTTP/1.1\r\nHost: a\r\nX: b\rY: c\r\n\r\n",
            .malformed(.fieldValue)
        ),
        SmugglingVector("bare CR in the request line", "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.target)),
        SmugglingVector("two CRs end a line", "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", .malformed(.fieldValue)),
        SmugglingVector("an empty line first", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.requestLine)),
        SmugglingVector("two spaces before the target", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.requestLine)),
        SmugglingVector("two spaces after the target", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.requestLine)),
        SmugglingVector("a space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.requestLine)),
        SmugglingVector("a space after the version", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", .malformed(.requestLine)),
        SmugglingVector("a tab between the words", "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.requestLine)),
        SmugglingVector("no version (HTTP/0.9)", "GET /\r\nHost: a\r\n\r\n", .malformed(.requestLine)),
        SmugglingVector("a version in small letters", "GET / http/1.1\r\nHost: a\r\n\r\n", .malformed(.requestLine)),
        SmugglingVector("HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\n\r\n", .versionNotSupported),
        SmugglingVector("HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .versionNotSupported),
        SmugglingVector(
            "a control byte in the method",
            "G\u{1}T / HTTP/1.1\r\nHost: a\r\n\r\n",
            .malformed(.requestLine)
        ),
        SmugglingVector("a method in small letters", "get / HTTP/1.1\r\nHost: a\r\n\r\n", .methodNotImplemented),
        SmugglingVector("an unknown method", "SMUGGLE / HTTP/1.1\r\nHost: a\r\n\r\n", .methodNotImplemented),
        SmugglingVector("TRACE", "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", .methodNotImplemented),
        SmugglingVector("CONNECT", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", .methodNotImplemented),
    ]

    private static let fields = [
        SmugglingVector(
            "Content-Length and Transfer-Encoding",
            post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", body: "0\r\n\r\n"),
            .malformed(.framing)
        ),
        SmugglingVector(
            "Transfer-Encoding",
            post("Transfer-Encoding: chunked\r\n", body: "0\r\n\r\n"),
            .lengthRequired
        ),
        SmugglingVector("Transfer-Encoding: xchunked", post("Transfer-Encoding: xchunked\r\n"), .lengthRequired),
        SmugglingVector("Transfer-Encoding: identity", post("Transfer-Encoding: identity\r\n"), .lengthRequired),
        SmugglingVector(
            "two different Content-Lengths",
            post("Content-Length: 3\r\nContent-Length: 8\r\n", body: "abc"),
            .malformed(.contentLength)
        ),
        SmugglingVector(
            "the same Content-Length twice",
            post("Content-Length: 3\r\nContent-Length: 3\r\n", body: "abc"),
            .malformed(.contentLength)
        ),
        SmugglingVector(
            "a list of Content-Lengths",
            post("Content-Length: 3, 3\r\n", body: "abc"),
            .malformed(.contentLength)
        ),
        SmugglingVector("Content-Length: +3", post("Content-Length: +3\r\n", body: "abc"), .malformed(.contentLength)),
        SmugglingVector("Content-Length: -3", post("Content-Length: -3\r\n", body: "abc"), .malformed(.contentLength)),
        SmugglingVector(
            "Content-Length: 0x3",
            post("Content-Length: 0x3\r\n", body: "abc"),
            .malformed(.contentLength)
        ),
        SmugglingVector(
            "an empty Content-Length",
            post("Content-Length:\r\n", body: "abc"),
            .malformed(.contentLength)
        ),
        SmugglingVector(
            "Content-Length: 3 3",
            post("Content-Length: 3 3\r\n", body: "abc"),
            .malformed(.contentLength)
        ),
        SmugglingVector(
            "a Content-Length beyond 64 bits",
            post("Content-Length: 18446744073709551619\r\n", body: "abc"),
            .bodyTooLarge(limitBytes: 16384)
        ),
        SmugglingVector(
            "a space before the colon",
            post("Content-Length : 3\r\n", body: "abc"),
            .malformed(.fieldName)
        ),
        SmugglingVector("a tab before the colon", post("Content-Length\t: 3\r\n", body: "abc"), .malformed(.fieldName)),
        SmugglingVector("an empty field name", post(": b\r\n"), .malformed(.fieldName)),
        SmugglingVector("no colon", post("Content-Length 3\r\n", body: "abc"), .malformed(.fieldName)),
        SmugglingVector("a field name that is no token", post("Content(Length: 3\r\n"), .malformed(.fieldName)),
        SmugglingVector("a folded field", post("X: b\r\n c\r\n"), .malformed(.foldedLine)),
        SmugglingVector("a first field that is folded", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", .malformed(.foldedLine)),
        SmugglingVector("NUL in a field's value", post("X: b\0c\r\n"), .malformed(.fieldValue)),
        SmugglingVector("NUL in a field's name", post("X\0Y: b\r\n"), .malformed(.fieldName)),
        SmugglingVector("DEL in a field's value", post("X: b\u{7F}c\r\n"), .malformed(.fieldValue)),
        SmugglingVector("no Host", "GET / HTTP/1.1\r\nX: a\r\n\r\n", .malformed(.host)),
        SmugglingVector("two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", .malformed(.host)),
        SmugglingVector("a list of Hosts", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", .malformed(.host)),
        SmugglingVector("an empty Host", "GET / HTTP/1.1\r\nHost: \r\n\r\n", .malformed(.host)),
        SmugglingVector("a user in Host", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", .malformed(.host)),
        SmugglingVector("an unknown expectation", post("Expect: 200-maybe\r\n"), .expectationFailed),
        SmugglingVector(
            "HEAD with a body",
            "HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: \(smuggled.utf8.count)\r\n\r\n",
            .malformed(.unexpectedBody)
        ),
    ]

    private static let targets = [
        SmugglingVector("%00 in the path", "GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.encodedNull)),
        SmugglingVector("%00 in the query", "GET /a?b=%00 HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.encodedNull)),
        SmugglingVector("half an escape", "GET /a%0 HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.target)),
        SmugglingVector("an escape that is none", "GET /a%zz HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.target)),
        SmugglingVector("NUL in the target", "GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.target)),
        SmugglingVector("a letter beyond ASCII", "GET /ä HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.target)),
        SmugglingVector("a backslash", "GET /a\\b HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.target)),
        SmugglingVector("a fragment", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.target)),
        SmugglingVector("a whole URI", "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.target)),
        SmugglingVector("two slashes first", "GET //b/c HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.target)),
        SmugglingVector("an asterisk", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.target)),
        SmugglingVector("no slash first", "GET a HTTP/1.1\r\nHost: a\r\n\r\n", .malformed(.target)),
    ]
}
