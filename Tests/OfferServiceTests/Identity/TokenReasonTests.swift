// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain
import OfferService
import TestSupport
import Testing

/// The metric and the log's sentence show the operator why the service refuses a token.
struct TokenReasonTests {
    /// Sends a token, and expects it to be taken (`nil`) or to be refused for that reason, which the log explains.
    private static func expect(
        _ reason: String?,
        _ sentence: String = "",
        for token: String,
        _ name: String,
        at service: TestService
    ) async throws {
        let issuers = service.current.value.identity.all.map(\.policy.issuer) + ["unknown"]
        func counted(_ reason: String) -> Int {
            issuers.map { service.metrics[.tokensRefused(issuer: $0, reason: reason)] }.reduce(0, +)
        }
        let before = reason.map(counted) ?? 0
        let reply = try await service.send(.preview(token))
        guard let reason else {
            #expect(reply.status == 200, "\(name): \(reply) \(service.log.lines.suffix(2))")
            return
        }
        #expect(reply.status == 401 && reply.problem == "invalid-token", "\(name): \(reply)")
        #expect(counted(reason) == before + 1, "\(name): \(service.log.lines.suffix(2))")
        let line = service.log.lines.last { $0.contains("a user's token was refused") && $0.contains("\"\(reason)\"") }
        #expect(line?.contains(sentence) == true, "\(name): \(line ?? "no line")")
    }

    /// A token of that many bytes, or of one more, because base64url does not have every length.
    private static func token(
        ofAtLeast bytes: Int,
        _ token: UserToken,
        _ provider: FakeIdentityProvider
    ) throws -> String {
        let empty = try token.with("pad", "\"\"").text(provider)
        var text = empty
        var pad = (bytes - empty.utf8.count) * 3 / 4 - 2
        while text.utf8.count < bytes {
            text = try token.with("pad", "\"\(String(repeating: "p", count: pad))\"").text(provider)
            pad += 1
        }
        return text
    }

    @Test func `refuses what is no signed token`() async throws {
        let provider = try FakeIdentityProvider()
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            let user = UserToken(provider.issuer, at: service.clock.now)
            let good = try user.text(provider)
            let parts = good.split(separator: ".").map(String.init)
            let rows: [(name: String, reason: String?, sentence: String, token: String)] = [
                ("a good one", nil, "", good),
                ("8 KiB, or a byte less", nil, "", try Self.token(ofAtLeast: 8191, user, provider)),
                ("more than 8 KiB", "too-large", "8192 bytes", try Self.token(ofAtLeast: 8193, user, provider)),
                ("no dots", "not-three-segments", "three segments", "x"),
                ("two segments", "not-three-segments", "three segments", "\(parts[0]).\(parts[1])"),
                ("a segment more", "not-three-segments", "three segments", good + "."),
                ("a segment before", "not-three-segments", "three segments", "." + good),
                ("dots alone", "not-three-segments", "three segments", ".."),
                ("no header", "not-three-segments", "three segments", ".\(parts[1]).\(parts[2])"),
                ("no payload", "not-three-segments", "three segments", "\(parts[0])..\(parts[2])"),
                ("no signature", "not-three-segments", "three segments", "\(parts[0]).\(parts[1])."),
                ("five segments", "encrypted", "five segments", good + ".e30.e30"),
                ("padding", "not-base64url", "without padding", "\(parts[0])=.\(parts[1]).\(parts[2])"),
                ("padding at the end", "not-base64url", "without padding", good + "="),
                ("a space", "not-base64url", "without padding", "\(parts[0]). \(parts[1]).\(parts[2])"),
                ("a space at the end", "not-base64url", "without padding", good + " "),
            ]
            for row in rows {
                try await Self.expect(row.reason, row.sentence, for: row.token, row.name, at: service)
            }
        }
    }

    @Test func `refuses a token within a token`() async throws {
        let provider = try FakeIdentityProvider()
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            let user = UserToken(provider.issuer, at: service.clock.now)
            let good = try user.text(provider)
            try await Self.expect(nil, for: good, "the inner one alone", at: service)
            try await Self.expect(
                nil,
                for: try user.header("cty", #""JWT""#).text(provider),
                "a header that only names a nested token",
                at: service
            )
            for (name, payload) in [
                ("a token", good), ("a text with a token", "\"\(good)\""), ("an encrypted token", good + ".e30.e30"),
            ] {
                let nested = try provider.sign(
                    header: #"{"alg":"ES256","kid":"es1","typ":"at+jwt","cty":"JWT"}"#,
                    payload: payload
                )
                try await Self.expect("payload-not-json", "strict JSON object", for: nested, name, at: service)
            }
        }
    }

    @Test func `refuses a token without a claim that the provider's entry requires`() async throws {
        let provider = try FakeIdentityProvider()
        let members = #"requiredClaims: {tenant: "acme"}"#
        try await withService(.inProcess, .trusting(provider, members)) { service async throws in
            let user = UserToken(provider.issuer, at: service.clock.now)
            let rows: [(json: String?, reason: String?)] = [
                (#""acme""#, nil), (nil, "claim-missing"), (#""other""#, "claim-unfit"), (#""Acme""#, "claim-unfit"),
                (#"["acme"]"#, "claim-unfit"), (#"{"acme":"acme"}"#, "claim-unfit"), ("null", "claim-unfit"),
            ]
            for row in rows {
                let token = try user.with("tenant", row.json).text(provider)
                try await Self.expect(row.reason, "“tenant”", for: token, row.json ?? "none", at: service)
            }
        }
    }

    /// A key in the provider's set that has one fault, with which it would be good.
    @Test(arguments: [
        (#""d":"AAAA""#, "a private number"), (#""use":"enc""#, "use: enc"), (#""use":1"#, "use as a number"),
        (#""key_ops":["sign","encrypt"]"#, "key_ops without verify"), (#""key_ops":"verify""#, "key_ops as a text"),
        (#""alg":"RS256""#, "the algorithm of another kind"), (#""k":"AAAA""#, "a symmetric secret"),
    ])
    func `a key that is not for verifying tokens verifies none`(member: String, name: String) async throws {
        let provider = try FakeIdentityProvider()
        let key = try provider.deviceKey("es2").jwk.dropLast() + #","kid":"es2""#
        try provider.publish(["es1"], extra: "[\(key),\(member)}]")
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            let user = UserToken(provider.issuer, at: service.clock.now)
            try await Self.expect(nil, for: try user.text(provider), "the other key of the set", at: service)
            let token = try user.signed(by: "es2", "ES256").text(provider)
            try await Self.expect("key-unknown", "token's kid", for: token, name, at: service)
            try provider.publish(["es1"], extra: #"[\#(key),"use":"sig","key_ops":["verify"],"alg":"ES256"}]"#)
            service.clock.advance(seconds: 61)
            try await Self.expect(nil, for: token, "the same key without the fault", at: service)
        }
    }

    @Test func `takes no RSA key of more than 4096 bits`() async throws {
        let provider = try FakeIdentityProvider()
        try provider.publish(["es1", "rs-large", "rs-huge"])
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            let user = UserToken(provider.issuer, at: service.clock.now)
            let largest = try user.signed(by: "rs-large", "RS256").text(provider)
            try await Self.expect(nil, for: largest, "4096 bits", at: service)
            let token = try user.signed(by: "rs-huge", "RS256").text(provider)
            try await Self.expect("key-unknown", "token's kid", for: token, "4104 bits", at: service)
        }
    }
}
