// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP
import Synchronization
import TestSupport
import Testing

/// The `openssl` command is the client: it knows nothing of our code.
@Suite("TLS", .mayBlock, .timeLimit(.minutes(1)))
struct TLSTests {
    private let folder: TemporaryDirectory
    private var directory: URL { URL(filePath: folder.path) }
    var files: TLSConfiguration {
        TLSConfiguration(
            certificateChainFile: directory.appending(path: "chain.pem").path,
            privateKeyFile: directory.appending(path: "key.pem").path
        )
    }
    var configuration: ServerConfiguration { ServerConfiguration(loops: 2, tls: files) }

    init() throws {
        folder = try TemporaryDirectory()
        try makeCertificate(named: "first.example", key: "key.pem", certificate: "chain.pem")
    }

    @Test
    func `answers over TLS 1.3`() async throws {
        try await withServer(configuration) { server in
            let text = request("GET", "/a") + request("POST", "/b", "Connection: close\r\n", body: "hello")
            let output = try connect(server.port, ["-tls1_3"], sending: text)
            #expect(output.contains("GET /a "))
            #expect(output.contains("POST /b hello"))
            #expect(output.contains("TLSv1.3"))
            #expect(output.contains("first.example"))
            #expect(try await eventually { server.statistics.openConnections == 0 })
        }
    }

    @Test
    func `answers over TLS what comes in pieces, at once, and in large`() async throws {
        let large = String(repeating: "0123456789abcdef", count: 1 << 16)
        let responder = RecordingResponder { request in
            guard request.path == Array("/large".utf8) else { return await RecordingResponder.echo(request) }
            return Response(status: 200, body: Array((large + "the end").utf8))
        }
        try await withServer(configuration, responder) { server in
            let client = try start(server.port, ["-tls1_3", "-quiet"])
            for byte in request("POST", "/slow", body: "hello") { client.send(String(byte)) }
            #expect(client.read(until: "POST /slow hello"))
            client.send((0..<50).map { request("POST", "/\($0)", body: "body \($0)") }.joined())
            #expect(client.read(until: "POST /49 body 49"))
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
            #expect(client.read(until: "HTTP/1.1 100 Continue\r\n\r\n"))
            client.send("again")
            #expect(client.read(until: "POST / again"))
            client.send(request("GET", "/large") + request("GET", "/last", "Connection: close\r\n"))
            let output = client.finish()
            #expect(output.contains(large + "the end"))
            #expect(output.contains("GET /last "))
            #expect(responder.paths.count == 54)
            #expect(try await eventually { server.statistics.openConnections == 0 })
        }
        try FileManager.default.removeItem(at: directory)
    }

    @Test
    func `refuses TLS 1.2`() async throws {
        try await withServer(configuration) { server in
            let output = try connect(server.port, ["-tls1_2"], sending: request("GET", "/", "Connection: close\r\n"))
            #expect(output.contains("alert protocol version"))
            #expect(!output.contains("HTTP/1.1"))
            #expect(try await eventually { server.statistics.openConnections == 0 })
            #expect(server.statistics.requests == 0)
        }
    }

    @Test
    func `refuses what could be read in two ways over TLS too`() async throws {
        try await withServer(configuration) { server in
            let bad = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 8\r\n\r\nabc"
            let output = try connect(server.port, ["-tls1_3"], sending: bad + SmugglingVector.smuggled)
            #expect(output.contains("HTTP/1.1 400 "))
            #expect(server.statistics.requests == 0)
        }
    }

    @Test
    func `ends a client that never shakes hands, and one that speaks plain HTTP`() async throws {
        var configuration = configuration
        configuration.deadlines.handshake = .milliseconds(200)
        try await withServer(configuration) { server in
            #expect(try RawHTTPClient(port: server.port).isClosedByServer())
            let plain = try RawHTTPClient(port: server.port)
            plain.send(request())
            #expect(plain.readToEnd() != nil)
            #expect(try await eventually { server.statistics.openConnections == 0 })
            #expect(server.statistics.requests == 0)
        }
    }

