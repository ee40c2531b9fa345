// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain
import OfferService
import Testing

/// What is signed, rebuilt from the answer by code that shares none with the service.
struct SignatureTests {
    private static let token = "7E3FB204-2A6B-4B2F-9A3C-1B2C3D4E5F60"

    @Test(arguments: Wire.allCases)
    func `signs the seven fields, with the token in lowercase whatever its letter case`(wire: Wire) async throws {
        try await withService(wire) { service in
            let key = try #require(service.publicKeys["active.p8"])
            for spelling in [Self.token, Self.token.lowercased(), "7e3FB204-2a6B-4b2F-9A3c-1b2C3d4e5f60"] {
                let reply = try await service.sign(offer: "store_open", #""appAccountToken": "\#(spelling)""#)
                #expect(reply.status == 200, "\(reply)")
                #expect(reply.json["appAccountToken"] == .text(Self.token.lowercased()))
                #expect(reply.json["applicationUsername"] == .null)
                #expect(SignedAnswer(reply, binding: Self.token.lowercased()).isV1Signed(by: key))
                #expect(!SignedAnswer(reply, binding: Self.token).isV1Signed(by: key), "the oracle sees letter case")
            }
        }
    }

    @Test(arguments: Wire.ofRun)
    func `signs a user name unchanged, and a missing user name as an empty field`(wire: Wire) async throws {
        try await withService(wire) { service in
            let key = try #require(service.publicKeys["active.p8"])
            let named = try await service.sign(offer: "store_open", #""applicationUsername": "Ada+Lovelace@Example""#)
            #expect(named.json["applicationUsername"] == .text("Ada+Lovelace@Example"))
            #expect(named.json["appAccountToken"] == .null)
            #expect(SignedAnswer(named, binding: "Ada+Lovelace@Example").isV1Signed(by: key))

            let nobody = try await service.sign(offer: "store_open")
            #expect(nobody.json["applicationUsername"] == .null && nobody.json["appAccountToken"] == .null)
            #expect(SignedAnswer(nobody).isV1Signed(by: key))
        }
    }

    @Test(arguments: Wire.ofRun)
    func `answers with grant, identifier, key, nonce, timestamp, expiry and decision`(wire: Wire) async throws {
        try await withService(wire) { service in
            let reply = try await service.sign(offer: "store_open")
            #expect(reply.headers["content-type"] == "application/json")
            #expect(reply.headers["cache-control"] == "no-store")
            let answer = reply.json
            #expect(
                answer.names == [
                    "grantId", "identifier", "keyIdentifier", "nonce", "timestamp", "signature", "expiresAt",
                    "decision",
                ]
            )
            #expect(answer["identifier"] == .text("store_open"))
            #expect(answer["keyIdentifier"] == .text("ACTIVE0001"))
            #expect(answer["timestamp"].integer == 1_782_907_200_123)
            #expect(answer["expiresAt"] == .text("2026-07-02T12:00:00.123Z"))
            #expect(answer["decision"]["outcome"] == .text("eligible"))
            #expect(answer["decision"]["policy"] == .text(service.loaded.catalog.policyName))
            #expect(answer["decision"]["findings"][0]["rule"] == .text("appStoreFloor"))
            let nonce = try #require(answer["nonce"].text)
            let version4 = #/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/#
            #expect(nonce.wholeMatch(of: version4) != nil)
            let grant = try #require(answer["grantId"].text.flatMap { UniqueID($0) })
            #expect(grant.timestamp == service.clock.now)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `claims in the JWS exactly what Apple documents`(wire: Wire) async throws {
        try await withService(wire) { service in
            let key = try #require(service.publicKeys["active.p8"])
            let reply = try await service.sign(
                offer: "store_open",
                #""formats": ["jws"], "transactionId": "2000000123456789""#
            )
            let signed = SignedAnswer(reply)
            #expect(reply.json["signature"] == .null, "only what was asked for is signed")
            #expect(signed.isJWSSigned(by: key))
            let header: [String: Tree] = ["alg": .text("ES256"), "kid": .text("ACTIVE0001"), "typ": .text("JWT")]
            #expect(signed.jwsHeader == .object(header))
            let claims: [String: Tree] = [
                "iss": .text(TestFiles.issuerID), "iat": .number(1_782_907_200), "aud": .text("promotional-offer"),
                "bid": .text("com.example.app"), "nonce": reply.json["nonce"], "productId": .text("pro.monthly"),
                "offerIdentifier": .text("store_open"), "transactionId": .text("2000000123456789"),
            ]
            #expect(signed.jwsClaims == .object(claims))

            let without = try await service.sign(offer: "store_open", #""formats": ["jws"]"#)
            #expect(SignedAnswer(without).jwsClaims.names == Set(claims.keys).subtracting(["transactionId"]))
            #expect(SignedAnswer(without).isJWSSigned(by: key))
        }
    }

    @Test(
        arguments: Wire.ofRun,
        [["v1"], ["jws"], ["v1", "jws"], ["jws", "v1"]]
    )
    func `gives the forms that were asked for, of one nonce, each on record`(
        wire: Wire,
        formats: [String]
    ) async throws {
        try await withService(wire) { service in
            let key = try #require(service.publicKeys["active.p8"])
            let list = formats.map { #""\#($0)""# }.joined(separator: ", ")
            let reply = try await service.sign(offer: "store_open", #""formats": [\#(list)]"#)
            let signed = SignedAnswer(reply)
            #expect(signed.isV1Signed(by: key) == formats.contains("v1"))
            #expect(signed.isJWSSigned(by: key) == formats.contains("jws"))
            if formats.contains("jws") { #expect(signed.jwsClaims["nonce"] == reply.json["nonce"]) }
            let entries = try service.entries("sign.intent")
            #expect(Set(entries.map { $0["fmt"].text }) == Set(formats))
            #expect(entries.count == formats.count)
            #expect(entries.allSatisfy { $0["grant"] == reply.json["grantId"] && $0["nonce"] == reply.json["nonce"] })
        }
    }

    @Test(arguments: Wire.ofRun)
    func `finds an offer by the catalog's own id and signs the store's`(wire: Wire) async throws {
        try await withService(wire) { service in
            let key = try #require(service.publicKeys["active.p8"])
            let reply = try await service.sign(offer: "spaced")
            #expect(reply.json["identifier"] == .text("pay_as_you_go.3 months"))
            #expect(SignedAnswer(reply).isV1Signed(by: key))
            let same = try await service.sign(offer: "pay_as_you_go.3 months")
            #expect(same.json["identifier"] == reply.json["identifier"])
        }
    }

    @Test(arguments: Wire.ofRun)
    func `signs for each app with that app's key`(wire: Wire) async throws {
        try await withService(wire) { service in
            let body = offerBody("store_open").replacing("com.example.app", with: "com.example.other")
            let reply = try await service.send(service.call(body))
            var signed = SignedAnswer(reply)
            signed.bundleID = "com.example.other"
            #expect(signed.isV1Signed(by: try #require(service.publicKeys["other.p8"])))
            #expect(!signed.isV1Signed(by: try #require(service.publicKeys["active.p8"])))
        }
    }

    @Test func `takes nonces from the random source, two words for each`() async throws {
        let random = ScriptedRandom()
        try await withService(random: random) { service in
            let nonces = Set(
                try await [service.sign(offer: "open"), service.sign(offer: "open")].map { $0.json["nonce"].text }
            )
            // The first two are of the nonce for proofs of possession.
            #expect(nonces == random.version4(at: [4, 8]))
        }
    }

    @Test func `makes another nonce, grant and signature for each request`() async throws {
        try await withService { service in
            let replies = try await service.send((0..<50).map { _ in service.call(offer: "open") })
            for member in ["nonce", "grantId", "signature"] {
                #expect(Set(replies.map { $0.json[member].text }).count == 50, "\(member)")
            }
        }
    }
}
