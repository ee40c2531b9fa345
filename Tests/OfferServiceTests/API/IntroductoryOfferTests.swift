import Configuration
import Cryptography
import OfferDomain
import OfferService
import TestSupport
import Testing

// SPDX-License-Identifier: Apache-2.0
@testable import ServiceRuntime

extension TestFiles {
    /// Introductory offers of three kinds in one group, and a product without one.
    static var introductory: TestFiles {
        var files = TestFiles()
        files.offers = """
            {
              apps: [
                {
                  bundleId: "com.example.app",
                  plans: [
                    {
                      appStore: {productId: "pro.monthly", subscriptionGroupId: "20001"},
                      offers: [{id: "open", appStore: {offerId: "store_open"}}],
                      introductoryOffer: {id: "trial"},
                    },
                    {
                      appStore: {productId: "pro.yearly", subscriptionGroupId: "20001"},
                      introductoryOffer: {id: "later", eligibility: {window: {from: "2026-07-01T13:00:00Z"}}},
                    },
                    {
                      appStore: {productId: "pro.weekly", subscriptionGroupId: "20001"},
                      introductoryOffer: {
                        id: "again",
                        eligibility: {all: [{lapsed: {atLeastDays: 365}}, {grants: {atMost: 1}}]},
                      },
                    },
                    {
                      appStore: {productId: "pro.plain", subscriptionGroupId: "20001"},
                      offers: [{id: "plain", appStore: {offerId: "store_plain"}}],
                    },
                  ],
                },
                {
                  bundleId: "com.example.other",
                  plans: [{
                    appStore: {productId: "pro.monthly", subscriptionGroupId: "30001"},
                    introductoryOffer: {id: "trial"},
                  }],
                },
              ],
            }
            """
        return files
    }
}

extension TestService {
    /// A request for the introductory offer of a product; `members` are more of them, without braces.
    func introductoryCall(
        as caller: String = "backend",
        product: String = "pro.monthly",
        bundle: String = "com.example.app",
        _ members: String
    ) -> Call {
        var call = call(as: caller, #"{"bundleId": "\#(bundle)", "productId": "\#(product)", \#(members)}"#)
        call.path = "/v1/app-store/introductory-offers/signatures"
        return call
    }
}

/// What a backend states, and what is made of it.
private struct FactsRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let facts: String
    /// `nil` if it is undecided.
    let allows: Bool?
    let code: String

    init(_ description: String, _ facts: String, _ allows: Bool?, _ code: String) {
        testDescription = description
        self.facts = facts
        self.allows = allows
        self.code = code
    }
}

