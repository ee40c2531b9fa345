// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import OfferService
import TestSupport
import Testing

/// DPoP: a token that is bound to a key is good only with a fresh proof for this very request.
struct ProofOfPossessionTests {
    /// A proof, with parts to be set wrong.
    struct Proof: Sendable {
        var header: UserToken.Members
        var claims: UserToken.Members
        var key = "es-device"
        var form = ""

        init(_ key: FakeIdentityProvider.DeviceKey, for token: String, at now: Timestamp) {
            header = [("typ", #""dpop+jwt""#), ("alg", #""ES256""#), ("jwk", key.jwk)]
            let hash = String(decoding: Base64.encodeURL(SHA256.digest(of: Array(token.utf8)).bytes), as: UTF8.self)
            claims = [
                ("jti", #""1""#), ("htm", #""POST""#), ("htu", #""https://offers.example.com/v1/eligibility""#),
                ("iat", "\(now.seconds)"), ("ath", "\"\(hash)\""),
            ]
        }

        func with(_ name: String, _ json: String?) -> Proof {
            var copy = self
            copy.claims = claims.filter { $0.name != name } + (json.map { [(name, $0)] } ?? [])
            return copy
        }

        func header(_ name: String, _ json: String?) -> Proof {
            var copy = self
            copy.header = header.filter { $0.name != name } + (json.map { [(name, $0)] } ?? [])
            return copy
        }

        func text(_ provider: FakeIdentityProvider) throws -> String {
            try provider.sign(key: key, header: object(header), payload: object(claims), form: form)
        }

        private func object(_ members: UserToken.Members) -> String {
            "{" + members.map { "\"\($0.name)\":\($0.json)" }.joined(separator: ",") + "}"
        }
    }

    /// What a test can use: a bound token, and proofs for it.
    struct Place {
        let service: TestService
        let provider: FakeIdentityProvider
        let key: FakeIdentityProvider.DeviceKey
        let token: String
        let proof: Proof

        func ask(_ proof: Proof, scheme: String = "DPoP", path: String = "/v1/eligibility") async throws -> Reply {
            try await ask([try proof.text(provider)], scheme: scheme, path: path)
        }

        func ask(_ proofs: [String], scheme: String = "DPoP", path: String = "/v1/eligibility") async throws -> Reply {
            var call = Call.preview("").at(path)
            call.fields = [("Content-Type", "application/json"), ("Authorization", "\(scheme) \(token)")]
            for proof in proofs { call = call.with("DPoP", proof) }
            return try await service.send(call)
        }
    }

    private func withPlace(
        _ dpop: String = "required",
        isBound: Bool = true,
        _ body: (Place) async throws -> Void
    ) async throws {
        let provider = try FakeIdentityProvider()
        let key = try provider.deviceKey("es-device")
        let members = #"dpop: "\#(dpop)", publicOrigin: "https://offers.example.com""#
        try await withService(.inProcess, .trusting(provider, members)) { service async throws in
            let token = try UserToken(provider.issuer, at: service.clock.now)
                .with("cnf", isBound ? #"{"jkt":"\#(key.thumbprint)"}"# : nil).text(provider)
            let proof = Proof(key, for: token, at: service.clock.now)
            try await body(
                Place(service: service, provider: provider, key: key, token: token, proof: proof)
            )
        }
    }

    @Test(arguments: ["required", "accepted", "off"])
    func `takes a bound token with its proof, once, and never without`(dpop: String) async throws {
        try await withPlace(dpop) { place async throws in
            #expect(try await place.ask(place.proof).status == 200)
            let again = try await place.ask(place.proof)
            #expect(again.status == 401 && again.problem == "invalid-token", "\(again)")
            #expect(again.headers["www-authenticate"] == #"DPoP error="invalid_dpop_proof", algs="ES256""#)
            #expect(try await place.ask(place.proof.with("jti", #""2""#)).status == 200)
            let unbound = try await place.ask([], scheme: "Bearer")
            #expect(unbound.status == 401, "\(unbound)")
            let downgraded = try await place.ask(place.proof.with("jti", #""3""#), scheme: "Bearer")
            #expect(downgraded.status == 401, "a proof does not make a bearer token of it")
            #expect(try await place.ask([]).status == 401)
            let two = try place.proof.with("jti", #""4""#).text(place.provider)
            #expect(try await place.ask([two, two]).status == 401)
            let thief = try place.provider.deviceKey("es-thief")
            var stolen = Proof(thief, for: place.token, at: place.service.clock.now).with("jti", #""5""#)
            stolen.key = "es-thief"
            #expect(try await place.ask(stolen).status == 401, "a good proof of another key than the token's")
            let counted = Metric.tokensRefused(issuer: place.provider.issuer, reason: "proof-other-key")
            #expect(place.service.metrics[counted] == 1)
        }
    }

    @Test(arguments: [("required", 401), ("accepted", 200), ("off", 200)])
    func `a token that is bound to no key is taken as a bearer token unless a proof is required`(
        dpop: String,
        status: Int
    ) async throws {
        try await withPlace(dpop, isBound: false) { place async throws in
            #expect(try await place.ask([], scheme: "Bearer").status == status)
            #expect(try await place.ask(place.proof).status == 401, "a proof of a key that the token does not name")
            let idle = try await place.ask(place.proof.with("jti", #""2""#), scheme: "Bearer")
            #expect(idle.status == (dpop == "off" ? 200 : 401), "only where proofs are off, none is looked at")
        }
    }

    /// A change to a good proof, and the reason in the metrics that it is refused for; `nil` where it is as good.
    struct Row: Sendable {
        let name: String
        let reason: String?
        let change: @Sendable (Proof, Timestamp) -> Proof

        init(_ name: String, _ reason: String?, _ change: @escaping @Sendable (Proof, Timestamp) -> Proof) {
            (self.name, self.reason, self.change) = (name, reason, change)
        }
    }

    static let rows: [Row] = [
        Row("the host in capitals, the port of the scheme, and a query", nil) { proof, _ in
            proof.with("htu", #""HTTPS://Offers.Example.com:443/v1/eligibility?a=b#c""#)
        },
        Row("a clock that is 59 s behind", nil) { proof, now in proof.with("iat", "\(now.seconds - 59)") },
        Row("another type", "proof-other-type") { proof, _ in proof.header("typ", #""at+jwt""#) },
        Row("no type", "proof-other-type") { proof, _ in proof.header("typ", nil) },
        Row("alg none", "proof-algorithm") { proof, _ in
            var proof = proof.header("alg", #""none""#)
            proof.form = "none"
            return proof
        },
        Row("another algorithm", "proof-algorithm") { proof, _ in proof.header("alg", #""RS256""#) },
        Row("no key", "proof-key-unfit") { proof, _ in proof.header("jwk", nil) },
        Row("a key with its private half", "proof-key-unfit") { proof, _ in
            let key = proof.header.first { $0.name == "jwk" }?.json ?? ""
            return proof.header("jwk", key.replacing("{", with: #"{"d":"AAAA","#))
        },
        Row("a point that is not on the curve", "proof-key-unfit") { proof, _ in
            let zeros = String(repeating: "A", count: 43)
            return proof.header("jwk", #"{"kty":"EC","crv":"P-256","x":"\#(zeros)","y":"\#(zeros)"}"#)
        },
        Row("signed with another key", "proof-signature-wrong") { proof, _ in
            var proof = proof
            proof.key = "es-other"
            return proof
        },
        Row("no jti", "proof-claim-missing") { proof, _ in proof.with("jti", nil) },
        Row("a long jti", "proof-claim-unfit") { proof, _ in
            proof.with("jti", "\"\(String(repeating: "j", count: 129))\"")
        },
        Row("another method", "proof-other-method") { proof, _ in proof.with("htm", #""GET""#) },
        Row("another path", "proof-other-url") { proof, _ in
            proof.with("htu", #""https://offers.example.com/v1/transactions""#)
        },
        Row("another host", "proof-other-url") { proof, _ in
            proof.with("htu", #""https://offers.example.net/v1/eligibility""#)
        },
        Row("another scheme", "proof-other-url") { proof, _ in
            proof.with("htu", #""http://offers.example.com/v1/eligibility""#)
        },
        Row("no iat", "proof-claim-missing") { proof, _ in proof.with("iat", nil) },
        Row("made in the future", "proof-stale") { proof, now in proof.with("iat", "\(now.seconds + 62)") },
        Row("made before the service's start", "proof-stale") { proof, now in proof.with("iat", "\(now.seconds - 62)")
        },
        Row("no ath", "proof-claim-missing") { proof, _ in proof.with("ath", nil) },
        Row("for another token", "proof-other-token") { proof, _ in proof.with("ath", #""AAAA""#) },
        Row("a nonce that was not given", "proof-nonce-unknown") { proof, _ in proof.with("nonce", #""AAAA""#) },
    ]

    @Test func `refuses each fault of a proof`() async throws {
        try await withPlace { place async throws in
            place.service.clock.advance(seconds: 60)
            let now = place.service.clock.now
            for (number, row) in Self.rows.enumerated() {
                let fresh = place.proof.with("iat", "\(now.seconds)").with("jti", "\"row-\(number)\"")
                let counted = row.reason.map { Metric.tokensRefused(issuer: place.provider.issuer, reason: $0) }
                let before = counted.map { place.service.metrics[$0] } ?? 0
                let reply = try await place.ask(row.change(fresh, now))
                #expect(reply.status == (counted == nil ? 200 : 401), "\(row.name): \(reply)")
                if let counted { #expect(place.service.metrics[counted] == before + 1, "\(row.name)") }
            }
        }
    }

    @Test func `a nonce of the service makes up for a wrong clock, for five to ten minutes`() async throws {
        try await withPlace { place async throws in
            let wrong = place.proof.with("iat", "1000")
            let first = try await place.ask(wrong)
            #expect(first.headers["www-authenticate"] == #"DPoP error="use_dpop_nonce", algs="ES256""#, "\(first)")
            let nonce = try #require(first.headers["dpop-nonce"])
            let proof = wrong.with("nonce", "\"\(nonce)\"")
            #expect(try await place.ask(proof).status == 200)
            #expect(try await place.ask(proof).status == 401, "it counts once")
            place.service.clock.advance(seconds: 301)
            #expect(try await place.ask(proof.with("jti", #""2""#)).status == 200)
            #expect(try await place.ask(proof).status == 401, "and not again while the nonce is good")
            place.service.clock.advance(seconds: 300)
            let late = try await place.ask(proof.with("jti", #""3""#))
            #expect(late.status == 401 && late.headers["dpop-nonce"] != nonce, "\(late)")
        }
    }
}
