// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import HTTP
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// Callers that prove themselves by a client certificate, in the TLS handshake or passed on by a proxy.
@Suite(.overSQLite) struct ClientCertificateTests {
    private static func certificate(_ name: String) throws -> Certificate {
        let folder = try TemporaryDirectory()
        try KeyTool.openssl(
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "30",
            "-subj",
            "/CN=\(name)",
            "-keyout",
            folder.path(of: "key.pem"),
            "-out",
            folder.path(of: "certificate.pem")
        )
        return try Certificate(pem: Array(try Data(contentsOf: URL(filePath: folder.path(of: "certificate.pem")))))
    }

    private static func pem(_ certificate: Certificate) -> String {
        let text = String(decoding: Base64.encode(certificate.der), as: UTF8.self)
        return "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
    }

    private static func percentEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var peer = "10.0.0.7"
        var setting = "Client-Cert"
        var header = "Client-Cert"
        /// The header's value for a certificate.
        var value: @Sendable (Certificate) -> String = { ":\(String(decoding: Base64.encode($0.der), as: UTF8.self)):" }
        var isTaken = true
    }

    private static let escaped: @Sendable (Certificate) -> String = { percentEncoded(pem($0)) }

    static let rows = [
        Row(testDescription: "RFC 9440, from the proxy"),
        Row(testDescription: "RFC 9440, from another sender", peer: "10.0.0.8", isTaken: false),
        Row(
            testDescription: "without colons",
            value: { String(decoding: Base64.encode($0.der), as: UTF8.self) },
            isTaken: false
        ),
        Row(testDescription: "empty", value: { _ in "::" }, isTaken: false),
        Row(testDescription: "bytes that are no certificate", value: { _ in ":AAAA:" }, isTaken: false),
        Row(
            testDescription: "nginx's form, where RFC 9440's is configured",
            header: "X-SSL-Client-Cert",
            value: escaped,
            isTaken: false
        ),
        Row(
            testDescription: "RFC 9440's, where nginx's form is configured",
            setting: "X-SSL-Client-Cert",
            isTaken: false
        ),
        Row(
            testDescription: "twice",
            value: { ":\(String(decoding: Base64.encode($0.der), as: UTF8.self)):, ::" },
            isTaken: false
        ),
        Row(testDescription: "nginx's form", setting: "X-SSL-Client-Cert", header: "X-SSL-Client-Cert", value: escaped),
        Row(
            testDescription: "nginx's form, with a stray percent sign",
            setting: "X-SSL-Client-Cert",
            header: "X-SSL-Client-Cert",
            value: { escaped($0) + "%4" },
            isTaken: false
        ),
    ]

    /// Adds a caller of role `backend`, and has the service take it into force.
    private func know(_ certificate: Certificate, as name: String, in service: TestService) throws {
        let caller = Caller(id: try #require(CallerID(name)), role: .backend, apps: [])
        _ = try Callers(ledger: service.ledger, clock: service.clock.wallClock).add(
            caller,
            certificate,
            expiresInDays: nil
        ).get()
        try service.refresh()
    }

    @Test(arguments: rows)
    func `a certificate in a header counts only from a configured proxy, in the configured form`(row: Row) async throws
    {
        let certificate = try Self.certificate("shop")
        var files = TestFiles()
        files.settings = [.clientCertificateProxy: "10.0.0.7", .clientCertificateHeader: row.setting]
        try await withService(.inProcess, files) { service async throws in
            try know(certificate, as: "shop", in: service)
            let call = Call.get("/v1/callers/self").from(row.peer)
            #expect(try await service.send(call).status == 401)
            let reply = try await service.send(call.with(row.header, row.value(certificate)))
            if row.isTaken {
                #expect(reply.status == 200 && reply.body.contains(#""id":"shop""#), "\(reply)")
            } else {
                #expect(reply.status == 400 && reply.problem == "client-certificate-refused", "\(reply)")
                #expect(reply.body.contains(row.header), "\(reply)")
            }
        }
    }

    @Test(arguments: [("Client-Cert", "X-SSL-Client-Cert"), ("X-SSL-Client-Cert", "Client-Cert")])
    func `the other header is refused beside the configured one`(configured: String, other: String) async throws {
        let certificate = try Self.certificate("shop")
        let values = [
            "Client-Cert": ":\(String(decoding: Base64.encode(certificate.der), as: UTF8.self)):",
            "X-SSL-Client-Cert": Self.escaped(certificate),
        ]
        var files = TestFiles()
        files.settings = [.clientCertificateProxy: "10.0.0.7", .clientCertificateHeader: configured]
        try await withService(.inProcess, files) { service async throws in
            try know(certificate, as: "shop", in: service)
            let call = Call.get("/v1/callers/self").from("10.0.0.7").with(configured, try #require(values[configured]))
            #expect(try await service.send(call).status == 200)
            let reply = try await service.send(call.with(other, try #require(values[other])))
            #expect(reply.status == 400 && reply.problem == "client-certificate-refused", "\(reply)")
            #expect(reply.body.contains(#""detail":"\#(other) counts only from"#), "\(reply)")
        }
    }

    @Test func `a certificate of the TLS handshake is its caller, unless the request has an API key`() async throws {
        let (known, other) = (try Self.certificate("shop"), try Self.certificate("other"))
        try await withService(.inProcess, TestFiles()) { service async throws in
            try know(known, as: "shop", in: service)
            var call = Call.get("/v1/callers/self")
            call.certificateDigest = known.fingerprint.bytes
            #expect(try await service.send(call).body.contains(#""id":"shop""#))
            let key = try #require(service.credentials["auditor"])
            #expect(
                try await service.send(call.with("Authorization", "Bearer \(key)")).body.contains(#""id":"auditor""#)
            )
            #expect(try await service.send(call.with("Authorization", "Bearer nonsense")).status == 401)
            call.certificateDigest = other.fingerprint.bytes
            #expect(try await service.send(call).status == 401)
        }
    }

    @Test func `the certificate of a proxy itself is not its client's`() async throws {
        let proxy = try Self.certificate("proxy")
        var files = TestFiles()
        files.settings = [.clientCertificateProxy: "10.0.0.7"]
        try await withService(.inProcess, files) { service async throws in
            try know(proxy, as: "proxy", in: service)
            var call = Call.get("/v1/callers/self")
            call.certificateDigest = proxy.fingerprint.bytes
            #expect(try await service.send(call).status == 200)
            #expect(try await service.send(call.from("10.0.0.7")).status == 401)
        }
    }

    @Test func `clients are asked for a certificate once a caller has one, or a provider's tokens may be bound to one`()
        async throws
    {
        let certificate = try Self.certificate("shop")
        let provider = try FakeIdentityProvider()
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            #expect(!service.current.value.asksForCertificates)
            try know(certificate, as: "shop", in: service)
            #expect(service.current.value.asksForCertificates)
        }
        try await withService(.inProcess, .trusting(provider, "clientCertificates: true")) { service async throws in
            #expect(service.current.value.asksForCertificates)
        }
    }

    @Test func `a user's token that is bound to a certificate counts only beside it`() async throws {
        let (own, other) = (try Self.certificate("device"), try Self.certificate("other"))
        let provider = try FakeIdentityProvider()
        try provider.publish(["es1"])
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            let bound = String(decoding: Base64.encodeURL(own.fingerprint.bytes), as: UTF8.self)
            let token = UserToken(provider.issuer, at: service.clock.now).with("cnf", ##"{"x5t#S256":"\##(bound)"}"##)
            var call = Call.preview(try token.text(provider))
            #expect(try await service.send(call).status == 401)
            call.certificateDigest = other.fingerprint.bytes
            #expect(try await service.send(call).status == 401)
            call.certificateDigest = own.fingerprint.bytes
            #expect(try await service.send(call).status == 200)
        }
    }

    @Test func `a caller's certificate ends when it expires, is revoked, or the caller is`() throws {
        try startSecureMemory()
        let certificate = try Self.certificate("shop")
        let folder = try TemporaryDirectory()
        let clock = SettableClock()
        let location = try #require(DatabaseLocation(folder.database("ledger.db")))
        let ledger = LedgerAccess(location: location, clock: clock.wallClock)
        let callers = Callers(ledger: ledger, clock: clock.wallClock)
        let key = CertificateKey(certificate.fingerprint)
        func isKnown() throws -> Bool {
            let directory = try CallerStore(connection: try ledger.openForReading()).directory()
            return directory.caller(presenting: key, at: clock.now) != nil
        }
        let shop = Caller(id: try #require(CallerID("shop")), role: .backend, apps: [])
        let entry = try callers.add(shop, certificate, expiresInDays: nil).get()
        #expect(entry.expiresAt.milliseconds == certificate.notAfter * 1000)
        #expect(entry.keyID == "cert-" + certificate.fingerprint.description.prefix(16))
        #expect(try isKnown())
        for role in CallerRole.allCases where role != .backend {
            let other = Caller(id: try #require(CallerID("other")), role: role, apps: [])
            #expect(throws: CallersError.self, "a browser would show it to any page") {
                try callers.add(other, try Self.certificate("other"), expiresInDays: nil).get()
            }
        }
        #expect(throws: CallersError.self) { try callers.addKey(certificate, to: shop.id, expiresInDays: nil).get() }
        try callers.revoke(shop.id, keyID: entry.keyID).get()
        #expect(try !isKnown())
        #expect(try callers.addKey(certificate, to: shop.id, expiresInDays: 1).get().expiresAt < entry.expiresAt)
        #expect(try isKnown())
        clock.advance(days: 1)
        #expect(try !isKnown())
        clock.advance(days: 3650)
        #expect(throws: CallersError.self) { try callers.addKey(certificate, to: shop.id, expiresInDays: nil).get() }
    }
}
