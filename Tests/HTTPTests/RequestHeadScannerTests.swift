// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTP

@Suite("Scanning requests")
struct RequestHeadScannerTests {
    /// What came of bytes that were given to a scanner piece by piece.
    enum Verdict: Hashable {
        case incomplete
        /// After that many bytes in all.
        case complete(bytes: Int)
        case refused(Rejection)
    }

    static func verdict(_ pieces: [ArraySlice<UInt8>], limits: Limits = Limits()) -> (Verdict, RequestHeadScanner) {
        var scanner = RequestHeadScanner(limits: limits)
        var taken = 0
        for piece in pieces {
            switch scanner.scan(Array(piece).span) {
            case .incomplete: taken += piece.count
            case .complete(let consumed): return (.complete(bytes: taken + consumed), scanner)
            case .refused(let rejection): return (.refused(rejection), scanner)
            }
        }
        return (.incomplete, scanner)
    }

    static func head(of text: String) throws -> Request {
        var (verdict, scanner) = verdict([Array(text.utf8)[...]])
        try #require(verdict == .complete(bytes: text.utf8.count))
        return scanner.takeRequest(from: ConnectionClient(peer: .loopback))
    }

    @Test(arguments: SmugglingVector.all)
    func `refuses what could be read in two ways`(vector: SmugglingVector) {
        #expect(Self.verdict([vector.bytes[...]]).0 == .refused(vector.rejection))
    }

