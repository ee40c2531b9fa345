// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

/// Which tokens of an identity provider the service accepts; the response does not say why it refuses one.
struct UserTokenTests {
    /// A change to a good token, and the reason in the metrics that it is refused for; `nil` where it is as good.
    struct Row: Sendable {
        let name: String
        let reason: String?
        let change: @Sendable (UserToken, Timestamp) -> UserToken

        init(_ name: String, _ reason: String?, _ change: @escaping @Sendable (UserToken, Timestamp) -> UserToken) {
            (self.name, self.reason, self.change) = (name, reason, change)
        }
    }

    static let rows: [Row] = [
        Row("a good one", nil) { token, _ in token },
        Row("RS256", nil) { token, _ in token.signed(by: "rs1", "RS256") },
        Row("PS256", nil) { token, _ in token.signed(by: "ps1", "PS256", form: "PS256") },
        Row("EdDSA", nil) { token, _ in token.signed(by: "ed1", "EdDSA") },
        Row("no kid, one key of the kind", nil) { token, _ in token.header("kid", nil) },
        Row("typ in capitals and in full", nil) { token, _ in token.header("typ", #""APPLICATION/AT+JWT""#) },
        Row("a list of audiences", nil) { token, _ in token.with("aud", #"["other","offer-signer"]"#) },
        Row("scp as an array", nil) { token, _ in token.with("scope", nil).with("scp", #"["offers:sign"]"#) },
        Row("times with fractions", nil) { token, now in token.with("iat", "\(now.seconds).25") },
        Row("a key of its own, which is passed over", nil) { token, _ in
            token.header("jwk", #"{"kty":"oct"}"#).header("jku", #""http://127.0.0.1:9/""#).header("x5u", #""""#)
        },
        Row("expired within the skew", nil) { token, now in
            token.with("exp", "\(now.seconds - 59)").with("iat", "\(now.seconds - 600)")
        },
        Row("issued within the skew", nil) { token, now in token.with("iat", "\(now.seconds + 60)") },

        Row("no algorithm", "algorithm-missing") { token, _ in token.header("alg", nil) },
        Row("alg none", "algorithm-none") { token, _ in token.signed(by: "es1", "none", form: "none") },
        Row("alg nOnE with a signature", "algorithm-none") { token, _ in token.header("alg", #""nOnE""#) },
        Row("HS256 with the public key", "algorithm-symmetric") { token, _ in
            token.signed(by: "rs1", "HS256", form: "HS256")
        },
        Row("an unknown algorithm", "algorithm-not-allowed") { token, _ in token.header("alg", #""ES256K""#)
        },
        Row("alg as a list", "algorithm-not-allowed") { token, _ in token.header("alg", #"["ES256"]"#) },
        Row("RS256 in the header, signed with EC", "key-unknown") { token, _ in token.header("alg", #""RS256""#) },
        Row("a kid of another kind of key", "key-unknown") { token, _ in token.header("kid", #""rs1""#) },
        Row("crit", "forbidden-header-member") { token, _ in token.header("crit", #"["b64"]"#).header("b64", "false") },
        Row("crit, empty", "forbidden-header-member") { token, _ in token.header("crit", "[]") },
        Row("enc", "forbidden-header-member") { token, _ in token.header("enc", #""A256GCM""#) },
        Row("alg twice", "header-not-json") { token, _ in
            var token = token
            token.header.append(("alg", #""ES256""#))
            return token
        },
        Row("a long kid", "key-id-unfit") { token, _ in
            token.header("kid", "\"\(String(repeating: "k", count: 257))\"")
        },
        Row("kid as a number", "key-id-unfit") { token, _ in token.header("kid", "1") },
        Row("a kid that is a path", "key-unknown") { token, _ in token.header("kid", #""../../dev/null""#) },
        Row("a kid that is SQL", "key-unknown") { token, _ in token.header("kid", #""' OR 1=1 --""#) },
        Row("no typ", "other-type") { token, _ in token.header("typ", nil) },
        Row("typ JWT", "other-type") { token, _ in token.header("typ", #""JWT""#) },
        Row("a DPoP proof's typ", "other-type") { token, _ in token.header("typ", #""dpop+jwt""#) },
        Row("another key of the same id", "signature-wrong") { token, _ in
            var token = token
            token.key = "es2"
            return token
        },
        Row("ECDSA with r and s zero", "signature-wrong") { token, _ in token.signed(by: "es1", "ES256", form: "zero")
        },
        Row("ECDSA in DER", "signature-wrong") { token, _ in token.signed(by: "es1", "ES256", form: "DER") },
        Row("PS256 with a short salt", "signature-wrong") { token, _ in
            token.signed(by: "ps1", "PS256", form: "PS256-short-salt")
        },
        Row("PKCS1 under PS256", "signature-wrong") { token, _ in token.signed(by: "ps1", "PS256", form: "RS256") },
        Row("RSA of 1024 bits", "key-unknown") { token, _ in token.signed(by: "rs-small", "RS256") },
        Row("P-384", "key-unknown") { token, _ in token.signed(by: "es384", "ES256") },
        Row("no issuer", "claim-missing") { token, _ in token.with("iss", nil) },
        Row("another issuer", "issuer-unknown") { token, _ in token.with("iss", #""https://other.example""#) },
        Row("a slash at the issuer's end", "issuer-unknown") { token, _ in
            token.with("iss", (token.claims.first { $0.name == "iss" }?.json.dropLast()).map { "\($0)/\"" })
        },
        Row("no subject", "claim-missing") { token, _ in token.with("sub", nil) },
        Row("an empty subject", "claim-unfit") { token, _ in token.with("sub", "\"\"") },
        Row("a subject of 256 bytes", "claim-unfit") { token, _ in
            token.with("sub", "\"\(String(repeating: "s", count: 256))\"")
        },
        Row("a subject with a space, which no customer id has", "claim-unfit") { token, _ in
            token.with("sub", #""an na""#)
        },
        Row("a subject as a number", "claim-unfit") { token, _ in token.with("sub", "42") },
        Row("sub twice", "payload-not-json") { token, _ in
            var token = token
            token.claims.append(("sub", #""eve""#))
            return token
        },
        Row("nested too deep", "payload-not-json") { token, _ in token.with("deep", "[[[[[[[[[1]]]]]]]]]") },
        Row("no exp", "claim-missing") { token, _ in token.with("exp", nil) },
        Row("exp as text", "claim-unfit") { token, now in token.with("exp", "\"\(now.seconds + 60)\"") },
        Row("exp with an exponent", "claim-unfit") { token, _ in token.with("exp", "1e11") },
        Row("exp below zero", "claim-unfit") { token, _ in token.with("exp", "-1") },
        Row("expired", "expired") { token, now in
            token.with("exp", "\(now.seconds - 60)").with("iat", "\(now.seconds - 600)")
        },
        Row("no iat", "claim-missing") { token, _ in token.with("iat", nil) },
        Row("issued in the future", "issued-in-future") { token, now in token.with("iat", "\(now.seconds + 62)") },
        Row("not yet valid", "not-yet-valid") { token, now in token.with("nbf", "\(now.seconds + 62)") },
        Row("nbf as text", "claim-unfit") { token, now in token.with("nbf", "\"\(now.seconds)\"") },
        Row("valid for too long", "lives-too-long") { token, now in token.with("exp", "\(now.seconds + 3601)") },
        Row("no audience", "claim-missing") { token, _ in token.with("aud", nil) },
        Row("another audience", "other-audience") { token, _ in token.with("aud", #""other""#) },
        Row("an audience that ours is the start of", "other-audience") { token, _ in
            token.with("aud", #""offer-signer-2""#)
        },
        Row("no audiences", "other-audience") { token, _ in token.with("aud", "[]") },
        Row("audiences that are no texts", "claim-unfit") { token, _ in token.with("aud", #"["offer-signer",1]"#) },
        Row("no scope", "scope-missing") { token, _ in token.with("scope", nil) },
        Row("a scope that ours is a part of", "scope-missing") { token, _ in token.with("scope", #""offers:signs""#) },
        Row("bound to a key", "bound-to-key") { token, _ in token.with("cnf", #"{"jkt":"x"}"#) },
        Row("bound to a certificate", "bound-to-certificate") { token, _ in
            token.with("cnf", ##"{"x5t#S256":"\##(String(repeating: "A", count: 43))"}"##)
        },
        Row("bound to a certificate in another form", "bound-otherwise") { token, _ in
            token.with("cnf", ##"{"x5t#S256":"x"}"##)
        },
        Row("bound to a key and a certificate", "bound-otherwise") { token, _ in
            token.with("cnf", ##"{"jkt":"x","x5t#S256":"\##(String(repeating: "A", count: 43))"}"##)
        },
        Row("bound in an unknown way", "bound-otherwise") { token, _ in token.with("cnf", "true") },
    ]

    @Test func `takes a good token, and refuses each fault without a reason that the caller sees`() async throws {
        let provider = try FakeIdentityProvider()
        try provider.publish(["es1", "rs1", "ps1", "ed1", "rs-small", "es384"])
        let files = TestFiles.trusting(
            provider,
            #"requiredScope: "offers:sign", algorithms: ["ES256", "RS256", "PS256", "EdDSA"]"#
        )
        try await withService(.inProcess, files) { service async throws in
            for row in Self.rows {
                let token = row.change(UserToken(provider.issuer, at: service.clock.now), service.clock.now)
                let isEarly = row.name == "no issuer" || row.reason.map(Self.formFaults.contains) == true
                let issuer = isEarly ? "unknown" : provider.issuer
                let counted = row.reason.map { Metric.tokensRefused(issuer: issuer, reason: $0) }
                let before = counted.map { service.metrics[$0] } ?? 0
                let reply = try await service.send(.preview(try token.text(provider)))
                guard let counted else {
                    #expect(reply.status == 200, "\(row.name): \(reply)")
                    continue
                }
                #expect(service.metrics[counted] == before + 1, "\(row.name): \(reply)")
                Self.expectRefused(reply, row)
            }
            let log = service.log.lines.joined()
            let digest = String(repeating: "A", count: 43)
            for said in ["OR 1=1", "dev/null", "https://other.example", "an na", digest] {
                #expect(!log.contains(said), "the log repeats “\(said)” of a token that is not verified")
            }
        }
    }

    /// Faults that the service finds before it knows the token's issuer.
    private static let formFaults: Set<String> = [
        "algorithm-missing", "algorithm-none", "algorithm-not-allowed", "algorithm-symmetric",
        "forbidden-header-member", "header-not-json", "key-id-unfit", "payload-not-json", "issuer-unknown",
    ]

    private static func expectRefused(_ reply: Reply, _ row: Row) {
        let (status, problem, error) =
            row.reason == "scope-missing"
            ? (403, "insufficient-scope", "insufficient_scope") : (401, "invalid-token", "invalid_token")
        #expect(reply.status == status && reply.problem == problem, "\(row.name): \(reply)")
        let challenge =
            row.reason == "bound-to-key"
            ? #"DPoP error="invalid_token", algs="ES256""# : #"Bearer realm="offer-signer", error="\#(error)""#
        #expect(reply.headers["www-authenticate"] == challenge, "\(row.name)")
        #expect(row.reason.map { !reply.body.contains($0) } == true, "\(row.name)")
    }

    @Test func `only the algorithms of the provider's entry count`() async throws {
        let provider = try FakeIdentityProvider()
        try provider.publish(["es1", "rs1"])
        try await withService(.inProcess, .trusting(provider, #"algorithms: ["ES256"]"#)) { service async throws in
            let token = UserToken(provider.issuer, at: service.clock.now)
            #expect(try await service.send(.preview(try token.text(provider))).status == 200)
            let other = try token.signed(by: "rs1", "RS256").text(provider)
            #expect(try await service.send(.preview(other)).status == 401)
            let counted = Metric.tokensRefused(issuer: provider.issuer, reason: "algorithm-not-allowed")
            #expect(service.metrics[counted] == 1)
        }
    }

    @Test func `takes one credential, which is a token or an API key`() async throws {
        let provider = try FakeIdentityProvider()
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            let good = try UserToken(provider.issuer, at: service.clock.now).text(provider)
            #expect(try await service.send(.preview(good)).status == 200)
            let twice = Call.preview(good).with("Authorization", "Bearer \(good)")
            #expect(try await service.send(twice).problem == "unauthenticated")
            let key = try #require(service.credentials["backend"])
            #expect(try await service.send(.preview(key)).status == 200, "API keys are taken beside tokens")
            let other = String(key.dropLast()) + (key.hasSuffix("A") ? "E" : "A")
            #expect(try await service.send(.preview(other)).problem == "unauthenticated")
        }
    }

    @Test func `a token reads no records, and cannot seal, disable or enable`() async throws {
        let provider = try FakeIdentityProvider()
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            let good = try UserToken(provider.issuer, at: service.clock.now).text(provider)
            for path in ["/v1/audit/entries", "/v1/keys", "/v1/seal", "/v1/audit/summary"] {
                let reply = try await service.send(Call.get(path).with("Authorization", "Bearer \(good)"))
                #expect(reply.status == 401, "\(path): \(reply)")
            }
            let log = service.log.lines.joined()
            #expect(!log.contains(good.suffix(60)), "no log line repeats a token")
        }
    }
}