    @Test(arguments: [(keyUpdates: 5, isAnswered: true), (keyUpdates: 40, isAnswered: false)])
    func `lets a client change its keys now and then, and not without end`(
        row: (keyUpdates: Int, isAnswered: Bool)
    ) async throws {
        try await withServer(configuration) { server in
            // Without -ign_eof, which would have it send its commands.
            let client = try OpenSSLCommand(["s_client", "-connect", "127.0.0.1:\(server.port)", "-tls1_3"])
            #expect(client.read(until: "Verify return code"))
            try await client.sendAlone("GET / HTTP/1.1\r\nHost: a\r\n")
            for _ in 0..<row.keyUpdates {
                // What `openssl s_client` reads by itself is a command: it changes its key with the next bytes that it sends.
                try await client.sendAlone("k\n")
                try await client.sendAlone("X: 1\r\n")
            }
            client.send("Connection: close\r\n\r\n")
            #expect(client.read(until: "HTTP/1.1 200 OK") == row.isAnswered)
            _ = client.finish()
            #expect(try await eventually { server.statistics.openConnections == 0 })
            #expect(server.statistics.requests == (row.isAnswered ? 1 : 0))
        }
    }

    @Test
    func `shows the new certificate after a reload, and the old one after a failed reload`() async throws {
        try await withServer(configuration) { server in
            try makeCertificate(named: "second.example", key: "key.pem", certificate: "chain.pem")
            #expect(
                try connect(server.port, [], sending: request("GET", "/", "Connection: close\r\n")).contains(
                    "first.example"
                )
            )
            try server.reloadTLS()
            #expect(
                try connect(server.port, [], sending: request("GET", "/", "Connection: close\r\n")).contains(
                    "second.example"
                )
            )