private let factsRows = [
    FactsRow("used nothing", #""offersUsed": []"#, true, "used-offers-within-limit"),
    FactsRow(
        "a trial in this group",
        #""offersUsed": [{"type": "introductory", "subscriptionGroupId": "20001"}]"#,
        false,
        "used-offers-over-limit"
    ),
    FactsRow(
        "a trial in another group",
        #""offersUsed": [{"type": "introductory", "subscriptionGroupId": "20002"}]"#,
        true,
        "used-offers-within-limit"
    ),
    FactsRow("a trial in no group", #""offersUsed": [{"type": "introductory"}]"#, nil, "used-offers-unknown"),
    FactsRow(
        "another offer in this group",
        #""offersUsed": [{"type": "promotional", "offerId": "x", "subscriptionGroupId": "20001"}]"#,
        true,
        "used-offers-within-limit"
    ),
    FactsRow("never subscribed, and nothing of offers", #""subscribedBefore": false"#, nil, "used-offers-unknown"),
]

private let id = #""transactionId": "2000000123456789""#
private let unused = #""facts": {"offersUsed": []}"#
private let used = #""facts": {"offersUsed": [{"type": "introductory", "subscriptionGroupId": "20001"}]}"#

@Suite(.overBothEngines) struct IntroductoryOfferTests {
    @Test(arguments: Wire.allCases)
    func `signs yes and no alike, and the JWS claims what the answer says`(wire: Wire) async throws {
        try await withService(wire, .introductory) { service in
            let key = try #require(service.publicKeys["active.p8"])
            for (facts, allows) in [(unused, true), (used, false)] {
                let token = #""appAccountToken": "7E3FB204-2A6B-4B2F-9A3C-1B2C3D4E5F60""#
                let reply = try await service.send(service.introductoryCall("\(id), \(token), \(facts)"))
                #expect(reply.status == 200, "\(reply)")
                #expect(reply.headers["cache-control"] == "no-store")
                let answer = SignedAnswer(reply)
                #expect(
                    answer.answer.names == [
                        "grantId", "keyIdentifier", "nonce", "timestamp", "allowIntroductoryOffer", "transactionId",
                        "appAccountToken", "jws", "decision",
                    ]
                )
                #expect(answer.answer["allowIntroductoryOffer"] == .boolean(allows))
                #expect(answer.answer["appAccountToken"] == .text("7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"))
                #expect(answer.answer["decision"]["outcome"] == .text(allows ? "eligible" : "notEligible"))
                #expect(answer.isJWSSigned(by: key))
                let milliseconds = try #require(answer.answer["timestamp"].integer)
                #expect(milliseconds == service.clock.now.milliseconds)
                #expect(
                    answer.jwsClaims
                        == .object([
                            "iss": .text(TestFiles.issuerID), "iat": .number(Double(milliseconds / 1000)),
                            "aud": .text("introductory-offer-eligibility"), "bid": .text("com.example.app"),
                            "nonce": answer.answer["nonce"], "productId": .text("pro.monthly"),
                            "allowIntroductoryOffer": .boolean(allows), "transactionId": .text("2000000123456789"),
                        ])
                )
                #expect(
                    answer.jwsHeader
                        == .object(["alg": .text("ES256"), "kid": .text("ACTIVE0001"), "typ": .text("JWT")])
                )
            }
        }
    }

    @Test func `signs what PyJWT verifies, in both answers`() async throws {
        try await withService(.inProcess, .introductory) { service in
            let key = try #require(service.publicKeys["active.p8"])
            let pem = try service.directory.write(Array(key.pem.utf8), to: "public.pem")
            for (facts, allows) in [(unused, "true"), (used, "false")] {
                let reply = try await service.send(service.introductoryCall("\(id), \(facts)"))
                let answer = try service.directory.write(Array(reply.body.utf8), to: "answer-\(allows)")
                let checker = Repository.path("Tests/EndToEndTests/Checkers/introductory_offer.py")
                func verdict(_ expected: String) async throws -> ProcessOutcome {
                    try await runProcess([
                        "/usr/bin/python3", "-B", checker, answer, pem, "com.example.app", "pro.monthly",
                        "2000000123456789", "ACTIVE0001", TestFiles.issuerID, expected,
                    ])
                }
                let good = try await verdict(allows)
                #expect(good.succeeded, "\(good)")
                let bad = try await verdict(allows == "true" ? "false" : "true")
                #expect(bad.end == .exited(1), "the checker can say no")
            }
        }
    }

    @Test(.overSQLite, arguments: factsRows)
    fileprivate func `decides by the subscription group on what a backend states`(row: FactsRow) async throws {
        try await withService(.inProcess, .introductory) { service in
            let reply = try await service.send(service.introductoryCall("\(id), \"facts\": {\(row.facts)}"))
            if let allows = row.allows {
                #expect(reply.status == 200, "\(reply)")
                #expect(reply.json["allowIntroductoryOffer"] == .boolean(allows))
            } else {
                #expect(reply.problem == "eligibility-undecided", "\(reply)")
                #expect(reply.json["jws"] == .null && reply.json["allowIntroductoryOffer"] == .null)
                #expect(try service.entries("sign.intent").isEmpty)
                #expect(try service.entries("sign.deny").map { $0["aud"].text } == ["introductory-offer-eligibility"])
            }
            let findings = reply.json["decision"]["findings"].elements
            #expect(findings.map { $0["rule"].text } == ["usedOffers"], "there is no floor for subscribers")
            #expect(findings.map { $0["code"].text } == [row.code])
        }
    }

    @Test(arguments: Wire.ofRun)
    func `lets a rule allow again, and counts what was allowed and not what was denied`(wire: Wire) async throws {
        try await withService(wire, .introductory) { service in
            func ask(_ expiresAt: String) async throws -> Reply {
                let facts =
                    #"{"status": "expired", "expiresAt": "\#(expiresAt)", "offersUsed": [{"type": "introductory", "subscriptionGroupId": "20001"}]}"#
                let members = #"\#(id), "customerId": "ada", "facts": \#(facts)"#
                return try await service.send(service.introductoryCall(product: "pro.weekly", members))
            }
            for _ in 0..<3 {
                let denied = try await ask("2026-06-01T00:00:00Z")
                #expect(denied.json["allowIntroductoryOffer"] == .boolean(false), "\(denied)")
            }
            let allowed = try await ask("2025-06-01T00:00:00Z")
            #expect(allowed.json["allowIntroductoryOffer"] == .boolean(true), "\(allowed)")
            let capped = try await ask("2025-06-01T00:00:00Z")
            #expect(capped.json["allowIntroductoryOffer"] == .boolean(false), "\(capped)")
            #expect(
                capped.json["decision"]["findings"].elements.map { $0["code"].text } == [
                    "lapsed", "grants-cap-reached",
                ]
            )
        }
    }

    @Test func `records one entry for each signature, with what was said and why`() async throws {
        try await withService(.inProcess, .introductory) { service in
            for facts in [unused, used] {
                let members = #"\#(id), "customerId": "ada", \#(facts)"#
                let reply = try await service.send(service.introductoryCall(members))
                let allows = reply.json["allowIntroductoryOffer"]
                let entries = try service.entries().map(Tree.init)
                let entry = try #require(entries.last)
                #expect(entry["ev"] == .text("sign.intent"))
                #expect(entry["fmt"] == .text("jws"))
                #expect(entry["aud"] == .text("introductory-offer-eligibility"))
                #expect(entry["allow"] == allows)
                #expect(entry["digest"].text == SignedAnswer(reply).jwsDigest?.hex)
                #expect(entry["rule"] == .text("trial") && entry["offer"] == .null)
                #expect(entry["grant"] == reply.json["grantId"] && entry["nonce"] == reply.json["nonce"])
                #expect(entry["users"].elements.count == 1)
                let why = entry["why"].elements.map { $0["code"].text }
                #expect(why == (allows == .boolean(true) ? [] : ["used-offers-over-limit"]))
            }
            let texts = try service.entries()
            #expect(texts.count == 2)
            #expect(try await Python.canonicalJSON(of: texts) == texts)
            #expect(!texts.joined().contains("2000000123456789"), "no transaction lies there in the clear")
        }
    }

    @Test(arguments: Wire.ofRun)
    func `gives a retry the answer of the first request, also where time would change it`(wire: Wire) async throws {
        try await withService(wire, .introductory) { service in
            let call = service.introductoryCall(product: "pro.yearly", id)
            let first = try await service.send(call.with("Idempotency-Key", "k"))
            #expect(first.json["allowIntroductoryOffer"] == .boolean(false), "\(first)")
            #expect(first.json["decision"]["nextEligibleAt"] == .text("2026-07-01T13:00:00Z"))
            service.clock.advance(hours: 3)
            let second = try await service.send(call.with("Idempotency-Key", "k"))
            for member in first.json.names.subtracting(["jws"]) {
                #expect(first.json[member] == second.json[member], "\(member)")
            }
            #expect(SignedAnswer(first).jwsClaims == SignedAnswer(second).jwsClaims)
            #expect(first.json["jws"] != second.json["jws"], "the same claims are signed again")
            let other = try await service.send(call.with("Idempotency-Key", "other"))
            #expect(other.json["allowIntroductoryOffer"] == .boolean(true), "\(other)")
            #expect(try service.entries("sign.intent").map { $0["allow"] } == [false, false, true].map(Tree.boolean))
            let reused = try await service.send(
                service.introductoryCall(product: "pro.yearly", "\(id), \(unused)").with("Idempotency-Key", "k")
            )
            #expect(reused.problem == "idempotency-key-reused", "\(reused)")
        }
    }

    @Test func `uses a key that is for this, and no other`() async throws {
        var files = TestFiles.introductory
        files.keys = files.keys.replacing(#", "introductory-offer-eligibility""#, with: "")
        try await withService(.inProcess, files) { service in
            let reply = try await service.send(service.introductoryCall("\(id), \(unused)"))
            #expect(reply.status == 503 && reply.problem == "key-unavailable", "\(reply)")
            #expect(reply.body.contains("introductory-offer-eligibility"))
            #expect(
                service.loaded.warnings.map(\.description).contains {
                    $0.contains("com.example.app and introductory-offer-eligibility; its introductory offers")
                }
            )
            #expect(try await service.sign(offer: "open").status == 200, "its other offers are signed all the same")
            let warnings = service.health.warnings(service.current.value)
            #expect(Set(warnings.map(\.name)) == ["key-unavailable"])
            #expect(
                Set(warnings.map(\.detail)) == [
                    "no key is active for com.example.app and introductory-offer-eligibility",
                    "no key is active for com.example.other and introductory-offer-eligibility",
                ]
            )
        }
    }
}
