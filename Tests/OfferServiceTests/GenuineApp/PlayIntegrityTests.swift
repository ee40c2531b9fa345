// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

/// How an app at Google Play proves itself.
@Suite(.overBothEngines) struct PlayIntegrityTests {
    @Test(arguments: Wire.allCases)
    func `an app that has to prove itself gets an offer with a token and not without, and it is on record`(
        wire: Wire
    ) async throws {
        try await withPlayIntegrity(wire) { world async throws in
            #expect(try await world.service.send(world.appCall()).problem == "genuine-app-required")
            let reply = try await world.service.send(world.proven(world.appCall()))
            #expect(reply.status == 200, "\(reply)")
            #expect(try await world.service.send(world.authorizationCall(#""customerId": "anna""#)).status == 200)
            #expect(try await world.service.send(world.appCall("free")).status == 200, "its own policy")
            let entries = try world.service.entries("authorize.intent").map { $0["genuine"] }
            #expect(entries.count == 3 && entries[1] == .null && entries[2] == .null, "\(entries)")
            #expect(entries[0]["by"].text == "play-integrity" && entries[0]["device"].text == "device")
            #expect(entries[0]["licensed"] == .boolean(true) && entries[0]["origin"].text == "playStore")
            let asked = try #require(try world.play.requests().first { $0.endpoint == "integrity" })
            #expect(asked.target == "/v1/com.example.app:decodeIntegrityToken")
            #expect(asked.body.hasPrefix(#"{"integrity_token":"token.of-"#))
            #expect(world.checks("accepted") == 1 && world.checks("absent") == 1)
        }
    }

    /// What Google says of a token that would be good otherwise, and why it is not.
    static let wrong: [(name: String, label: String, change: @Sendable (inout PlayVerdict) -> Void)] = [
        ("a token of another app", "other-app", { $0.requestPackage = "com.example.other" }),
        ("a token of no app", "other-app", { $0.requestPackage = .null }),
        ("another request", "other-request", { $0.requestHash = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }),
        ("no request", "other-request", { $0.requestHash = .null }),
        ("another app is installed", "other-app", { $0.package = "com.example.other" }),
        ("a build that Google Play does not know", "unrecognized", { $0.recognition = "UNRECOGNIZED_VERSION" }),
        ("nothing evaluated", "unevaluated", { $0.recognition = "UNEVALUATED" }),
        ("an unknown verdict", "unrecognized", { $0.recognition = "PLAY_ADORED" }),
        ("no verdict", "unrecognized", { $0.recognition = .null }),
        ("a lesser device", "device", { $0.device = ["MEETS_BASIC_INTEGRITY"] }),
        ("an emulator", "device", { $0.device = ["MEETS_VIRTUAL_INTEGRITY"] }),
        ("an unknown device", "device", { $0.device = ["MEETS_LUNAR_INTEGRITY"] }),
        ("no device", "device", { $0.device = [] }),
        ("a device that is not said", "device", { $0.device = .null }),
    ]

    @Test(arguments: Wire.ofRun) func `refuses a token that proves less`(wire: Wire) async throws {
        try await withPlayIntegrity(wire) { world async throws in
            for row in Self.wrong {
                let before = world.checks(row.label)
                let reply = try await world.service.send(world.proven(world.appCall(), changing: row.change))
                #expect(reply.status == 403 && reply.problem == "genuine-app-refused", "\(row.name): \(reply)")
                #expect(!reply.body.contains(row.label), "the reason is for the log")
                #expect(world.checks(row.label) == before + 1, "\(row.name)")
                #expect(try await world.service.send(world.proven(world.appCall())).status == 200, "\(row.name)")
            }
        }
    }

    @Test func `a token counts for five minutes, and may be a minute ahead`() async throws {
        try await withPlayIntegrity(.inProcess) { world async throws in
            let now = world.service.clock.now.milliseconds
            for (age, isGood): (Int64, Bool) in [
                (300_000, true), (300_001, false), (-60_000, true), (-60_001, false), (86_400_000, false),
            ] {
                let call = try world.proven(world.appCall()) { $0.requestedAt = .text("\(now - age)") }
                let reply = try await world.service.send(call)
                #expect(reply.problem == (isGood ? nil : "genuine-app-refused"), "\(age): \(reply)")
            }
            let asNumber = try world.proven(world.appCall()) { $0.requestedAt = .integer(Int(now)) }
            #expect(try await world.service.send(asNumber).status == 200)
            #expect(world.checks("time") == 3)
        }
    }

