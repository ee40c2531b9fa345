// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Foundation
import OfferDomain
import OfferService
import TestSupport
import Testing

/// `POST /v1/diagnoses`.
@Suite(.overBothEngines) struct DiagnosesCallTests {
    private static let token = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"
    private static let other = "00000000-0000-4000-8000-000000000000"

    private static func diagnose(
        _ service: TestService,
        _ body: String,
        as caller: String = "backend"
    ) async throws -> Reply {
        var call = service.call(as: caller, body)
        call.path = "/v1/diagnoses"
        return try await service.send(call)
    }

    private static func sign(_ service: TestService, _ members: String = "") async throws -> Reply {
        try await service.sign(offer: "open", #""appAccountToken": "\#(token)"\#(members)"#)
    }

    /// The answer with further members.
    private static func report(_ reply: Reply, _ members: String) -> String {
        String(reply.body.dropLast()) + ", \(members)}"
    }

    private static func codes(_ reply: Reply) -> [String] {
        reply.json["findings"].elements.compactMap(\.["code"].text)
    }

    @Test(arguments: [Wire.inProcess, .loopback])
    func `calls the service's own answer right, names its record, and records nothing of a customer`(
        wire: Wire
    ) async throws {
        try await withService(wire) { service async throws in
            _ = try await Self.sign(service)
            let reply = try await Self.sign(service, #", "customerId": "lovelace""#)
            let found = try await Self.diagnose(service, Self.report(reply, #""error": "invalidOfferSignature""#))
            #expect(found.status == 200 && found.headers["cache-control"] == "no-store", "\(found)")
            #expect(found.json["verdict"] == .text("signed-correctly") && Self.codes(found).isEmpty, "\(found)")
            #expect(found.json["signedBy"] == .text("ACTIVE0001"))
            let record = found.json["record"]
            #expect(record["state"] == .text("recorded") && record["index"].integer == 1)
            #expect(record["grantId"] == reply.json["grantId"] && record["signings"].integer == 1)
            #expect(record["redeemed"] == .boolean(false) && record["earlierReports"].integer == 0)
            let entry = try #require(try service.entries("signature.diagnosed").first)
            #expect(entry["caller"] == .text("backend") && entry["verdict"] == .text("signed-correctly"))
            #expect(entry["bundle"] == .text("com.example.app") && entry["digest"].text?.count == 64)
            let text = try service.entries().last ?? ""
            #expect(!text.contains(Self.token) && !text.contains("lovelace"), "\(text)")
            let again = try await Self.diagnose(service, reply.body)
            #expect(again.json["record"]["earlierReports"].integer == 1 && Self.codes(again).isEmpty, "\(again)")
            // To look twice uses nothing; that a second attempt failed, too, may be because of the first.
            let failed = try await Self.diagnose(service, Self.report(reply, #""error": "invalidOfferSignature""#))
            #expect(Self.codes(failed) == ["reused"], "\(failed)")
        }
    }

    /// Further members of a report of an answer, and what is found.
    static let reports: [(members: String, verdict: String, code: String)] = [
        (#""attached": {"appAccountToken": "\#(other)"}"#, "payload-differs", "other-token-signed"),
        (#""attached": {"nonce": "\#(other)"}"#, "payload-differs", "other-nonce"),
        (#""attached": {"productId": "pro.yearly"}"#, "payload-differs", "other-product-attached"),
        (#""attached": {"offerId": "store_once"}"#, "payload-differs", "other-offer-attached"),
        (#""attached": {"bundleId": "com.example.app.dev"}"#, "payload-differs", "other-bundle-id-attached"),
        (#""attemptedAt": 4102444800000"#, "expired", "expired"),
        (#""error": {"domain": "SKErrorDomain", "code": 18}"#, "not-eligible-at-store", "not-eligible-at-store"),
    ]

    @Test(.overSQLite, arguments: reports.indices)
    func `proves what the app did otherwise`(row: Int) async throws {
        let (members, verdict, code) = Self.reports[row]
        try await withService { service async throws in
            let found = try await Self.diagnose(service, Self.report(try await Self.sign(service), members))
            #expect(found.json["verdict"] == .text(verdict) && Self.codes(found).contains(code), "\(found)")
            #expect(found.json["record"]["state"] == .text("recorded"), "\(found)")
        }
    }

    @Test(.overSQLite) func `finds the nonce that was signed, from a record of the same time`() async throws {
        try await withService { service async throws in
            let answer = try await Self.sign(service)
            let nonce = try #require(answer.json["nonce"].text)
            let body = Self.report(answer, #""bundleId": "com.example.app", "productId": "pro.monthly""#)
            let found = try await Self.diagnose(service, body.replacing(nonce, with: Self.other))
            #expect(
                Self.codes(found) == ["other-nonce"] && found.json["record"]["state"] == .text("recorded")
                    && found.json["record"]["nonce"] == .text(nonce),
                "\(found)"
            )
        }
    }

    // MARK: - Theft

    /// A signature that a key of the service made without the service.
    private static func forged(_ service: TestService, _ file: String = "active.p8") throws -> String {
        let pem = try SecretFile.read(path: service.path(file), policy: SecretFilePolicy())
        let key = try PrivateKey(pem: pem)
        let fields = [
            "com.example.app", "ACTIVE0001", "pro.monthly", "store_open", Self.token, Self.other, "1795250488617",
        ]
        let digest = SHA256.digest(of: Array(fields.joined(separator: "\u{2063}").utf8))
        let signature = String(decoding: Base64.encode(try key.signature(of: digest).der), as: UTF8.self)
        return """
            {"bundleId": "com.example.app", "keyIdentifier": "ACTIVE0001", "productId": "pro.monthly", \
            "offerId": "store_open", "appAccountToken": "\(Self.token)", "nonce": "\(Self.other)", \
            "timestamp": 1795250488617, "signature": "\(signature)"}
            """
    }

    private static func look(_ service: TestService, _ body: String) async throws -> Reply {
        var call = service.call(as: "auditor", body)
        call.path = "/v1/audit/lookups"
        return try await service.send(call)
    }

    @Test(arguments: [false, true])
    func `tells a signature of a stolen key from junk, also once the key is disabled`(isDisabled: Bool) async throws {
        try await withService { service async throws in
            let forged = try Self.forged(service)
            if isDisabled {
                let keyDisabling = KeyDisabling(ledger: service.ledger, clock: service.clock.wallClock)
                try keyDisabling.set(try KeyID("ACTIVE0001"), isDisabled: true)
                try service.refresh()
            }
            let looked = try await Self.look(service, forged)
            #expect(looked.status == 404 && looked.problem == "unrecorded-signature", "\(looked)")
            #expect(looked.json["detail"].text?.contains("The key ACTIVE0001 made this signature") == true)
            let found = try await Self.diagnose(service, forged)
            #expect(found.json["record"]["state"] == .text("made-by-our-key"), "\(found)")
            #expect(Self.codes(found) == ["not-on-record"], "\(found)")
            #expect(service.metrics[.unrecordedSignatures(key: "ACTIVE0001")] == 2)
            let junk = try await Self.look(
                service,
                try Self.forged(service, "other.p8").replacing("pro.m", with: "pro.M")
            )
            #expect(junk.problem == "no-record", "\(junk)")
        }
    }

    /// A JWS that a key of the service made without the service.
    private static func forgedJWS(_ service: TestService, audience: String) throws -> String {
        let pem = try SecretFile.read(path: service.path("active.p8"), policy: SecretFilePolicy())
        let claims = """
            {"iss": "57246542-96fe-1a63-e053-0824d011072a", "iat": 1795250488, "aud": "\(audience)", "bid": "com.example.app", \
            "nonce": "\(other)", "productId": "pro.monthly", "offerIdentifier": "store_open"}
            """
        let parts = [#"{"alg": "ES256", "kid": "ACTIVE0001", "typ": "JWT"}"#, claims]
            .map { String(decoding: Base64.encodeURL(Array($0.utf8)), as: UTF8.self) }.joined(separator: ".")
        let signature = try PrivateKey(pem: pem).signature(of: SHA256.digest(of: Array(parts.utf8))).rawRS
        return parts + "." + String(decoding: Base64.encodeURL(signature), as: UTF8.self)
    }

    @Test(.overSQLite, arguments: ["promotional-offer": true, "appstoreconnect-v1": false])
    func `tells a stolen key's JWS beside a signature on record, and takes no token for an offer`(
        audience: String,
        isTheft: Bool
    ) async throws {
        try await withService { service async throws in
            let forged = try Self.forgedJWS(service, audience: audience)
            let body = Self.report(try await Self.sign(service), #""jws": "\#(forged)""#)
            let found = try await Self.diagnose(service, body)
            #expect(Self.codes(found).contains("not-on-record") == isTheft, "\(found)")
            #expect(found.json["record"]["state"] == .text(isTheft ? "made-by-our-key" : "recorded"), "\(found)")
            #expect(service.metrics[.unrecordedSignatures(key: "ACTIVE0001")] == (isTheft ? 1 : 0))
        }
    }

    @Test(.overSQLite) func `finds a stolen key's signature in an answer that lacks app and product`() async throws {
        try await withService { service async throws in
            _ = try await Self.sign(service)
            let answer = try Self.forged(service).replacing(#""bundleId": "com.example.app", "#, with: "")
                .replacing(#""productId": "pro.monthly", "#, with: "").replacing("offerId", with: "identifier")
            let looked = try await Self.look(service, answer)
            #expect(looked.problem == "unrecorded-signature", "\(looked)")
        }
    }

    @Test(.overSQLite, arguments: ["timestamp", "nonce"])
    func `raises no alarm where one form of an answer is on record, and the other was changed`(
        member: String
    ) async throws {
        try await withService { service async throws in
            let reply = try await Self.sign(service, #", "formats": ["v1", "jws"]"#)
            let changed =
                member == "nonce"
                ? reply.body.replacing(reply.json["nonce"].text ?? "-", with: Self.other)
                : reply.body.replacing(#""timestamp":1"#, with: #""timestamp":2"#)
            #expect(changed != reply.body)
            #expect(try await Self.look(service, changed).problem == "no-record")
            let batch = #"{"results": [{"grant": \#(reply.body)}, {"grant": \#(changed)}]}"#
            #expect(try await Self.look(service, batch).problem == "no-record")
            #expect(service.metrics[.unrecordedSignatures(key: "ACTIVE0001")] == 0)
        }
    }

    @Test(.overSQLite) func `decides nothing about a random signature`() async throws {
        try await withService { service async throws in
            let key = try PrivateKey.generate()
            let signature = try key.signature(of: SHA256.digest(of: [1]))
            let text = String(decoding: Base64.encode(signature.der), as: UTF8.self)
            let answer = try await Self.sign(service)
            let found = try await Self.diagnose(
                service,
                answer.body.replacing(answer.json["signature"].text ?? "-", with: text)
            )
            #expect(found.json["verdict"] == .text("undecided"), "\(found)")
            #expect(found.json["record"]["state"] == .text("recorded-otherwise"), "\(found)")
        }
    }

    // MARK: - Who may ask, and for what

    @Test(
        .overSQLite,
        arguments: ["auditor": 200, "admin": 200, "backend": 200, "scoped": 200, "app": 403, "nobody": 401]
    )
    func `answers auditors, administrators and backends`(caller: String, status: Int) async throws {
        try await withService { service async throws in
            let answer = try await Self.sign(service)
            #expect(try await Self.diagnose(service, answer.body, as: caller).status == status)
        }
    }

    @Test(.overSQLite) func `answers a backend about its own apps alone`() async throws {
        try await withService { service async throws in
            let body = Self.report(try await Self.sign(service), #""bundleId": "com.example.other""#)
            let attached = Self.report(
                try await Self.sign(service),
                #""attached": {"bundleId": "maccatalyst.com.example.app"}"#
            )
            let own = try await Self.diagnose(service, attached, as: "scoped")
            #expect(Self.codes(own) == ["other-bundle-id-attached"], "\(own)")
            let refused = try await Self.diagnose(service, body, as: "scoped")
            #expect(refused.status == 403 && refused.problem == "bundle-not-allowed", "\(refused)")
            let call = service.call(
                #"{"bundleId": "com.example.other", "productId": "pro.monthly", "offerId": "open", "facts": {"subscribedBefore": true}}"#
            )
            let others = try await service.send(call)
            let unnamed = try await Self.diagnose(service, others.body, as: "scoped")
            #expect(unnamed.status == 400 && unnamed.pointers == ["/bundleId"], "\(unnamed)")
        }
    }

    @Test(.overSQLite) func `holds a caller to a rate`() async throws {
        try await withService { service async throws in
            let body = try await Self.sign(service).body
            var last: Reply?
            for _ in 0..<60 where last?.status != 429 { last = try await Self.diagnose(service, body) }
            #expect(
                last?.problem == "rate-limited" && last?.headers["retry-after"] == "1",
                "\(String(describing: last))"
            )
            #expect(try await Self.diagnose(service, body, as: "auditor").status == 200)
        }
    }

    /// A body, and where it is wrong.
    static let refused: [(body: String, pointer: String)] = [
        ("{}", "/signature"), ("[]", ""), (#"{"signature": 5}"#, "/signature"),
        (#"{"signature": "MEUC", "appAcountToken": "x"}"#, "/appAcountToken"),
        (#"{"signature": "MEUC", "attached": {"tokn": 1}}"#, "/attached/tokn"),
        (#"{"signature": "MEUC", "attached": 5}"#, "/attached"),
        (#"{"signature": "MEUC", "error": {"code": "12"}}"#, "/error/code"),
        (#"{"signature": "MEUC", "error": {"domain": "a b", "code": 1}}"#, "/error/domain"),
        (#"{"signature": "MEUC", "error": {"code": 1, "underlying": [{"code": 1}]}}"#, "/error/underlying/0/domain"),
        (#"{"signature": "MEUC", "attemptedAt": "now"}"#, "/attemptedAt"),
        (#"{"signature": "MEUC", "client": {"storeKit": 3}}"#, "/client/storeKit"),
        (#"{"signature": "MEUC", "client": {"os": ""}}"#, "/client/os"),
        (#"{"signature": "MEUC", "askStore": "yes"}"#, "/askStore"),
        (#"{"signature": "MEUC", "grantId": "x"}"#, "/grantId"),
        (#"{"signature": "MEUC", "timestamp": {}}"#, "/timestamp"),
        (#"{"signature": "MEUC", "askStore": true}"#, "/transactionId"),
    ]

    @Test(.overSQLite, arguments: refused.indices)
    func `refuses what is no report, with the member`(row: Int) async throws {
        let (body, pointer) = Self.refused[row]
        try await withService { service async throws in
            let reply = try await Self.diagnose(service, body)
            #expect(reply.problem == "invalid-request" && reply.pointers.contains(pointer), "\(reply)")
        }
    }

    @Test(.overSQLite, arguments: [true, false])
    func `asks the App Store with the key that signed, and tells whether it takes that key`(
        isAccepted: Bool
    ) async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.active)])
            let id = try #require(ids.subscriptions.first?.originalTransactionID)
            let answer = try await world.service.send(
                world.service.call(as: "backend", world.body("open", #""facts": {"subscribedBefore": true}"#))
            )
            if !isAccepted { try world.store.misbehave(.unauthorized) }
            let asked = Self.report(answer, #""askStore": true, "transactionId": "\#(id)""#)
            let found = try await Self.diagnose(world.service, asked)
            let store = found.json["store"]
            #expect(store["keyIdentifier"] == found.json["signedBy"] && store["keyIdentifier"].text != nil, "\(found)")
            #expect(store["outcome"] == .text(isAccepted ? "answered" : "credentials-refused"), "\(found)")
            #expect(Self.codes(found) == (isAccepted ? [] : ["key-refused-by-store"]), "\(found)")
            #expect(!found.json["notDecidable"].elements.contains(.text("key-revoked")), "\(found)")
        }
    }

    @Test(.overSQLite) func `lets no auditor have the store asked`() async throws {
        try await withService { service async throws in
            let body = Self.report(try await Self.sign(service), #""askStore": true"#)
            #expect(try await Self.diagnose(service, body, as: "auditor").problem == "role-not-allowed")
        }
    }
}
