// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain
import Testing

@testable import Ledger
@testable import OfferService

/// A request that is wrong, and how it is refused.
private struct RefusalRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var caller = "backend"
    var bundle = "com.example.app"
    var product = "pro.monthly"
    var members = #""transactionId": "2000000123456789", "facts": {"offersUsed": []}"#
    let status: Int
    let problem: String
    let pointers: [String]
}

private let id = #""transactionId": "2000000123456789""#

private let rows = [
    RefusalRow(
        testDescription: "a product that the catalog doesn't have",
        product: "pro.daily",
        status: 404,
        problem: "unknown-offer",
        pointers: ["/productId"]
    ),
    RefusalRow(
        testDescription: "a product without an introductory offer",
        product: "pro.plain",
        status: 404,
        problem: "unknown-offer",
        pointers: ["/productId"]
    ),
    RefusalRow(
        testDescription: "an app that the catalog doesn't have",
        bundle: "com.example.nowhere",
        status: 404,
        problem: "unknown-offer",
        pointers: ["/bundleId"]
    ),
    RefusalRow(
        testDescription: "an app that is not the caller's",
        caller: "scoped",
        bundle: "com.example.other",
        status: 403,
        problem: "bundle-not-allowed",
        pointers: ["/bundleId"]
    ),
    RefusalRow(
        testDescription: "an auditor",
        caller: "auditor",
        status: 403,
        problem: "role-not-allowed",
        pointers: []
    ),
    RefusalRow(
        testDescription: "an unknown caller",
        caller: "nobody",
        status: 401,
        problem: "unauthenticated",
        pointers: []
    ),
    RefusalRow(
        testDescription: "facts of an app",
        caller: "app",
        status: 403,
        problem: "assertion-not-allowed",
        pointers: ["/facts"]
    ),
    RefusalRow(
        testDescription: "a transaction of an app that shows none",
        caller: "app",
        members: id,
        status: 403,
        problem: "transaction-not-shown",
        pointers: ["/transactionId"]
    ),
    RefusalRow(
        testDescription: "nothing that names the customer",
        members: #""facts": {"offersUsed": []}"#,
        status: 400,
        problem: "invalid-request",
        pointers: ["/transactionId"]
    ),
    RefusalRow(
        testDescription: "a transaction id that is none",
        members: #""transactionId": "7e3f""#,
        status: 400,
        problem: "invalid-request",
        pointers: ["/transactionId"]
    ),
    RefusalRow(
        testDescription: "members of the other call",
        members: #"\#(id), "offerId": "open", "formats": ["v1"], "applicationUsername": "ada""#,
        status: 400,
        problem: "invalid-request",
        pointers: ["/offerId", "/formats", "/applicationUsername"]
    ),
    RefusalRow(
        testDescription: "a wish for the answer",
        members: #"\#(id), "allowIntroductoryOffer": true"#,
        status: 400,
        problem: "invalid-request",
        pointers: ["/allowIntroductoryOffer"]
    ),
    RefusalRow(
        testDescription: "an app transaction that is no text",
        members: #""signedAppTransaction": ["eyJ"]"#,
        status: 400,
        problem: "invalid-request",
        pointers: ["/signedAppTransaction"]
    ),
    RefusalRow(
        testDescription: "an unsigned app transaction",
        members: #""signedAppTransaction": "eyJ.eyJ.eyJ""#,
        status: 400,
        problem: "invalid-signed-data",
        pointers: ["/signedAppTransaction"]
    ),
]

struct IntroductoryOfferRefusalTests {
    @Test(arguments: Wire.ofRun)
    func `refuses what it can't answer, and signs and records nothing`(wire: Wire) async throws {
        try await withService(wire, .introductory) { service in
            for row in rows {
                let call = service.introductoryCall(
                    as: row.caller,
                    product: row.product,
                    bundle: row.bundle,
                    row.members
                )
                let reply = try await service.send(call)
                #expect(reply.status == row.status && reply.problem == row.problem, "\(row): \(reply)")
                #expect(reply.pointers == row.pointers, "\(row): \(reply)")
            }
            #expect(try service.entries().isEmpty)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `takes POST alone, with JSON`(wire: Wire) async throws {
        try await withService(wire, .introductory) { service in
            let call = service.introductoryCall(id)
            var get = call
            get.method = "GET"
            get.body = []
            let reply = try await service.send(get)
            #expect(reply.status == 405 && reply.headers["allow"] == "POST", "\(reply)")
            var text = call
            text.fields = text.fields.map { $0.name == "Content-Type" ? ($0.name, "text/plain") : $0 }
            #expect(try await service.send(text).problem == "unsupported-media-type")
        }
    }

    @Test func `shows a retry's decision with or without its findings`() throws {
        let json =
            #"{"outcome":"notEligible","policy":"sha256:00","nextEligibleAt":"2026-07-01T13:00:00Z","findings":[{"rule":"window"}]}"#
        let decision = try #require(RecordedDecision(Array(json.utf8)))
        #expect(decision.outcome == .notEligible)
        #expect(decision.text(showsFindings: true) == json)
        #expect(decision.text(showsFindings: false) == json.replacing(#","findings":[{"rule":"window"}]"#, with: ""))
        for damaged in ["", "{}", #"{"outcome":"perhaps","policy":"p"}"#, json + " x"] {
            #expect(RecordedDecision(Array(damaged.utf8)) == nil)
        }
    }
}

extension RecordedDecision {
    fileprivate func text(showsFindings: Bool) -> String {
        var writer = JSONWriter()
        write(showsFindings: showsFindings, to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
