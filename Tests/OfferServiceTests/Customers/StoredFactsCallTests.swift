// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

extension TestService {
    /// Stores facts, and demands that it is done.
    func storeFacts(_ facts: String, of customer: String, seconds: Int = 86_400) async throws {
        let body = #"{"facts": \#(facts), "expiresInSeconds": \#(seconds)}"#
        let reply = try await send(attributesCall("PUT", of: customer, body))
        #expect(reply.status == 200, "\(reply)")
    }
}

/// `facts` of `PUT /v1/customers/{customerId}/attributes`.
@Suite(.overBothEngines) struct StoredFactsCallTests {
    private static var files: TestFiles {
        var files = TestFiles()
        files.offers = files.offers.replacing(
            #"{id: "gold","#,
            with: """
                {id: "back", appStore: {offerId: "store_back"}, eligibility: {all: [{lapsed: {atLeastDays: 10}},
                  {usedOffers: {atMost: 1}}, {appOrigin: {in: ["appStore"]}}]}},
                {id: "gold",
                """
        )
        return files
    }

    @Test(arguments: Wire.allCases)
    func `a backend stores, reads and deletes facts, beside attributes or alone`(wire: Wire) async throws {
        try await withService(wire, Self.files) { service async throws in
            func send(_ method: String, _ body: String = "") async throws -> Reply {
                try await service.send(service.attributesCall(method, of: "ada", body))
            }
            let facts = """
                {"status": "expired", "expiresAt": "2026-06-01T00:00:00Z", "ownership": null, "offersUsed": [
                  {"type": "winBack", "offerId": "b\\u0061ck"}], "subscriptionGroupId": "21"}
                """
            let kept = """
                "facts":{"expiresAt":"2026-06-01T00:00:00Z","offersUsed":[{"offerId":"back","type":"winBack"}],\
                "status":"expired","subscriptionGroupId":"21"},"storedAt":"2026-07-01T12:00:00.123Z",\
                "expiresAt":"2026-07-01T13:00:00.123Z"}
                """
            let alone = try await send("PUT", #"{"facts": \#(facts), "expiresInSeconds": 3600}"#)
            #expect(alone.status == 200 && alone.body == "{" + kept, "\(alone)")
            #expect(try await send("GET").body == "{" + kept)
            let both = #"{"attributes": {"tier": "gold"}, "facts": \#(facts), "expiresInSeconds": 3600}"#
            let whole = #"{"attributes":{"tier":"gold"},"# + kept
            #expect(try await send("PUT", both).body == whole)
            #expect(try await send("DELETE").body == whole)
            #expect(try await send("GET").problem == "not-found")
        }
    }

    @Test func `each change is on record with the names and without a value, and a repeat is not`() async throws {
        try await withService(.inProcess, Self.files) { service async throws in
            let body = #"{"facts": {"status": "expired"}, "expiresAt": "2026-07-02T00:00:00Z"}"#
            let spaced = #"{"facts": { "status" : "expired" }, "expiresAt": "2026-07-02T00:00:00Z"}"#
            let other = #"{"facts": {"status": "active"}, "expiresAt": "2026-07-02T00:00:00Z"}"#
            for body in [body, spaced, other] {
                #expect(try await service.send(service.attributesCall("PUT", of: "ada", body)).status == 200)
            }
            let entries = try service.entries("customer.attributes")
            #expect(entries.count == 2 && entries.allSatisfy { $0["facts"].elements == [.text("status")] })
            #expect(entries.allSatisfy { !$0.names.contains("names") })
            #expect(try service.entries().allSatisfy { !$0.contains("expired") })
        }
    }

    /// What is refused, at which member, and what the message says.
    private static let faults = [
        (#"{"region": "US"}"#, "/region", "read: expiresAt, isActive, offersUsed, ownership, status, subscribedBefore"),
        (#"{"appOrigin": "appStore"}"#, "/appOrigin", "is of one request"),
        (#"{"deviceIntegrity": "strong"}"#, "/deviceIntegrity", "is of one request"),
        (#"{"appLicensed": true}"#, "/appLicensed", "is of one request"),
        (#"{"originalTransactionId": "1"}"#, "/originalTransactionId", "is of one request"),
        (#"{"status": "lapsed"}"#, "/status", "one of active"),
        (#"{"statuss": "active"}"#, "/statuss", "did you mean “status”"),
        (#"{"expiresAt": "soon"}"#, "/expiresAt", "expected a time"),
        (#"{"status": "active", "isActive": false}"#, "/isActive", "contradicts the status"),
        ("[]", "", "an object"),
    ]

    @Test func `what no rule has a use for is refused, with what rules read`() async throws {
        try await withService(.inProcess, Self.files) { service async throws in
            for (facts, pointer, message) in Self.faults {
                let body = #"{"facts": \#(facts), "expiresInSeconds": 60}"#
                let reply = try await service.send(service.attributesCall("PUT", of: "ada", body))
                #expect(reply.status == 400 && reply.pointers == ["/facts\(pointer)"], "\(body): \(reply)")
                #expect(reply.body.contains(message), "\(body): \(reply)")
            }
            #expect(try service.entries("customer.attributes").isEmpty)
        }
    }

    @Test func `each fact of a request can be stored where a rule reads it, or is of one request`() {
        let every = FactNeeds.fromStatuses.union(.fromHistory).union([.region, .cancellation, .priceStepUpConsent])
        let known: Set<String> = [
            "subscribedBefore", "status", "isActive", "expiresAt", "autoRenew", "cancelledAt", "renewsTo",
            "billingPlan",
            "commitmentEndsAt", "commitmentPeriod", "appleWinBackEligible", "priceStepUpConsent", "ownership",
            "environment", "storefront", "region", "refundedAt", "offersUsed",
        ]
        #expect(Set(StoredFacts.names(for: every)) == known)
        #expect(StoredFacts.names(for: []).isEmpty)
    }

    @Test func `they follow their customer to a new secret, and are erased with it`() async throws {
        try await withService(.inProcess, Self.files) { service async throws in
            let stored = #""facts":{"status":"expired"}"#
            try await service.storeFacts(#"{"status": "expired"}"#, of: "ada")
            try service.beginSecretVersion("2")
            #expect(try await service.send(service.attributesCall("GET", of: "ada")).body.contains(stored))
            try service.destroySecretVersion("1")
            #expect(try await service.send(service.attributesCall("GET", of: "ada")).problem == "not-found")
        }
    }
}
