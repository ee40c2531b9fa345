// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import TestSupport
import Testing

/// Rules about what Google says of an app and its device.
@Suite(.overBothEngines) struct PlayVerdictRuleTests {
    private static let lesser: FakeValue = ["MEETS_BASIC_INTEGRITY", "MEETS_DEVICE_INTEGRITY"]
    private static let strong: FakeValue = ["MEETS_DEVICE_INTEGRITY", "MEETS_STRONG_INTEGRITY"]

    private static let offers = [
        (id: "strong", rule: #"{deviceIntegrity: {atLeast: "strong"}}"#), (id: "licensed", rule: "{appLicensed: true}"),
    ]

    /// The offer, what Google says, and the problem with its finding; none if the offer is granted.
    static let rows: [(offer: String, change: @Sendable (inout PlayVerdict) -> Void, problem: [String?])] = [
        ("strong", { $0.device = strong }, [nil]),
        ("strong", { $0.device = lesser }, ["not-eligible", "device-integrity-lower"]),
        ("licensed", { $0.license = "LICENSED" }, [nil]),
        ("licensed", { $0.license = "UNLICENSED" }, ["not-eligible", "app-not-licensed"]),
        ("licensed", { $0.license = "UNEVALUATED" }, ["eligibility-undecided", "app-license-unknown"]),
        ("licensed", { $0.license = .null }, ["eligibility-undecided", "app-license-unknown"]),
        ("licensed", { $0.license = "LICENSED_SOMEHOW" }, ["eligibility-undecided", "app-license-unknown"]),
        ("from-play", { _ in }, [nil]),
    ]

    @Test(arguments: Wire.ofRun) func `a rule is decided on the verdicts of the request's own token`(
        wire: Wire
    ) async throws {
        try await withPlayIntegrity(wire, policy: "prefer", settings: Self.telling, moreOffers: Self.offers) {
            world async throws in
            for row in Self.rows {
                let reply = try await world.service.send(world.proven(world.appCall(row.offer), changing: row.change))
                #expect(reply.problem == row.problem[0], "\(row.offer): \(reply)")
                if row.problem.count > 1, let code = row.problem[1] { #expect(reply.body.contains(code), "\(reply)") }
            }
            for (offer, code) in [("strong", "device-integrity-unknown"), ("licensed", "app-license-unknown")] {
                let without = try await world.service.send(world.appCall(offer))
                #expect(without.problem == "eligibility-undecided" && without.body.contains(code), "\(without)")
            }
        }
    }

    private static let telling: [Setting: String] = [.appRatePerAddress: "none", .appFindings: "yes"]

    @Test func `while Google is silent, an offer whose rule asks for a verdict waits`() async throws {
        try await withPlayIntegrity(.inProcess, policy: "prefer", moreOffers: Self.offers) { world async throws in
            #expect(try await world.service.send(world.authorizationCall(#""customerId": "anna""#)).status == 200)
            try world.play.misbehave(.error(.backendError), at: .integrity)
            let reply = try await world.service.send(world.proven(world.appCall("strong")))
            #expect(reply.status == 503 && reply.problem == "store-unavailable", "\(reply)")
        }
    }

    @Test func `a backend may state them, and an app may not`() async throws {
        try await withPlayIntegrity(.inProcess, policy: "prefer", moreOffers: Self.offers) { world async throws in
            for (offer, facts, status) in [
                ("strong", #""deviceIntegrity": "strong""#, 200), ("strong", #""deviceIntegrity": "basic""#, 403),
                ("strong", #""deviceIntegrity": "MEETS_STRONG_INTEGRITY""#, 400),
                ("licensed", #""appLicensed": true"#, 200),
                ("licensed", #""appLicensed": false"#, 403), ("licensed", #""appLicensed": "LICENSED""#, 400),
            ] {
                let members = #""customerId": "anna", "facts": {\#(facts)}"#
                let reply = try await world.service.send(world.authorizationCall(members, offer: offer))
                #expect(reply.status == status, "\(facts): \(reply)")
            }
            let app = world.authorizationCall(
                as: "app",
                #""anonymousId": "phone", "facts": {"deviceIntegrity": "strong"}"#,
                offer: "strong"
            )
            #expect(try await world.service.send(app).problem == "assertion-not-allowed")
        }
    }
}