    static let good = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /a/b%20c?d=e&f HTTP/1.1\r\nHost: [::1]:80\r\ncontent-length:  5 \t\r\n\r\nhello",
        "POST / HTTP/1.1\r\nExpect: 100-Continue\r\nHost: a\r\nContent-Length: 003\r\n\r\nabc",
        "PATCH /x HTTP/1.1\r\nHost: a\r\nX: \u{e4}\tb\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n",
    ]

    /// The good and the bad alike, each followed by another request.
    static let streams = (good.map { Array($0.utf8) } + SmugglingVector.all.map(\.bytes)).map {
        $0 + Array(SmugglingVector.smuggled.utf8)
    }

    @Test(arguments: streams)
    func `comes to the same verdict however the bytes are cut`(stream: [UInt8]) {
        let whole = Self.verdict([stream[...]]).0
        #expect(whole != .incomplete)
        for cut in 0...stream.count {
            #expect(Self.verdict([stream[..<cut], stream[cut...]]).0 == whole, "cut at \(cut)")
        }
        #expect(Self.verdict(stream.indices.map { stream[$0...$0] }).0 == whole, "byte by byte")
    }

    @Test(arguments: good)
    func `ends a good request at its last byte`(text: String) {
        let bytes = Array(text.utf8)
        #expect(Self.verdict([(bytes + Array("GET".utf8))[...]]).0 == .complete(bytes: bytes.count))
        #expect(Self.verdict([bytes.dropLast()]).0 == .incomplete)
    }

    @Test
    func `reads method, path, query, fields and length`() throws {
        let head = try Self.head(of: Self.good[1])
        #expect(head.method == .post)
        #expect(head.path == Array("/a/b%20c".utf8))
        #expect(head.query == Array("d=e&f".utf8))
        #expect(String(decoding: head.body, as: UTF8.self) == "hello")
        #expect(!head.asksToClose)
        #expect(head.headers.first("HOST") == Array("[::1]:80".utf8))
        #expect(head.headers.first("Content-Length") == Array("5".utf8))
        #expect(head.headers.first("absent") == nil)
        #expect(head.headers.count == 2)
    }

    @Test
    func `tells no query from an empty one`() throws {
        #expect(try Self.head(of: "GET /a HTTP/1.1\r\nHost: a\r\n\r\n").query == nil)
        #expect(try Self.head(of: "GET /a? HTTP/1.1\r\nHost: a\r\n\r\n").query == [])
        #expect(try Self.head(of: "GET /a?b?c HTTP/1.1\r\nHost: a\r\n\r\n").query == Array("b?c".utf8))
    }

    @Test(arguments: [
        ("close", true), ("Close", true), ("keep-alive, close", true), ("upgrade ,close ", true),
        ("keep-alive", false), ("closed", false), ("not-close", false),
    ])
    func `finds close in a list of connection options`(value: String, asksToClose: Bool) throws {
        #expect(
            try Self.head(of: "GET / HTTP/1.1\r\nHost: a\r\nConnection: \(value)\r\n\r\n").asksToClose == asksToClose
        )
    }

    @Test(arguments: Method.known)
    func `knows each method`(method: Method) throws {
        #expect(try Self.head(of: "\(method.name) / HTTP/1.1\r\nHost: a\r\n\r\n").method == method)
    }

    @Test
    func `reads one request after the other`() {
        var scanner = RequestHeadScanner(limits: Limits())
        let stream = Array((Self.good[1] + Self.good[0]).utf8)
        let first = Self.good[1].utf8.count
        #expect(scanner.scan(stream.span) == .complete(consumed: first))
        #expect(scanner.takeRequest(from: ConnectionClient(peer: .loopback)).method == .post)
        #expect(scanner.scan(Array(stream[first...]).span) == .complete(consumed: stream.count - first))
        #expect(scanner.takeRequest(from: ConnectionClient(peer: .loopback)).method == .get)
    }

    @Test(arguments: [(0, nil), (-1, Rejection.headTooLarge(limitBytes: 999))] as [(Int, Rejection?)])
    func `holds the head to its limit`(less: Int, rejection: Rejection?) {
        let shell = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n".utf8.count
        let text = "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 1000 - shell))\r\n\r\n"
        let limits = Limits(headBytes: 1000 + less)
        let verdict = rejection.map(Verdict.refused) ?? .complete(bytes: 1000)
        #expect(Self.verdict([Array(text.utf8)[...]], limits: limits).0 == verdict)
        #expect(Self.verdict(Array(text.utf8).map { [$0][...] }, limits: limits).0 == verdict)
    }

    @Test(arguments: [(5, nil), (4, Rejection.bodyTooLarge(limitBytes: 4))] as [(Int, Rejection?)])
    func `holds the body to its limit before it comes`(limit: Int, rejection: Rejection?) {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"
        let verdict = Self.verdict([Array(head.utf8)[...]], limits: Limits(bodyBytes: limit)).0
        #expect(verdict == rejection.map(Verdict.refused) ?? .incomplete)
    }

    @Test(
        arguments: [
            ("/big", 9, nil), ("/big?x", 9, nil), ("/big", 10, Rejection.bodyTooLarge(limitBytes: 9)),
            ("/small", 5, nil), ("/small", 6, .bodyTooLarge(limitBytes: 5)), ("/big/", 6, .bodyTooLarge(limitBytes: 5)),
            ("/Big", 6, .bodyTooLarge(limitBytes: 5)), ("/least", 6, .bodyTooLarge(limitBytes: 5)),
        ] as [(String, Int, Rejection?)]
    )
    func `takes more at the paths that may have more`(target: String, length: Int, rejection: Rejection?) {
        let paths = [Array("/big".utf8): 9, Array("/least".utf8): 3]
        let head = "POST \(target) HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n"
        let limits = Limits(bodyBytes: 5, bodyBytesByPath: paths)
        let verdict = Self.verdict([Array(head.utf8)[...]], limits: limits).0
        #expect(verdict == rejection.map(Verdict.refused) ?? .incomplete)
    }

    @Test(arguments: [(3, nil), (2, Rejection.tooManyFields(limit: 2))] as [(Int, Rejection?)])
    func `holds the number of fields to its limit`(limit: Int, rejection: Rejection?) {
        let text = "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\nY: c\r\n\r\n"
        let verdict = Self.verdict([Array(text.utf8)[...]], limits: Limits(fields: limit)).0
        #expect(verdict == rejection.map(Verdict.refused) ?? .complete(bytes: text.utf8.count))
    }

    private static let health = Limits.admitting("/health")

    @Test(arguments: ["", "Host: a\r\n", "Host: a\r\nConnection: keep-alive\r\n", "Content-Length: 0\r\n"])
    func `takes HTTP/1.0 at the paths that admit it, and closes after it`(fields: String) throws {
        for method in ["GET", "HEAD"] {
            let text = "\(method) /health HTTP/1.0\r\n\(fields)\r\n"
            var (verdict, scanner) = Self.verdict([Array(text.utf8)[...]], limits: Self.health)
            try #require(verdict == .complete(bytes: text.utf8.count))
            let request = scanner.takeRequest(from: ConnectionClient(peer: .loopback))
            #expect(request.asksToClose && request.path == Array("/health".utf8))
        }
    }

    @Test(arguments: [
        ("POST /health HTTP/1.0\r\n\r\n", Rejection.versionNotSupported),
        ("OPTIONS /health HTTP/1.0\r\n\r\n", .versionNotSupported),
        ("GET /health?a HTTP/1.0\r\n\r\n", .versionNotSupported),
        ("GET /health/ HTTP/1.0\r\n\r\n", .versionNotSupported),
        ("GET /%68ealth HTTP/1.0\r\n\r\n", .versionNotSupported),
        ("GET / HTTP/1.0\r\n\r\n", .versionNotSupported),
        ("GET /health HTTP/0.9\r\n\r\n", .versionNotSupported),
        ("GET /health HTTP/1.2\r\n\r\n", .versionNotSupported),
        ("GET /health HTTP/1.1\r\n\r\n", .malformed(.host)),
        ("GET /health HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", .malformed(.host)),
        ("GET /health HTTP/1.0\r\nContent-Length: 1\r\n\r\n", .malformed(.unexpectedBody)),
        ("GET /health HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", .lengthRequired),
        ("GET /health HTTP/1.0\n\n", .malformed(.lineEnd)),
    ])
    func `stays as strict about HTTP/1.0 otherwise`(text: String, rejection: Rejection) {
        #expect(Self.verdict([Array(text.utf8)[...]], limits: Self.health).0 == .refused(rejection))
    }
}

extension Limits {
    fileprivate static func admitting(_ path: String) -> Limits {
        var limits = Limits()
        limits.pathsForHTTP10 = [Array(path.utf8)]
        return limits
    }
}
