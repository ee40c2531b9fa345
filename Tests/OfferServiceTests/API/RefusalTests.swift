// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import Testing

/// What the catalog, the rules and the roles refuse.
struct RefusalTests {
    @Test(
        arguments: Wire.ofRun,
        [
            ("com.example.missing", "pro.monthly", "open", "/bundleId"),
            ("com.example.app", "pro.weekly", "open", "/productId"),
            ("com.example.app", "pro.monthly", "yearly", "/offerId"),
            ("com.example.app", "pro.yearly", "open", "/offerId"),
            ("com.example.app", "pro.monthly", "Open", "/offerId"),
            ("com.example.App", "pro.monthly", "open", "/bundleId"),
            ("com.example.other", "pro.monthly", "lapsed", "/offerId"),
        ]
    )
    func `knows no offer outside the catalog`(
        wire: Wire,
        names: (bundle: String, product: String, offer: String, pointer: String)
    ) async throws {
        try await withService(wire) { service in
            let reply = try await service.send(
                service.call(
                    """
                    {"bundleId": "\(names.bundle)", "productId": "\(names.product)", "offerId": "\(names.offer)",
                     "facts": {"subscribedBefore": true}}
                    """
                )
            )
            #expect(reply.status == 404)
            #expect(reply.problem == "unknown-offer", "\(reply)")
            #expect(reply.pointers == [names.pointer])
            #expect(reply.body.contains("did you mean “open”?") == (names.offer == "Open"), "\(reply)")
            #expect(try service.entries().isEmpty)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `tells a backend every finding of a refusal, and records it`(wire: Wire) async throws {
        try await withService(wire) { service in
            let body = offerBody("lapsed").replacing(
                #"{"subscribedBefore": true}"#,
                with: #"{"status": "expired", "expiresAt": "2026-06-11T12:00:00Z"}"#
            )
            let reply = try await service.send(service.call(body))
            #expect(reply.status == 403)
            #expect(reply.problem == "not-eligible", "\(reply)")
            let decision = reply.json["decision"]
            #expect(decision["outcome"] == .text("notEligible"))
            #expect(decision["policy"] == .text(service.loaded.catalog.policyName))
            #expect(decision["findings"].elements.map(\.["rule"].text) == ["appStoreFloor", "lapsed"])
            #expect(decision["findings"][0]["answer"] == .text("met"))
            #expect(decision["findings"][1]["answer"] == .text("notMet"))
            #expect(decision["findings"][1]["code"] == .text("lapsed-too-short"))
            #expect(decision["findings"][1]["because"] == .text("lapsed 20 days ago, 30 needed"))
            #expect(decision["nextEligibleAt"] == .text("2026-07-11T12:00:00Z"))

            let entry = try #require(try service.entries("sign.deny").first)
            #expect(entry["outcome"] == .text("notEligible"))
            #expect(entry["rid"].text.map { "urn:uuid:\($0)" } == reply.json["instance"].text)
            #expect(entry["why"].elements.map(\.["code"].text) == ["lapsed-too-short"])
            #expect(try service.entries("sign.intent").isEmpty)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `says when too little is known, which is no refusal by a rule`(wire: Wire) async throws {
        try await withService(wire) { service in
            let body = offerBody("lapsed").replacing(#"{"subscribedBefore": true}"#, with: #"{"status": "expired"}"#)
            let reply = try await service.send(service.call(body))
            #expect(reply.status == 403)
            #expect(reply.problem == "eligibility-undecided", "\(reply)")
            #expect(reply.json["decision"]["outcome"] == .text("undecided"))
            #expect(reply.json["decision"]["findings"][1]["code"] == .text("lapse-expiry-unknown"))
            #expect(try service.entries("sign.deny").map(\.["outcome"].text) == ["undecided"])
        }
    }

    @Test(arguments: Wire.ofRun)
    func `holds to Apple's floor whatever the rule says`(wire: Wire) async throws {
        try await withService(wire) { service in
            let never = offerBody("open").replacing("true", with: "false")
            let reply = try await service.send(service.call(never))
            #expect(reply.problem == "not-eligible", "\(reply)")
            #expect(reply.json["decision"]["findings"][0]["code"] == .text("never-subscribed"))

            let unknown = offerBody("open").replacing(#""subscribedBefore": true"#, with: "")
            #expect(try await service.send(service.call(unknown)).problem == "eligibility-undecided")
        }
    }

    @Test(arguments: Wire.ofRun)
    func `hides findings from an app unless the configuration shows them`(wire: Wire) async throws {
        let body = #"{"bundleId": "com.example.app", "productId": "pro.monthly", "offerId": "open"}"#
        for shows in [false, true] {
            var files = TestFiles()
            files.showsFindingsToApps = shows
            try await withService(wire, files) { service in
                let reply = try await service.send(service.call(as: "app", body))
                #expect(reply.problem == "eligibility-undecided", "\(reply)")
                #expect((reply.json["decision"]["findings"] != .null) == shows)
                let ofBackend = try await service.send(service.call(as: "backend", body))
                #expect(ofBackend.json["decision"]["findings"] != .null)
            }
        }
    }

    @Test(
        arguments: Wire.ofRun,
        [
            (#""facts": {"subscribedBefore": true}"#, "/facts"),
            (#""attributes": {}"#, "/attributes"),
            (#""customerId": "ada""#, "/customerId"),
        ]
    )
    func `believes nothing that an app states of a customer`(
        wire: Wire,
        statement: (member: String, pointer: String)
    ) async throws {
        try await withService(wire) { service in
            let start = #"{"bundleId": "com.example.app", "productId": "pro.monthly", "offerId": "open", "#
            let body = start + statement.member + "}"
            let reply = try await service.send(service.call(as: "app", body))
            #expect(reply.status == 403)
            #expect(reply.problem == "assertion-not-allowed", "\(reply)")
            #expect(reply.pointers == [statement.pointer])
            #expect(try await service.send(service.call(as: "backend", body)).problem != "assertion-not-allowed")
        }
    }

    @Test(arguments: Wire.ofRun, ["auditor", "admin"])
    func `signs nothing for roles that only look or administer`(wire: Wire, caller: String) async throws {
        try await withService(wire) { service in
            let paths = [
                "app-store/promotional-offers/signatures", "app-store/promotional-offers/signatures/batch",
                "app-store/introductory-offers/signatures", "transactions", "google-play/offers/authorizations",
                "eligibility",
            ]
            // Whatever they send.
            for body in [offerBody("open"), "{}", "["] {
                for path in paths {
                    var call = service.call(as: caller, body)
                    call.path = "/v1/\(path)"
                    let reply = try await service.send(call)
                    #expect(reply.status == 403 && reply.problem == "role-not-allowed", "\(path): \(reply)")
                }
            }
            #expect(try service.entries().isEmpty)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `keeps a caller to its apps`(wire: Wire) async throws {
        try await withService(wire) { service in
            #expect(try await service.sign(as: "scoped", offer: "open").status == 200)
            let foreign = offerBody("open").replacing("com.example.app", with: "com.example.other")
            let reply = try await service.send(service.call(as: "scoped", foreign))
            #expect(reply.status == 403)
            #expect(reply.problem == "bundle-not-allowed", "\(reply)")
            #expect(reply.pointers == ["/bundleId"])
            let unheardOf = offerBody("open").replacing("com.example.app", with: "com.example.nowhere")
            let other = try await service.send(service.call(as: "scoped", unheardOf))
            #expect(other.problem == "bundle-not-allowed", "the answer does not show which other apps exist")
        }
    }

    @Test(arguments: Wire.ofRun)
    func `decides by attributes that a backend states`(wire: Wire) async throws {
        try await withService(wire) { service in
            let gold = try await service.sign(offer: "gold", #""attributes": {"tier": "gold"}"#)
            #expect(gold.status == 200, "\(gold)")
            let tin = try await service.sign(offer: "gold", #""attributes": {"tier": "tin"}"#)
            #expect(tin.problem == "not-eligible", "\(tin)")
            let unknown = try await service.sign(offer: "gold")
            #expect(unknown.problem == "eligibility-undecided", "\(unknown)")
        }
    }
}
