// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTP

@Suite("Writing answers")
struct ResponseWriterTests {
    static let date = DateLine.line(at: 784_111_777)

    private func head(_ response: Response, toHead: Bool = false, closes: Bool = false) -> (String, Bool, Bool) {
        var output: [UInt8] = []
        var writer = ResponseWriter()
        let (hasBody, closes) = writer.appendHead(
            of: response,
            to: &output,
            date: Self.date,
            answersHead: toHead,
            closes: closes
        )
        return (String(decoding: output, as: UTF8.self), hasBody, closes)
    }

    @Test
    func `writes a head byte for byte`() {
        let response = Response(
            status: 200,
            headers: [("Content-Type", "a/b"), ("X-Large", "é")],
            body: [UInt8](repeating: 0, count: 1203)
        )
        let expected = """
            HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nX-Large: é\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
            Content-Length: 1203\r\n\r\n
            """
        #expect(head(response) == (expected, true, false))
        #expect(head(response, toHead: true) == (expected, false, false))
    }

    @Test(
        arguments: [
            (204, "HTTP/1.1 204 No Content\r\n", nil), (304, "HTTP/1.1 304 Not Modified\r\n", nil),
            (299, "HTTP/1.1 299 \r\n", 4), (422, "HTTP/1.1 422 Unprocessable Content\r\n", 4),
            (199, "HTTP/1.1 500 Internal Server Error\r\n", 0), (600, "HTTP/1.1 500 Internal Server Error\r\n", 0),
        ] as [(Int, String, Int?)]
    )
    func `announces the body that a status may have`(status: Int, statusLine: String, length: Int?) {
        let (text, hasBody, _) = head(Response(status: status, body: Array("body".utf8)))
        #expect(text.hasPrefix(statusLine))
        #expect(text.contains("Content-Length: ") == (length != nil))
        if let length { #expect(text.contains("Content-Length: \(length)\r\n")) }
        #expect(hasBody == (length == 4))
    }

    @Test
    func `writes each head as if it were the first`() {
        let fields = [(name: "Content-Type", value: "a/b"), (name: "Cache-Control", value: "no-store")]
        let copy = fields.map { (name: $0.name, value: $0.value) }
        let responses = [
            Response(status: 200, headers: fields), Response(status: 200, headers: fields),
            Response(status: 404, headers: fields), Response(status: 200, headers: copy),
            Response(status: 200, headers: Array(fields.reversed())),
            Response(status: 200, headers: Array(fields.prefix(1))),
            Response(status: 200, headers: [("Connection", "close")]), Response(status: 200),
            Response(status: 200, headers: fields),
        ]
        var writer = ResponseWriter()
        for response in responses {
            var output: [UInt8] = []
            let (hasBody, closes) = writer.appendHead(
                of: response,
                to: &output,
                date: Self.date,
                answersHead: false,
                closes: false
            )
            #expect((String(decoding: output, as: UTF8.self), hasBody, closes) == head(response))
        }
    }

    @Test(arguments: [("Close", true), ("keep-alive", false), ("close, x", false)])
    func `closes when the responder says so, and says it once`(value: String, closes: Bool) {
        let response = Response(status: 200, headers: [("connection", value)])
        let expected = head(Response(status: 200), closes: closes)
        #expect(head(response) == expected)
        #expect(expected.0.contains("Connection: close\r\n") == closes)
    }

    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
    ])
    func `writes the date`(second: Int, text: String) {
        #expect(String(decoding: DateLine.line(at: second), as: UTF8.self) == "Date: \(text)\r\n")
    }

    @Test
    func `writes the present`() throws {
        var line = DateLine()
        let (before, now, after) = (Self.present(), line.now(), Self.present())
        #expect([before, after].contains(now))
        #expect(line.now() == now || line.now() == Self.present())
    }

    private static func present() -> [UInt8] {
        var line = DateLine()
        return line.now()
    }
}