    /// Changes to a good request after its token was asked for, and the reason that it is refused for.
    static let changes: [(name: String, label: String, change: @Sendable (Call) -> Call)] = [
        (
            "another body", "other-request",
            { call in
                var call = call
                call.body = Array(String(decoding: call.body, as: UTF8.self).replacing("phone", with: "other").utf8)
                return call
            }
        ),
        ("another nonce", "other-request", { $0.changing("Play-Integrity-Nonce") { _ in "abcdefghijklmnop" } }),
        ("no nonce", "headers", { $0.changing("Play-Integrity-Nonce") { _ in nil } }),
        ("a short nonce", "headers", { $0.changing("Play-Integrity-Nonce") { _ in "abcdefghijklmno" } }),
        ("a long nonce", "headers", { $0.changing("Play-Integrity-Nonce") { _ in Self.text(65) } }),
        ("a nonce of other bytes", "headers", { $0.changing("Play-Integrity-Nonce") { "\($0)=" } }),
        ("two nonces", "headers", { $0.with("Play-Integrity-Nonce", "abcdefghijklmnop") }),
        ("no token", "headers", { $0.changing("Play-Integrity-Token") { _ in nil } }),
        ("an empty token", "headers", { $0.changing("Play-Integrity-Token") { _ in "" } }),
        ("two tokens", "headers", { $0.with("Play-Integrity-Token", "token.of") }),
        ("a quote in the token", "headers", { $0.changing("Play-Integrity-Token") { _ in "to\"ken" } }),
        (
            "a long token", "headers",
            { $0.changing("Play-Integrity-Token") { _ in Self.text(6145) } }
        ),
        ("a made-up token", "token", { $0.changing("Play-Integrity-Token") { "\($0)x" } }),
    ]

    private static func text(_ count: Int) -> String { String(repeating: "a", count: count) }

    @Test(arguments: Wire.ofRun) func `refuses a token of another request`(wire: Wire) async throws {
        try await withPlayIntegrity(wire) { world async throws in
            for row in Self.changes {
                let (good, before) = (try world.proven(world.appCall()), world.checks(row.label))
                let reply = try await world.service.send(row.change(good))
                #expect(reply.status == 403 && reply.problem == "genuine-app-refused", "\(row.name): \(reply)")
                #expect(world.checks(row.label) == before + 1, "\(row.name)")
                #expect(try await world.service.send(good).status == 200, "\(row.name): it was not used up")
            }
            // What was signed for another call is of no use here.
            var elsewhere = world.appCall()
            elsewhere.path = "/v1/eligibility"
            var call = try world.proven(elsewhere)
            call.path = world.appCall().path
            #expect(try await world.service.send(call).problem == "genuine-app-refused")
        }
    }

    @Test(arguments: Wire.allCases) func `a request with a token counts once`(wire: Wire) async throws {
        try await withPlayIntegrity(wire) { world async throws in
            let call = try world.proven(world.appCall())
            let replies = try await world.service.send([call, call, call, call])
            #expect(replies.count { $0.status == 200 } == 1, "\(replies)")
            #expect(replies.count { $0.problem == "genuine-app-refused" } == 3)
            #expect(world.checks("spent") == 3)
            let asked = try world.play.counts().requests(to: .integrity)
            #expect(try await world.service.send(call).problem == "genuine-app-refused")
            #expect(try world.play.counts().requests(to: .integrity) == asked, "Google is not asked again")
            // Another token for the same request and nonce repeats it, and one with a new nonce does not.
            let nonce = try #require(call.fields.last?.value)
            let again = try world.proven(world.appCall(), nonce: nonce)
            #expect(try await world.service.send(again).problem == "genuine-app-refused")
            #expect(try await world.service.send(world.proven(world.appCall())).status == 200)
        }
    }

    @Test func `a token that Google has decoded before proves nothing`() async throws {
        try await withPlayIntegrity(.inProcess) { world async throws in
            let call = try world.proven(world.appCall(), goodFor: 0)
            #expect(try await world.service.send(call).problem == "genuine-app-refused")
            #expect(world.checks("unevaluated") == 1)
        }
    }

