// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP
import OfferService
import TestSupport
import Testing

/// The two ways by which a call reaches the API: as a function call, and through the HTTP server on 127.0.0.1.
///
/// One test of each route, and what depends on sockets or runs concurrently, goes over both (`Wire.allCases`). All other
/// tests take ``ofRun``.
enum Wire: String, CaseIterable, CustomTestStringConvertible {
    case inProcess, loopback

    /// In process; both ways if `OFFER_SIGNER_TEST_WIRES` is `all`, as `make nightly` sets it.
    static let ofRun: [Wire] =
        ProcessInfo.processInfo.environment["OFFER_SIGNER_TEST_WIRES"] == "all" ? allCases : [.inProcess]

    var testDescription: String { rawValue }
}

/// A request as a client puts it together.
struct Call: Sendable {
    var method = "POST"
    var path = "/v1/app-store/promotional-offers/signatures"
    var fields: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// Of a call over loopback.
    var version = "HTTP/1.1"
    /// Where a call comes from that is made in process.
    var peer = PeerAddress.loopback
    /// SHA-256 of the certificate that the client proved to have in the TLS handshake.
    var certificateDigest: [UInt8]?

    static func get(_ path: String) -> Call { Call(method: "GET", path: path) }

    func at(_ path: String) -> Call {
        var call = self
        call.path = path
        return call
    }

    func from(_ address: String) -> Call {
        var call = self
        call.peer = PeerAddress(address, port: 1) ?? .loopback
        return call
    }

    func with(_ name: String, _ value: String) -> Call {
        var call = self
        call.fields.append((name, value))
        return call
    }

    var request: Request {
        var headers = HeaderFields()
        for (name, value) in fields { headers.append(name, value) }
        let parts = path.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        return Request(
            method: HTTP.Method(method),
            target: RequestTarget(path: Array(parts[0]), query: parts.count == 2 ? Array(parts[1]) : nil),
            headers: headers,
            body: body,
            from: ConnectionClient(peer: peer, certificateDigest: certificateDigest)
        )
    }

    var bytes: [UInt8] {
        let length = method == "POST" || !body.isEmpty ? "Content-Length: \(body.count)\r\n" : ""
        let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        // HTTP/1.0 knows no Host.
        let host = version == "HTTP/1.0" ? "" : "Host: localhost\r\n"
        return Array("\(method) \(path) \(version)\r\n\(host)\(length)\(lines)\r\n".utf8) + body
    }
}

extension Response {
    /// The same with everything that follows in its body.
    func whole() async throws -> Response {
        var response = self
        while let piece = try await rest?.next() { response.body += piece }
        return response
    }
}

/// What a call was answered with.
struct Reply: Hashable, Sendable, CustomStringConvertible {
    let status: Int
    /// Lowercase names; of repeated fields, the last.
    let headers: [String: String]
    let body: String
    /// Every `Set-Cookie`; over loopback the last.
    let setCookies: [String]

    init(_ response: Response) {
        status = response.status
        setCookies = response.headers.filter { $0.name == "Set-Cookie" }.map(\.value)
        headers = Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
        body = String(decoding: response.body, as: UTF8.self)
    }

    init(_ answer: RawHTTPClient.Answer) {
        status = answer.status
        headers = answer.headers
        setCookies = [answer.headers["set-cookie"]].compactMap(\.self)
        body = answer.body
    }

    var description: String { "\(status) \(body)" }

    /// The body, or null where it is not JSON.
    var json: Tree { (try? Tree(body)) ?? .null }

    /// The last part of a problem's type.
    var problem: String? {
        guard headers["content-type"] == "application/problem+json", json["status"].integer == Int64(status) else {
            return nil
        }
        return json["type"].text.flatMap { $0.hasPrefix("/problems/") ? String($0.dropFirst(10)) : nil }
    }

    /// Where a problem says that it lies.
    var pointers: [String] { json["errors"].elements.compactMap(\.["pointer"].text) }
}

/// Sends calls all at once, each on a connection of its own, and reads their answers.
///
/// It blocks a thread that is not one of Swift's shared pool.
func sendOverLoopback(_ calls: [Call], to port: UInt16) async throws -> [Reply] {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
            continuation.resume(
                with: Result {
                    let clients = try calls.map { _ in try RawHTTPClient(port: port, patience: 60) }
                    for (client, call) in zip(clients, calls) { client.send(call.bytes) }
                    return try zip(clients, calls).map { client, call in
                        Reply(try client.readAnswer(toHead: call.method == "HEAD"))
                    }
                }
            )
        }
    }
}