            try makeCertificate(named: "third.example", key: "other.pem", certificate: "chain.pem")
            let error = ServerError.privateKeyDoesNotMatch(
                certificatePath: files.certificateChainFile,
                privateKeyPath: files.privateKeyFile
            )
            #expect(throws: error) { try server.reloadTLS() }
            #expect(
                try connect(server.port, [], sending: request("GET", "/", "Connection: close\r\n")).contains(
                    "second.example"
                )
            )
        }
    }

    @Test
    func `shows the new certificate only once what must come first has succeeded`() async throws {
        struct Refused: Error {}
        try await withServer(configuration) { server in
            func shows(_ name: String) throws -> Bool {
                try connect(server.port, [], sending: request("GET", "/", "Connection: close\r\n")).contains(name)
            }
            try makeCertificate(named: "second.example", key: "key.pem", certificate: "chain.pem")
            #expect(throws: Refused.self) { try server.reloadTLS { throw Refused() } }
            #expect(try shows("first.example"))
            func theOldOneIsShown() throws { #expect(try shows("first.example")) }
            try server.reloadTLS(after: theOldOneIsShown)
            #expect(try shows("second.example"))

            try makeCertificate(named: "third.example", key: "other.pem", certificate: "chain.pem")
            #expect(throws: ServerError.self) {
                try server.reloadTLS { Issue.record("a wrong certificate is found before anything else is done") }
            }
            #expect(try shows("second.example"))
        }
    }

    @Test
    func `keeps a connection over a reload`() async throws {
        try await withServer(configuration) { server in
            let process = try start(server.port, ["-tls1_3"])
            process.send(request("GET", "/before"))
            #expect(process.read(until: "GET /before "))
            try server.reloadTLS()
            process.send(request("GET", "/after", "Connection: close\r\n"))
            #expect(process.read(until: "GET /after "))
            process.finish()
        }
    }

    @Test
    func `says which file is wrong`() throws {
        var missing = files
        missing.certificateChainFile = directory.appending(path: "absent.pem").path
        var empty = files
        empty.privateKeyFile = directory.appending(path: "empty.pem").path
        try Data().write(to: URL(filePath: empty.privateKeyFile))
        #expect {
            try Server(ServerConfiguration(tls: missing), responder: RecordingResponder())
        } throws: {
            "\($0)".contains("absent.pem: No such file")
        }
        #expect {
            try Server(ServerConfiguration(tls: empty), responder: RecordingResponder())
        } throws: {
            "\($0)".contains("Cannot read the TLS private key in \(empty.privateKeyFile)")
        }
        #expect(throws: ServerError.notUsingTLS) {
            try Server(ServerConfiguration(), responder: RecordingResponder()).reloadTLS()
        }
    }

    // MARK: - Certificates of clients

    /// Answers with the digest of the client's certificate.
    private static let naming = RecordingResponder { request in
        let digest = request.certificateDigest.map { $0.map { String(format: "%02X", $0) }.joined(separator: ":") }
        return Response(status: 200, body: Array("certificate \(digest ?? "none")\n".utf8))
    }
    private static let bye = request("GET", "/", "Connection: close\r\n")

    @Test
    func `names the certificate that a client proved to have, in a resumed session too`() async throws {
        try makeCertificate(named: "client.example", key: "client-key.pem", certificate: "client.pem")
        let path = { (name: String) in directory.appending(path: name).path }
        let fingerprint = try OpenSSLCommand(["x509", "-in", path("client.pem"), "-noout", "-fingerprint", "-sha256"])
            .finish().split(separator: "=")[1].dropLast()
        var configuration = configuration
        configuration.asksForCertificates = { true }
        try await withServer(configuration, Self.naming) { server in
            let client = ["-cert", path("client.pem"), "-key", path("client-key.pem")]
            let first = try connect(server.port, client + ["-sess_out", path("session")], sending: Self.bye)
            #expect(first.contains("certificate \(fingerprint)\n"), "\(first)")
            let resumed = try connect(server.port, client + ["-sess_in", path("session")], sending: Self.bye)
            #expect(resumed.contains("Reused, TLSv1.3"))
            #expect(resumed.contains("certificate \(fingerprint)\n"), "\(resumed)")
            #expect(try connect(server.port, [], sending: Self.bye).contains("certificate none\n"))
        }
    }

    @Test
    func `asks from the next connection on, also a client that could resume a session`() async throws {
        try makeCertificate(named: "client.example", key: "client-key.pem", certificate: "client.pem")
        let path = { (name: String) in directory.appending(path: name).path }
        let asks = Mutex(false)
        var configuration = configuration
        configuration.asksForCertificates = { asks.withLock { $0 } }
        try await withServer(configuration, Self.naming) { server in
            let client = ["-cert", path("client.pem"), "-key", path("client-key.pem")]
            let before = try connect(server.port, client + ["-sess_out", path("session")], sending: Self.bye)
            #expect(before.contains("certificate none\n"), "\(before)")
            asks.withLock { $0 = true }
            let after = try connect(server.port, client + ["-sess_in", path("session")], sending: Self.bye)
            #expect(after.contains("New, TLSv1.3"))
            #expect(after.contains("certificate ") && !after.contains("certificate none"), "\(after)")
        }
    }

    // MARK: - The openssl command

    private func makeCertificate(named name: String, key: String, certificate: String) throws {
        let process = try OpenSSLCommand(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=\(name)", "-keyout", directory.appending(path: key).path,
                "-out", directory.appending(path: certificate).path,
            ]
        )
        _ = process.finish()
    }

    private func start(_ port: UInt16, _ options: [String]) throws -> OpenSSLCommand {
        try OpenSSLCommand(["s_client", "-connect", "127.0.0.1:\(port)", "-ign_eof"] + options)
    }

    /// Sends bytes and returns all that the command said until the server closed.
    private func connect(_ port: UInt16, _ options: [String], sending text: String) throws -> String {
        let process = try start(port, options)
        process.send(text)
        return process.finish()
    }
}
