// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import JSON
import OfferDomain
import OfferService
import ServiceRuntime
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Ledger
@testable import Stores

/// A small Google on loopback: it gives a token only if the assertion verifies and its signing is on record.
private struct SmallGoogle: Responder {
    let accountKey: RSAPublicKey
    let signingKey: RSAPrivateKey
    let ledger: LedgerAccess
    let seen: Recorded

    final class Recorded: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    func respond(to request: Request) async -> Response {
        let path = String(decoding: request.path, as: UTF8.self)
        seen.add("\(request.method) \(path)?\(String(decoding: request.query ?? [], as: UTF8.self))")
        switch path {
        case "/token": return token(String(decoding: request.body, as: UTF8.self))
        case "/oauth2/v3/certs": return json(keys())
        default: break
        }
        guard request.headers.first("authorization") == Array("Bearer ya29.a".utf8) else {
            return json(#"{"error":{"code":401,"message":"x","status":"UNAUTHENTICATED"}}"#, status: 401)
        }
        if path.hasSuffix("/offers") { return Response(status: 204) }
        if path.hasSuffix("/subscriptions") { return json(#"{"subscriptions":[{"productId":"pro"}]}"#) }
        return json(#"{"kind":"androidpublisher#subscriptionPurchaseV2"}"#)
    }

    private func token(_ form: String) -> Response {
        let parts = form.split(separator: "assertion=").last.map { $0.utf8.split(separator: UInt8(ascii: ".")) } ?? []
        guard parts.count == 3, let signature = Base64.decodeURL(Array(parts[2])) else { return Response(status: 400) }
        let input = Array(parts[0]) + [UInt8(ascii: ".")] + Array(parts[1])
        guard accountKey.verifiesRS256(signature, of: input), isOnRecord(SHA256.digest(of: input)) else {
            return json(#"{"error":"invalid_grant"}"#, status: 400)
        }
        return json(#"{"access_token":"ya29.a","expires_in":"3599","token_type":"Bearer"}"#)
    }

    private func isOnRecord(_ digest: SHA256Digest) -> Bool {
        var entries: [String] = []
        try? ledger.openForReading().rows(SQL("SELECT entry FROM audit_entries")) { row in
            entries.append(String(decoding: row.blob(0), as: UTF8.self))
        }
        let name = #""account":"signer@example.iam.gserviceaccount.com""#
        return entries.contains {
            $0.contains(#""ev":"store.token""#) && $0.contains(digest.hex) && $0.contains(name)
        }
    }

    private func keys() -> String {
        let der = signingKey.publicKey.spki
        // The modulus of a 2048-bit key comes right before the five bytes of its exponent.
        let modulus = String(decoding: Base64.encodeURL(Array(der[(der.count - 261)..<(der.count - 5)])), as: UTF8.self)
        return #"{"keys":[{"kty":"RSA","alg":"RS256","use":"sig","kid":"k","n":"\#(modulus)","e":"AQAB"}]}"#
    }

    private func json(_ text: String, status: Int = 200) -> Response {
        Response(status: status, headers: [("Content-Type", "application/json")], body: Array(text.utf8))
    }
}

/// The stores as the service puts them together, over real connections.
@Suite("Google Play: over the wire")
struct GooglePlayLoopbackTests {
    private static let audience = "https://offers.example.com/push"
    private static let email = "push@example.iam.gserviceaccount.com"

    private func withStores(
        _ body: (StoreClients, RSAPrivateKey, SmallGoogle.Recorded) async throws -> Void
    ) async throws {
        try startSecureMemory()
        let directory = try TemporaryDirectory()
        let pem = try KeyTool.makeRSAKey()
        var files = TestFiles()
        files.keys = files.keys.replacing(
            "customerIds:",
            with: #"googleServiceAccounts: [{packageNames: ["com.example.app"], file: "account.json"}], customerIds:"#
        )
        _ = try TestService.write(files, into: directory)
        try directory.write(ServiceAccountDraft(pem: pem).bytes, to: "account.json")
        let ledger = LedgerAccess(
            location: try TestService.settings(in: directory, files).database,
            clock: .system
        )
        let google = SmallGoogle(
            accountKey: try RSAPrivateKey(pem: SecureBytes(copying: pem)).publicKey,
            signingKey: try RSAPrivateKey(pem: SecureBytes(copying: KeyTool.makeRSAKey())),
            ledger: ledger,
            seen: SmallGoogle.Recorded()
        )
        let server = try Server(ServerConfiguration(loops: 1), responder: google)
        try server.start()
        let url = "http://127.0.0.1:\(server.port)"
        let settings = try Settings(
            flags: [
                .keys: directory.path(of: "keys"), .offers: directory.path(of: "offers"), .googlePlayURL: url,
                .googleOAuthURL: url, .googleCertsURL: url, .googlePushAudience: Self.audience,
                .googlePushEmail: Self.email, .revocationCheck: "off",
            ],
            environment: [:]
        )
        let metrics = Metrics()
        let committer = Committer(clock: .system, observer: metrics, open: ledger.open)
        let connection = try ledger.openPatiently()
        let stores = try StoreClients(
            settings,
            current: CurrentSnapshot(try LoadedConfiguration(settings).snapshot(ledger.openForReading())),
            committer: committer,
            runtime: Runtime(
                clock: .system,
                random: try SystemRandom(),
                metrics: metrics,
                log: Log(level: .error, clock: .system) { _ in }
            )
        )
        committer.start(on: connection)
        try stores.start()
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await body(stores, google.signingKey, google.seen))
        } catch {
            outcome = .failure(error)
        }
        await mayBlock {
            stores.stop()
            committer.stop()
        }
        await server.stop()
        try outcome.get()
    }

    @Test
    func `asks with a token for which the key was used on record, and reads empty lists`() async throws {
        try await withStores { stores, _, seen in
            let app = try PackageName("com.example.app")
            let caller = try #require(CallerID("backend"))
            let purchase = try await stores.googlePlayAPI.purchase(
                try PurchaseToken("a/b"),
                of: app,
                for: .caller(caller)
            )
            #expect(purchase == .unreadable, "it has no line items")
            #expect(try await stores.googlePlayAPI.subscriptionPages(of: app).count == 1)
            #expect(try await stores.googlePlayAPI.offerPages(of: app).isEmpty)
            let path = "/androidpublisher/v3/applications/com.example.app"
            #expect(
                seen.all == [
                    "post /token?", "get \(path)/purchases/subscriptionsv2/tokens/a%2Fb?",
                    "get \(path)/subscriptions?pageSize=25&prettyPrint=false",
                    "get \(path)/subscriptions/-/basePlans/-/offers?pageSize=100&prettyPrint=false",
                ]
            )
            let other = try PackageName("com.example.other")
            let error = await failure {
                try await stores.googlePlayAPI.purchase(try PurchaseToken("t"), of: other, for: nil)
            }
            #expect(error == .cannotSign(reason: "no service account is set for com.example.other"))
        }
    }

    @Test
    func `believes a push whose token verifies with the keys that Google publishes`() async throws {
        try await withStores { stores, key, seen in
            let authenticator = try #require(stores.googlePush)
            let now = WallClock.system.now().seconds
            func headers(_ audience: String) throws -> HeaderFields {
                let claims = """
                    {"iss":"https://accounts.google.com","sub":"1","aud":"\(audience)","email":"\(Self.email)",\
                    "email_verified":true,"iat":\(now),"exp":\(now + 3600)}
                    """
                let unsigned = CompactJWS(
                    header: Array(#"{"alg":"RS256","kid":"k"}"#.utf8),
                    payload: Array(claims.utf8)
                )
                let signature = try key.signatureRS256(of: unsigned.signingInput)
                var headers = HeaderFields()
                let token = String(decoding: unsigned.serialized(rs256: signature), as: UTF8.self)
                headers.append("Authorization", "Bearer \(token)")
                return headers
            }
            try await authenticator.authenticate(headers(Self.audience))
            let other = try headers("https://x.example")
            await #expect(throws: GooglePushFault.token(.otherAudience)) { try await authenticator.authenticate(other) }
            #expect(seen.all == ["get /oauth2/v3/certs?"])
        }
    }
}