    @Test func `the settings say which device, license and certificates are enough`() async throws {
        let strict = """
            requestsPerDay: 100000000, deviceIntegrity: "strong", licensed: true, otherCertificates: ["\
            \(PlayVerdict.fingerprint)"]
            """
        try await withPlayIntegrity(.inProcess, strict) { world async throws in
            let strong: FakeValue = ["MEETS_STRONG_INTEGRITY"]
            func send(_ change: (inout PlayVerdict) -> Void) async throws -> String? {
                try await world.service.send(world.proven(world.appCall(), changing: change)).problem
            }
            #expect(try await send { _ in } == "genuine-app-refused")
            #expect(try await send { $0.device = strong } == nil)
            for license: FakeValue in ["UNLICENSED", "UNEVALUATED", .null] {
                let problem = try await send { verdict in (verdict.device, verdict.license) = (strong, license) }
                #expect(problem == "genuine-app-refused")
            }
            let own = try await send { ($0.device, $0.recognition) = (strong, "UNRECOGNIZED_VERSION") }
            #expect(own == nil, "a build outside of Google Play, under a certificate of the team's")
            let other = try await send { verdict in
                (verdict.device, verdict.recognition, verdict.certificates) = (strong, "UNRECOGNIZED_VERSION", ["AAAA"])
            }
            #expect(other == "genuine-app-refused")
            let entries = try world.service.entries("authorize.intent").map(\.["genuine"]["origin"].text)
            #expect(entries == ["playStore", "other"])
        }
        try await withPlayIntegrity(.inProcess, #"deviceIntegrity: "basic""#) { world async throws in
            let call = try world.proven(world.appCall()) { verdict in
                (verdict.device, verdict.license) = (["MEETS_BASIC_INTEGRITY"], "UNLICENSED")
            }
            #expect(try await world.service.send(call).status == 200)
            let genuine = try #require(try world.service.entries("authorize.intent").last)["genuine"]
            #expect(genuine["device"].text == "basic" && genuine["licensed"] == .boolean(false))
        }
    }

    @Test func `a rule asks where the app is from, and a preview says what a proof changes`() async throws {
        let settings = #"requestsPerDay: 100000000, otherCertificates: ["\#(PlayVerdict.fingerprint)"]"#
        try await withPlayIntegrity(.inProcess, policy: "prefer", settings) { world async throws in
            let asked = world.eligibilityCall(as: "app", #""packageName": "com.example.app", "anonymousId": "phone""#)
            func offerPreviews(_ call: Call) async throws -> [String] {
                let reply = try await world.service.send(call)
                return reply.json["offers"].elements.map { offer in
                    "\(offer["id"].text ?? "") \(offer["outcome"].text ?? "") \(offer["obstacle"].text ?? "-")"
                }
            }
            #expect(
                try await offerPreviews(asked) == [
                    "back eligible -", "must eligible genuine-app-required", "free eligible -", "from_play undecided -",
                ]
            )
            #expect(
                try await offerPreviews(world.proven(asked)) == [
                    "back eligible -", "must eligible -", "free eligible -", "from_play eligible -",
                ]
            )
            #expect(try await world.service.send(world.appCall("from-play")).problem == "eligibility-undecided")
            #expect(try await world.service.send(world.proven(world.appCall("from-play"))).status == 200)
            let other = try world.proven(world.appCall("from-play")) { $0.recognition = "UNRECOGNIZED_VERSION" }
            #expect(try await world.service.send(other).problem == "not-eligible")
            let denied = try #require(try world.service.entries("authorize.deny").last)
            #expect(denied["genuine"]["origin"].text == "other", "\(denied)")
        }
    }

    @Test func `where proofs are off, none is looked at`() async throws {
        let offers = """
            {apps: [{packageName: "com.example.app", playIntegrity: {policy: "off"}, plans: [{
              googlePlay: {productId: "premium", basePlanId: "monthly"}, offers: [{id: "back",
                admitsUnprovenCustomers: true, googlePlay: {offerId: "winback-50", admitsNewCustomers: true}}]}]}]}
            """
        try await withFakePlay(.inProcess, offers: offers) { world async throws in
            let call = world.appCall().with("Play-Integrity-Token", "\"")
            #expect(try await world.service.send(call).status == 200)
            #expect(try world.play.counts().requests(to: .integrity) == 0)
        }
    }
}
