// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

/// That a preset takes the tokens that its kind of provider issues for services, and not those for others.
struct PresetTests {
    /// A provider's token as its documentation shows it, and changes that make it another's.
    struct Row: Sendable, CustomTestStringConvertible {
        let preset: String
        /// More members of the entry.
        var members = #"audience: "offer-signer""#
        let make: @Sendable (UserToken) -> UserToken
        /// Who the customer is, where the entry does not say it.
        var customer = "anna"
        /// What must be refused.
        let wrong: [@Sendable (UserToken) -> UserToken]

        var testDescription: String { preset }
    }

    static let rows: [Row] = [
        Row(
            preset: "auth0",
            make: { token in
                token.header("typ", #""JWT""#).with("aud", #"["offer-signer","https://x.auth0.com/userinfo"]"#)
                    .with("azp", #""mobile""#).with("client_id", nil).with("gty", #""password""#)
            },
            wrong: [
                // An ID token: the client is the audience.
                { $0.with("azp", #""offer-signer""#) }, { $0.with("nonce", #""n""#) }, { $0.with("at_hash", #""h""#) },
            ]
        ),
        Row(
            preset: "cognito",
            members: #"audience: "1example23456789""#,
            make: { token in
                token.header("typ", nil).with("aud", nil).with("client_id", #""1example23456789""#)
                    .with("token_use", #""access""#)
            },
            wrong: [
                { $0.with("token_use", #""id""#) }, { $0.with("token_use", nil) },
                { $0.with("client_id", #""other""#) },
                { $0.with("client_id", nil).with("aud", #""1example23456789""#) },
            ]
        ),
        Row(
            preset: "entra",
            make: { token in
                token.header("typ", #""JWT""#).with("ver", #""2.0""#).with("scope", nil).with("scp", #""Offers.Sign""#)
                    .with("azp", #""offer-signer""#).with("oid", #""00000000-0000-0000-0000-000000000001""#)
            },
            customer: "00000000-0000-0000-0000-000000000001",
            wrong: [
                { $0.with("ver", #""1.0""#) }, { $0.with("scp", nil) }, { $0.with("ver", "2.0") },
                { $0.with("oid", nil) },
            ]
        ),
        Row(
            preset: "firebase",
            make: { token in
                token.header("typ", #""JWT""#).with("scope", nil).with("client_id", nil)
                    .with("firebase", #"{"sign_in_provider":"google.com"}"#).with("nonce", #""n""#)
            },
            wrong: [
                { $0.header("typ", #""at+jwt""#) }, { $0.with("aud", #""other-project""#) },
                // Anyone can have any number of anonymous accounts.
                { $0.with("firebase", #"{"sign_in_provider":"anonymous"}"#) }, { $0.with("firebase", nil) },
            ]
        ),
        Row(
            preset: "keycloak",
            make: { token in
                token.header("typ", #""JWT""#).with("typ", #""Bearer""#).with("azp", #""offer-signer""#)
                    .with("nonce", #""n""#)
            },
            wrong: [
                { $0.with("typ", #""ID""#) }, { $0.with("typ", #""Refresh""#) }, { $0.with("typ", nil) },
                { $0.with("at_hash", #""h""#) },
            ]
        ),
        Row(
            preset: "okta",
            make: { token in
                token.header("typ", nil).with("ver", "1").with("scope", nil).with("scp", #"["openid"]"#)
                    .with("client_id", nil).with("cid", #""0oa1""#).with("uid", #""00u1""#)
                    .with("sub", #""anna@example.com""#)
            },
            customer: "00u1",
            wrong: [
                { $0.with("nonce", #""n""#) }, { $0.header("typ", #""logout+jwt""#) },
                // A machine's token, and one of the organization's own server, which is for Okta alone.
                { $0.with("uid", nil).with("sub", #""0oa1""#) },
                { $0.header("typ", #""application/okta-internal-at+jwt""#) },
            ]
        ),
        Row(
            preset: "signInWithApple",
            members: "",
            make: { token in
                token.header("typ", nil).with("aud", #""com.example.app""#).with("scope", nil).with("client_id", nil)
                    .with("nonce", #""n""#).with("nonce_supported", "true").with("auth_time", "1")
            },
            wrong: [{ $0.with("aud", #""com.example.third""#) }, { $0.with("aud", #""offer-signer""#) }]
        ),
    ]

    @Test(arguments: rows) func `takes the tokens that such a provider issues for this service`(row: Row) async throws {
        let provider = try FakeIdentityProvider()
        try provider.publish(["rs1"])
        var files = TestFiles()
        let entry = """
            {preset: "\(row.preset)", issuer: "\(provider.issuer)", jwksUri: "\(provider.issuer)/jwks",
             bundleIds: ["com.example.app", "com.example.other"], \(row.members)}
            """
        files.keys = files.keys.replacing("customerIds:", with: "identityProviders: [\(entry)], customerIds:")
        try await withService(.inProcess, files) { service async throws in
            let good = row.make(UserToken(provider.issuer, at: service.clock.now).signed(by: "rs1", "RS256"))
            let reply = try await service.send(.preview(try good.text(provider)))
            #expect(reply.status == 200, "\(reply) \(service.log.lines.suffix(5))")
            for (name, status) in [(row.customer, 200), ("other", 403)] {
                let members = #""bundleId": "com.example.app", "customerId": "\#(name)""#
                let named = try await service.send(.preview(try good.text(provider), members))
                #expect(named.status == status, "\(name): \(named)")
            }
            for change in row.wrong {
                let token = change(good)
                let refused = try await service.send(.preview(try token.text(provider)))
                #expect(refused.status == 401 || refused.problem == "insufficient-scope", "\(token.claims): \(refused)")
            }
            guard row.preset == "signInWithApple" else { return }
            let other = Call.preview(try good.text(provider), #""bundleId": "com.example.other""#)
            #expect(try await service.send(other).problem == "bundle-not-allowed", "its audience is the other app")
        }
    }

    @Test func `an entry without a preset takes access tokens of RFC 9068 alone`() async throws {
        let provider = try FakeIdentityProvider()
        try await withService(.inProcess, .trusting(provider, type: "any")) { service async throws in
            let token = UserToken(provider.issuer, at: service.clock.now)
            for (type, status) in [("JWT", 200), ("at+jwt", 200), ("dpop+jwt", 401), ("logout+jwt", 401)] {
                let text = try token.header("typ", "\"\(type)\"").text(provider)
                #expect(try await service.send(.preview(text)).status == status, "\(type)")
            }
            #expect(try await service.send(.preview(try token.header("typ", nil).text(provider))).status == 200)
            let own = try token.with("client_id", #""offer-signer""#).text(provider)
            #expect(try await service.send(.preview(own)).status == 401)
        }
    }
}
