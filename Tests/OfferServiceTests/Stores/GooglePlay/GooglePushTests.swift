// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import OfferDomain
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

@testable import Configuration
@testable import OfferService
@testable import Stores

/// One of Google's two keys.
private struct PushKey: Sendable {
    let id: String
    let privateKey: RSAPrivateKey
    let jwk: String

    init(_ id: String) throws {
        try startSecureMemory()
        let pem = try KeyTool.makeRSAKey()
        let der = try KeyDER.contents(of: pem)
        let numbers = KeyDER.rsaNumbers(in: der)
        let modulus = Base64.encodeURL(Array(der[numbers[1]].drop { $0 == 0 }))
        self.id = id
        privateKey = try RSAPrivateKey(pem: SecureBytes(copying: pem))
        let text = String(decoding: modulus, as: UTF8.self)
        jwk = #"{"kty":"RSA","use":"sig","alg":"RS256","kid":"\#(id)","n":"\#(text)","e":"AQAB"}"#
    }

    static let one = Result { try PushKey("one") }
    static let two = Result { try PushKey("two") }
}

/// A push request's token, with parts to be set wrong.
private struct PushToken: Sendable {
    var header = #"{"alg":"RS256","kid":"one","typ":"JWT"}"#
    var claims: [(name: String, json: String?)]
    var signer = PushKey.one
    var spoil: @Sendable ([UInt8]) -> [UInt8] = { $0 }

    static let audience = "https://offers.example.com/v1/notifications/google-play"
    static let email = "push@example.iam.gserviceaccount.com"

    init(at now: Timestamp) {
        claims = [
            ("aud", "\"\(Self.audience)\""), ("azp", "\"1\""), ("email", "\"\(Self.email)\""),
            ("email_verified", "true"),
            ("exp", "\(now.seconds + 3600)"), ("iat", "\(now.seconds)"), ("iss", #""https://accounts.google.com""#),
            ("sub", "\"1\""),
        ]
    }

    func with(_ name: String, _ json: String?) -> PushToken {
        var copy = self
        copy.claims = claims.filter { $0.name != name } + [(name, json)]
        return copy
    }

    func header(_ text: String) -> PushToken {
        var copy = self
        copy.header = text
        return copy
    }

    func signed(by key: Result<PushKey, any Error>) -> PushToken {
        var copy = self
        copy.signer = key
        return copy
    }

    func spoilt(_ spoil: @escaping @Sendable ([UInt8]) -> [UInt8]) -> PushToken {
        var copy = self
        copy.spoil = spoil
        return copy
    }

    func text() throws -> String {
        let members = claims.compactMap { claim in claim.json.map { "\"\(claim.name)\":\($0)" } }
        let unsigned = CompactJWS(
            header: Array(header.utf8),
            payload: Array("{\(members.joined(separator: ","))}".utf8)
        )
        let signature = try signer.get().privateKey.signatureRS256(of: unsigned.signingInput)
        return String(decoding: spoil(unsigned.serialized(rs256: signature)), as: UTF8.self)
    }
}

/// The authenticator on a transport and a clock of the test.
private struct PushPlace {
    let clock = SettableClock()
    let transport: ScriptedTransport
    let metrics = Metrics()
    let authenticator: GooglePushAuthenticator

    /// `answer` is given how often the keys were asked for before.
    init(_ answer: @escaping @Sendable (Int) throws -> ScriptedTransport.Answer) throws {
        let clock = clock
        transport = ScriptedTransport { _, index in (try? answer(index)) ?? .failure(.cannotConnect) }
        let log = Log(level: .error, clock: clock.wallClock) { _ in }
        let gateway = StoreGateway(
            transport: transport,
            runtime: StoreRuntime(clock: clock.wallClock, random: ScriptedRandom(), metrics: metrics, log: log),
            pause: Pause { _ in },
            retries: RetryPolicy(attempts: 1)
        )
        let identity = GooglePushIdentity(
            audience: PushToken.audience,
            email: try #require(GoogleEmail(PushToken.email))
        )
        authenticator = GooglePushAuthenticator(
            expecting: identity,
            keys: GoogleSigningKeys(gateway: gateway, origin: GoogleOrigins.google.certs, log: log),
            clock: clock.wallClock
        )
    }

    /// Keys of Google's, good for ten minutes.
    init(_ keys: Result<PushKey, any Error>...) throws {
        let text = try keys.map { try $0.get().jwk }.joined(separator: ",")
        try self.init { _ in .keys(text, cacheControl: "public, max-age=600, must-revalidate") }
    }

