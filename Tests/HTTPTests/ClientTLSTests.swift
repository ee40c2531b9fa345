// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTP
import TestSupport
import Testing

/// Certificates are made for the run; the servers are ours and Python's h2, which knows nothing of libcurl.
@Suite("Client: TLS and HTTP/2", .mayBlock, .timeLimit(.minutes(1)))
struct ClientTLSTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test
    func `trusts the certificates in its file and no others`() async throws {
        let mine = try certificate("mine", for: "IP:127.0.0.1,DNS:localhost")
        let other = try certificate("other", for: "IP:127.0.0.1")
        try await withServer(ServerConfiguration(loops: 1, tls: mine)) { server in
            try await withClient(trusting(mine)) { client in
                let response = try await client.send(.get(server.port, "a", scheme: "https"))
                #expect(String(decoding: response.body, as: UTF8.self) == "GET /a ")
                let request = try ClientRequest(.get, Origin(parsing: "https://localhost:\(server.port)"))
                #expect(try await client.send(request).status == 200)
            }
            for configuration in [trusting(other), ClientConfiguration()] {
                try await withClient(configuration) { client in
                    let error = await client.failure(.get(server.port, scheme: "https"))
                    #expect(error?.label == "certificate-not-trusted")
                }
            }
            #expect(server.statistics.requests == 2)
        }
    }

    @Test
    func `refuses a certificate for another host`() async throws {
        let files = try certificate("elsewhere", for: "DNS:elsewhere.example,IP:127.0.0.2")
        try await withServer(ServerConfiguration(loops: 1, tls: files)) { server in
            try await withClient(trusting(files)) { client in
                let error = await client.failure(.get(server.port, scheme: "https"))
                #expect(error?.label == "certificate-not-trusted")
            }
            #expect(server.statistics.requests == 0)
        }
    }

    @Test
    func `refuses a certificate that is over`() async throws {
        let files = try certificate("over", for: "IP:127.0.0.1")
        let request = directory.path(of: "over.csr")
        try KeyTool.openssl(
            "x509",
            "-x509toreq",
            "-copy_extensions",
            "copy",
            "-in",
            files.certificateChainFile,
            "-signkey",
            files.privateKeyFile,
            "-out",
            request
        )
        try KeyTool.openssl(
            "x509",
            "-req",
            "-copy_extensions",
            "copy",
            "-days",
            "-1",
            "-in",
            request,
            "-signkey",
            files.privateKeyFile,
            "-out",
            files.certificateChainFile
        )
        try await withServer(ServerConfiguration(loops: 1, tls: files)) { server in
            try await withClient(trusting(files)) { client in
                let error = await client.failure(.get(server.port, scheme: "https"))
                #expect(error?.label == "certificate-not-trusted")
                #expect(error.map { "\($0)".contains("expired") } == true)
            }
        }
    }

    @Test
    func `tells a file of certificates that is none, and a server that speaks no TLS`() async throws {
        let empty = try directory.write([], to: "empty.pem")
        try await withScript(
            ClientConfiguration(trustedCertificatesFile: empty),
            { peer in
                peer.write("HTTP/1.1 400 Bad Request\r\n\r\n")
                peer.waitForClose()
            }
        ) { client, server in
            #expect(await client.failure(.get(server.port, scheme: "https"))?.label == "tls")
            try await withClient(ClientConfiguration()) { client in
                #expect(await client.failure(.get(server.port, scheme: "https"))?.label == "tls")
            }
        }
    }

    @Test
    func `speaks HTTP/2 where it is offered, many requests to a connection`() async throws {
        let files = try certificate("two", for: "IP:127.0.0.1")
        try await withHTTP2Server(files) { port in
            try await withClient(trusting(files)) { client in
                let versions = try await withThrowingTaskGroup(of: String.self) { group in
                    for index in 0..<50 {
                        group.addTask {
                            let response = try await client.send(.get(port, "\(index)", scheme: "https"))
                            #expect(String(decoding: response.body, as: UTF8.self) == "GET /\(index)")
                            #expect(response.headers.first("x-protocol") == Array("h2".utf8))
                            return response.version.rawValue
                        }
                    }
                    return try await group.reduce(into: Set()) { $0.insert($1) }
                }
                #expect(versions == ["HTTP/2"])
                #expect(client.statistics.connectionsOpened == 1)
                let reset = await client.failure(.get(port, "reset", scheme: "https"))
                #expect(reset?.label == "connection-lost")
                let short = await client.failure(.get(port, "short", scheme: "https"))
                #expect(short?.label == "connection-lost")
                let hanging = await client.failure(.get(port, "hang", scheme: "https", timeout: 100))
                #expect(hanging == .timeout)
                #expect(try await client.send(.get(port, scheme: "https")).status == 200)
            }
        }
    }

    // MARK: - Servers and certificates

    private func trusting(_ files: TLSConfiguration) -> ClientConfiguration {
        ClientConfiguration(timeoutMilliseconds: 30_000, trustedCertificatesFile: files.certificateChainFile)
    }

    private func certificate(_ name: String, for hosts: String) throws -> TLSConfiguration {
        let files = TLSConfiguration(
            certificateChainFile: directory.path(of: name + ".pem"),
            privateKeyFile: directory.path(of: name + ".key")
        )
        try KeyTool.openssl(
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=\(name)",
            "-addext",
            "subjectAltName=\(hosts)",
            "-keyout",
            files.privateKeyFile,
            "-out",
            files.certificateChainFile
        )
        return files
    }

    private func withHTTP2Server(_ files: TLSConfiguration, _ body: (UInt16) async throws -> Void) async throws {
        let output = directory.path(of: "port")
        let server = try ChildProcess(
            ["/usr/bin/python3", "-c", http2Server, files.certificateChainFile, files.privateKeyFile],
            environment: ownEnvironment(),
            output: output,
            errors: directory.path(of: "errors")
        )
        defer { server.send(SIGKILL) }
        let isUp = try await eventually { textOfFile(output).hasSuffix("\n") || server.ended != nil }
        let port = UInt16(textOfFile(output).dropLast())
        try await body(#require(isUp ? port : nil, "\(textOfFile(directory.path(of: "errors")))"))
    }
}

/// Answers each path with itself over HTTP/2; some paths otherwise.
private let http2Server = """
    import socket, ssl, sys, threading
    import h2.config, h2.connection, h2.events

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    context.set_alpn_protocols(["h2"])
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    print(listener.getsockname()[1], flush=True)

    def answer(connection, stream, headers):
        path = headers[":path"]
        if path == "/hang":
            return
        if path == "/reset":
            connection.reset_stream(stream, 2)
            return
        body = (headers[":method"] + " " + path).encode()
        length = len(body) + (5 if path == "/short" else 0)
        fields = [(":status", "200"), ("content-length", str(length)), ("x-protocol", "h2")]
        connection.send_headers(stream, fields)
        connection.send_data(stream, body, end_stream=True)

    def serve(raw):
        with context.wrap_socket(raw, server_side=True) as peer:
            connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
            connection.initiate_connection()
            peer.sendall(connection.data_to_send())
            while data := peer.recv(65536):
                for event in connection.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        answer(connection, event.stream_id, dict(event.headers))
                peer.sendall(connection.data_to_send())

    while True:
        peer, _ = listener.accept()
        threading.Thread(target=serve, args=(peer,), daemon=True).start()
    """
