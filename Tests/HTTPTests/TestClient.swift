// SPDX-License-Identifier: Apache-2.0
import HTTP
import TestSupport
import Testing

/// Runs `body` beside a client, and stops it however `body` ends.
func withClient(
    _ configuration: ClientConfiguration = .plain,
    _ body: (Client) async throws -> Void
) async throws {
    let client = try Client(configuration)
    try client.start()
    defer { client.stop() }
    try await body(client)
}

/// Runs `body` beside a client and a server that does as `script` says.
func withScript(
    _ configuration: ClientConfiguration = .plain,
    _ script: @escaping @Sendable (ScriptedServer.Peer) -> Void,
    _ body: (Client, ScriptedServer) async throws -> Void
) async throws {
    let server = ScriptedServer(script)
    defer { server.stop() }
    try await withClient(configuration) { try await body($0, server) }
}

extension ClientConfiguration {
    /// For servers without TLS; patient, so that only the tests of patience depend on time.
    static var plain: ClientConfiguration {
        ClientConfiguration(timeoutMilliseconds: 30_000, allowsPlainHTTP: true)
    }

    func with(_ change: (inout ClientConfiguration) -> Void) -> ClientConfiguration {
        var copy = self
        change(&copy)
        return copy
    }
}

extension ClientRequest {
    /// A GET to 127.0.0.1.
    static func get(
        _ port: UInt16,
        _ path: String...,
        scheme: String = "http",
        timeout: Int? = nil
    ) -> ClientRequest {
        do {
            let origin = try Origin(parsing: "\(scheme)://127.0.0.1:\(port)")
            var request = try ClientRequest(.get, origin, path: path)
            request.timeoutMilliseconds = timeout
            return request
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

extension Client {
    /// How a request failed; an answer is a failure of the test.
    func failure(_ request: ClientRequest, sourceLocation: SourceLocation = #_sourceLocation) async -> ClientError? {
        do throws(ClientError) {
            let response = try await send(request)
            Issue.record("answered with \(response.status)", sourceLocation: sourceLocation)
            return nil
        } catch {
            return error
        }
    }
}

/// That many times a letter, as the `gzip` command packs it.
func gzip(_ letter: Character, count: Int) async throws -> [UInt8] {
    let directory = try TemporaryDirectory()
    let path = directory.path(of: "packed")
    let script = "head -c \(count) /dev/zero | tr '\\0' '\(letter)' | gzip -c >'\(path)'"
    let outcome = try await runProcess(["/bin/sh", "-c", script])
    try #require(outcome.succeeded)
    return try TemporaryDirectory.read(path)
}

extension ScriptedServer.Peer {
    /// Answers with a body that is packed.
    func answer(gzipped packed: [UInt8]) {
        _ = readRequest()
        write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n")
        write(packed)
    }
}