    func fault(_ token: PushToken) async throws -> GooglePushFault? {
        try await fault("Bearer \(token.text())")
    }

    func fault(_ authorization: String...) async throws -> GooglePushFault? {
        var headers = HeaderFields()
        for value in authorization { headers.append("Authorization", value) }
        do throws(GooglePushFault) {
            try await authenticator.authenticate(headers)
            return nil
        } catch {
            return error
        }
    }
}

extension Result where Success == ClientResponse, Failure == ClientError {
    fileprivate static func keys(_ text: String, cacheControl: String? = nil, age: String? = nil) -> Self {
        var headers = HeaderFields()
        if let cacheControl { headers.append("Cache-Control", cacheControl) }
        if let age { headers.append("Age", age) }
        return .success(ClientResponse(status: 200, headers: headers, body: Array(#"{"keys":[\#(text)]}"#.utf8)))
    }
}

@Suite("Google Play: who pushes")
struct GooglePushTests {
    @Test
    func `believes a token of the account and for the audience that are set`() async throws {
        let place = try PushPlace(PushKey.two, PushKey.one)
        let token = PushToken(at: place.clock.now)
        #expect(try await place.fault(token) == nil)
        #expect(try await place.fault(token.with("iss", #""accounts.google.com""#)) == nil)
        #expect(try await place.fault("bearer \(token.text())") == nil)
        #expect(try await place.fault(token.header(#"{"kid":"one","alg":"RS256"}"#)) == nil)
        #expect(try await place.fault(token.header(#"{"kid":"two","alg":"RS256"}"#).signed(by: PushKey.two)) == nil)
        #expect(place.transport.targets == ["www.googleapis.com/oauth2/v3/certs"])
    }

    fileprivate struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let fault: GooglePushFault
        let change: @Sendable (PushToken, Timestamp) -> PushToken

        init(
            _ name: String,
            _ fault: GooglePushFault,
            _ change: @escaping @Sendable (PushToken, Timestamp) -> PushToken
        ) {
            testDescription = name
            self.fault = fault
            self.change = change
        }

        init(_ fault: GooglePushFault, header: String) {
            self.init(header, fault) { token, _ in token.header(header) }
        }

        init(_ name: String, _ fault: GooglePushFault, claim: String, _ json: String?) {
            self.init(name, fault) { token, _ in token.with(claim, json) }
        }
    }

    fileprivate static let headers = [
        Row(.token(.algorithmNone), header: #"{"alg":"none","kid":"one"}"#),
        Row(.token(.algorithmNone), header: #"{"alg":"NONE","kid":"one"}"#),
        Row(.token(.algorithmSymmetric), header: #"{"alg":"HS256","kid":"one"}"#),
        Row(.token(.algorithmNotAllowed), header: #"{"alg":"ES256","kid":"one"}"#),
        Row(.token(.algorithmNotAllowed), header: #"{"alg":"RS512","kid":"one"}"#),
        Row(.token(.algorithmNotAllowed), header: #"{"alg":"rs256","kid":"one"}"#),
        Row(.token(.algorithmNotAllowed), header: #"{"alg":"RS256 ","kid":"one"}"#),
        Row(.token(.algorithmNotAllowed), header: #"{"alg":["RS256"],"kid":"one"}"#),
        Row(.token(.algorithmMissing), header: #"{"kid":"one"}"#),
        Row(.token(.headerNotJSON), header: #"{"alg":"none","alg":"RS256","kid":"one"}"#),
        Row(.token(.headerNotJSON), header: #"["RS256"]"#),
        Row(.token(.headerNotJSON), header: #"{"alg":"RS256","kid":"one"} "# + "x"),
        Row(.token(.otherType), header: #"{"alg":"RS256","kid":"one","typ":"at+jwt"}"#),
        Row(.token(.forbiddenHeaderMember), header: #"{"alg":"RS256","kid":"one","crit":["x"]}"#),
        Row("a key of its own", .token(.signatureWrong)) { token, _ in
            let jwk = (try? PushKey.two.get().jwk) ?? ""
            return token.header(#"{"alg":"RS256","kid":"one","jwk":\#(jwk)}"#).signed(by: PushKey.two)
        },
        Row(.token(.keyIDUnfit), header: #"{"alg":"RS256"}"#),
        Row(.token(.keyIDUnfit), header: #"{"alg":"RS256","kid":""}"#),
        Row(.token(.keyIDUnfit), header: #"{"alg":"RS256","kid":1}"#),
        Row(.token(.keyUnknown), header: #"{"alg":"RS256","kid":"three"}"#),
        Row(.token(.keyUnknown), header: #"{"alg":"RS256","kid":"ONE"}"#),
    ]

    fileprivate static let claims = [
        Row("another issuer", .token(.issuerUnknown), claim: "iss", #""https://accounts.google.com.example""#),
        Row("an issuer over http", .token(.issuerUnknown), claim: "iss", #""http://accounts.google.com""#),
        Row("no issuer", .token(.claimMissing("iss")), claim: "iss", nil),
        Row("another audience", .token(.otherAudience), claim: "aud", #""https://offers.example.com""#),
        Row("an audience with a slash more", .token(.otherAudience), claim: "aud", "\"\(PushToken.audience)/\""),
        Row("an audience in capitals", .token(.otherAudience), claim: "aud", "\"\(PushToken.audience.uppercased())\""),
        Row("an audience that only looks so", .token(.otherAudience), claim: "aud", "\"\(PushToken.audience)\\u0301\""),
        Row("a list of other audiences", .token(.otherAudience), claim: "aud", #"["https://offers.example.com"]"#),
        Row("no audience", .token(.claimMissing("aud")), claim: "aud", nil),
        Row("another e-mail address", .otherEmail, claim: "email", #""push@evil.iam.gserviceaccount.com""#),
        Row("the address in capitals", .otherEmail, claim: "email", "\"\(PushToken.email.uppercased())\""),
        Row("no e-mail address", .otherEmail, claim: "email", nil),
        Row("an address that is not verified", .emailNotVerified, claim: "email_verified", "false"),
        Row("verified as text", .emailNotVerified, claim: "email_verified", #""true""#),
        Row("verified as number", .emailNotVerified, claim: "email_verified", "1"),
        Row("nothing about verified", .emailNotVerified, claim: "email_verified", nil),
        Row("no end", .token(.claimMissing("exp")), claim: "exp", nil),
        Row("an end as text", .token(.claimUnfit("exp")), claim: "exp", #""9999999999""#),
        Row("an end beyond all time", .token(.claimUnfit("exp")), claim: "exp", "9223372036854775807"),
        Row("a beginning before all time", .token(.claimUnfit("iat")), claim: "iat", "-1"),
        Row("no beginning", .token(.claimMissing("iat")), claim: "iat", nil),
        Row("null for a claim", .otherEmail, claim: "email", "null"),
        Row("ended a minute ago", .token(.expired)) {
            $0.with("exp", "\($1.seconds - 60)").with("iat", "\($1.seconds - 600)")
        },
        Row("begins in more than a minute", .token(.issuedInFuture)) { $0.with("iat", "\($1.seconds + 61)") },
        Row("not before more than a minute from now", .token(.notYetValid)) { $0.with("nbf", "\($1.seconds + 61)") },
        Row("lives too long", .token(.livesTooLong)) { $0.with("exp", "\($1.seconds + 3701)") },
        Row("has lived too long", .token(.livesTooLong)) { $0.with("iat", "\($1.seconds - 101)") },
    ]

    fileprivate static let signatures = [
        Row("another key's signature", .token(.signatureWrong)) { token, _ in token.signed(by: PushKey.two) },
        Row("another claim under the same signature", .token(.signatureWrong)) { token, _ in
            token.spoilt { text in
                let parts = text.split(separator: UInt8(ascii: ".")).map { Array($0) }
                let claims = Base64.decodeURL(parts[1]).map { String(decoding: $0, as: UTF8.self) } ?? ""
                let forged = Base64.encodeURL(Array(claims.replacing("\"sub\":\"1\"", with: "\"sub\":\"2\"").utf8))
                return Array([parts[0], forged, parts[2]].joined(separator: [UInt8(ascii: ".")]))
            }
        },
        Row("a signature cut off", .token(.signatureWrong)) { token, _ in token.spoilt { $0.dropLast(2) + [] } },
        Row("no signature", .token(.notThreeSegments)) { token, _ in
            token.spoilt { text in Array(text[...(text.lastIndex(of: UInt8(ascii: ".")) ?? 0)]) }
        },
        Row("two segments", .token(.notThreeSegments)) { token, _ in
            token.spoilt { text in Array(text[..<(text.lastIndex(of: UInt8(ascii: ".")) ?? 0)]) }
        },
        Row("four segments", .token(.notThreeSegments)) { token, _ in token.spoilt { $0 + Array(".e30".utf8) } },
        Row("padding", .token(.notBase64URL)) { token, _ in token.spoilt { $0 + Array("==".utf8) } },
        Row("a header with padding", .token(.notBase64URL)) { token, _ in token.spoilt { Array("=".utf8) + $0 } },
        Row("claims that are no object", .token(.payloadNotJSON)) { token, _ in
            var copy = token
            copy.claims = [("a\":1}, {\"b", "2")]
            return copy
        },
        Row("a claim twice", .token(.payloadNotJSON)) { token, _ in
            var copy = token
            copy.claims += [("aud", "\"\(PushToken.audience)\"")]
            return copy
        },
        Row("a very long token", .token(.tooLarge)) { token, _ in
            token.with("x", "\"\(String(repeating: "y", count: 8000))\"")
        },
    ]

    @Test(arguments: headers + claims + signatures)
    fileprivate func `refuses a token that is wrong in one thing, and says which`(row: Row) async throws {
        let place = try PushPlace(PushKey.one, PushKey.two)
        let token = PushToken(at: place.clock.now)
        #expect(try await place.fault(token) == nil)
        let fault = try await place.fault(row.change(token, place.clock.now))
        #expect(fault == row.fault)
        #expect(fault?.isTemporary == false)
    }

    @Test
    func `takes times that are a minute off, and a life of an hour and a little`() async throws {
        let place = try PushPlace(PushKey.one)
        let now = place.clock.now
        let token = PushToken(at: now)
        #expect(
            try await place.fault(token.with("exp", "\(now.seconds - 59)").with("iat", "\(now.seconds - 3659)")) == nil
        )
        #expect(
            try await place.fault(token.with("iat", "\(now.seconds + 60)").with("nbf", "\(now.seconds + 60)")) == nil
        )
        #expect(try await place.fault(token.with("iat", "\(now.seconds - 100)")) == nil)
    }

    @Test
    func `refuses requests without one bearer token`() async throws {
        let place = try PushPlace(PushKey.one)
        let token = try PushToken(at: place.clock.now).text()
        #expect(try await place.fault() == .authorizationMissing)
        #expect(try await place.fault("Bearer \(token)", "Bearer \(token)") == .authorizationRepeated)
        for wrong in ["", "Bearer", "Bearer ", "Bearer  \(token)", "Basic \(token)", token, "Bearer \(token) x"] {
            #expect(try await place.fault(wrong) == .notBearer, "\(wrong.prefix(20))")
        }
        #expect(place.transport.requests.isEmpty)
    }

    // MARK: - Keys

    @Test
    func `keeps the keys for as long as Google says, and then asks again`() async throws {
        let jwk = try PushKey.one.get().jwk
        for (cacheControl, age, milliseconds) in [
            ("public, max-age=600, must-revalidate", nil, 600_000), ("max-age=600", "500", 100_000),
            ("x=1,MAX-AGE=600", nil, 600_000), ("max-age=0", nil, 60_000), ("no-cache, max-age=600", nil, 60_000),
            ("max-age=604800", nil, 86_400_000), ("max-age=99999999999", nil, 3_600_000), (nil, nil, 3_600_000),
        ] as [(String?, String?, Int64)] {
            let place = try PushPlace { _ in .keys(jwk, cacheControl: cacheControl, age: age) }
            #expect(try await place.fault(PushToken(at: place.clock.now)) == nil)
            place.clock.advance(milliseconds: milliseconds - 1)
            #expect(try await place.fault(PushToken(at: place.clock.now)) == nil)
            #expect(place.transport.requests.count == 1, "\(cacheControl ?? "none")")
            place.clock.advance(milliseconds: 1)
            #expect(try await place.fault(PushToken(at: place.clock.now)) == nil)
            #expect(place.transport.requests.count == 2, "\(cacheControl ?? "none")")
        }
    }

    @Test
    func `finds a new key by asking once more, and not more than once a minute`() async throws {
        let (one, two) = (try PushKey.one.get().jwk, try PushKey.two.get().jwk)
        let place = try PushPlace { .keys($0 == 0 ? one : two, cacheControl: "max-age=6000") }
        func rotated() -> PushToken {
            PushToken(at: place.clock.now).header(#"{"alg":"RS256","kid":"two"}"#).signed(by: PushKey.two)
        }
        #expect(try await place.fault(PushToken(at: place.clock.now)) == nil)
        place.clock.advance(milliseconds: 59_999)
        #expect(try await place.fault(rotated()) == .token(.keyUnknown))
        #expect(place.transport.requests.count == 1)
        place.clock.advance(milliseconds: 1)
        #expect(try await place.fault(rotated()) == nil)
        #expect(place.transport.requests.count == 2)
        // The old one is withdrawn.
        #expect(try await place.fault(PushToken(at: place.clock.now)) == .token(.keyUnknown))
        for index in 0..<20 {
            place.clock.advance(milliseconds: 2999)
            let token = PushToken(at: place.clock.now).header(#"{"alg":"RS256","kid":"\#(index)"}"#)
            #expect(try await place.fault(token) == .token(.keyUnknown))
        }
        #expect(place.transport.requests.count == 2)
    }

    @Test
    func `says of a new key that it can't be known while Google does not answer`() async throws {
        let jwk = try PushKey.one.get().jwk
        let place = try PushPlace { $0 == 0 ? .keys(jwk, cacheControl: "max-age=6000") : .failure(.cannotConnect) }
        #expect(try await place.fault(PushToken(at: place.clock.now)) == nil)
        place.clock.advance(milliseconds: 60_000)
        let new = PushToken(at: place.clock.now).header(#"{"alg":"RS256","kid":"two"}"#).signed(by: PushKey.two)
        for _ in 0..<2 { #expect(try await place.fault(new) == .keysUnavailable) }
        #expect(place.transport.requests.count == 2)
        #expect(try await place.fault(PushToken(at: place.clock.now)) == nil)
        place.clock.advance(milliseconds: 5000)
        #expect(try await place.fault(new) == .keysUnavailable)
        #expect(place.transport.requests.count == 3)
    }

    @Test
    func `asks once for many requests at a time`() async throws {
        let place = try PushPlace(PushKey.one)
        let token = try PushToken(at: place.clock.now).text()
        var headers = HeaderFields()
        headers.append("Authorization", "Bearer \(token)")
        try await withThrowingTaskGroup(of: Void.self) { [headers] group in
            for _ in 0..<50 { group.addTask { try await place.authenticator.authenticate(headers) } }
            try await group.waitForAll()
        }
        #expect(place.transport.requests.count == 1)
    }

    @Test
    func `says that keys can't be had, and asks again only after a while`() async throws {
        let jwk = try PushKey.one.get().jwk
        let place = try PushPlace { index in
            switch index {
            case 0: .failure(.cannotConnect)
            case 1: .json("{}", status: 503)
            case 2: .json(#"{"keys":[]}"#)
            default: .keys(jwk)
            }
        }
        for index in 1...3 {
            #expect(try await place.fault(PushToken(at: place.clock.now)) == .keysUnavailable)
            #expect(try await place.fault(PushToken(at: place.clock.now)) == .keysUnavailable)
            #expect(place.transport.requests.count == index)
            place.clock.advance(milliseconds: 5000)
        }
        #expect(GooglePushFault.keysUnavailable.isTemporary)
        #expect(try await place.fault(PushToken(at: place.clock.now)) == nil)
    }

    @Test
    func `uses the last keys for a day while Google does not answer, and refuses no new one for good`() async throws {
        let jwk = try PushKey.one.get().jwk
        let place = try PushPlace { $0 == 0 ? .keys(jwk, cacheControl: "max-age=600") : .failure(.cannotConnect) }
        #expect(try await place.fault(PushToken(at: place.clock.now)) == nil)
        place.clock.advance(milliseconds: 86_399_999)
        #expect(try await place.fault(PushToken(at: place.clock.now)) == nil)
        let new = PushToken(at: place.clock.now).header(#"{"alg":"RS256","kid":"two"}"#).signed(by: PushKey.two)
        #expect(try await place.fault(new) == .keysUnavailable)
        place.clock.advance(milliseconds: 1)
        #expect(try await place.fault(PushToken(at: place.clock.now)) == .keysUnavailable)
    }

    @Test
    func `takes from a set of keys those that are fit, and none if one id comes twice`() throws {
        func ids(_ text: String) -> [String]? {
            (try? TokenKeySet(Array(text.utf8))).map { $0.keys.compactMap(\.id).sorted() }
        }
        let (one, two) = (try PushKey.one.get().jwk, try PushKey.two.get().jwk)
        #expect(ids(#"{"keys":[\#(one),\#(two)]}"#) == ["one", "two"])
        for unfit in [
            "1", "{}", one.replacing("RSA", with: "EC"), one.replacing(#""sig""#, with: #""enc""#),
            one.replacing("RS256", with: "RS512"), one.replacing("AQAB", with: "Aw"),
            one.replacing(#""one""#, with: "1"),
            one.replacing(#""n":""#, with: #""n":"AA"#), one.replacing(#""n":""#, with: #""n":"="#),
        ] {
            #expect(ids(#"{"keys":[\#(unfit),\#(two)]}"#) == ["two"], "\(unfit.prefix(60))")
            #expect(ids(#"{"keys":[\#(unfit)]}"#) == nil)
        }
        for broken in ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[\#(one),\#(one)]}"#] { #expect(ids(broken) == nil) }
    }
}
