// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import TestSupport
import Testing

@testable import Ledger

/// A retried request gets the grant of the first one.
@Suite(.overBothEngines) struct IdempotencyTests {
    @Test(arguments: Wire.ofRun)
    func `gives a retry the same grant, and signs and records it again`(wire: Wire) async throws {
        try await withService(wire) { service in
            let key = try #require(service.publicKeys["active.p8"])
            let call = service.call(offer: "once", #""customerId": "ada", "formats": ["v1", "jws"]"#)
                .with("Idempotency-Key", "first")
            let first = try await service.send(call)
            #expect(first.status == 200, "\(first)")
            service.clock.advance(hours: 3)
            let second = try await service.send(call)
            #expect(second.status == 200, "the cap of one is not touched: \(second)")
            for member in first.json.names.subtracting(["signature", "jws"]) {
                #expect(first.json[member] == second.json[member], "\(member)")
            }
            #expect(first.json["signature"] != second.json["signature"])
            #expect(first.json["jws"] != second.json["jws"])
            #expect(SignedAnswer(second).isV1Signed(by: key) && SignedAnswer(second).isJWSSigned(by: key))

            let entries = try service.entries("sign.intent")
            #expect(entries.count == 4, "one for each signature")
            #expect(Set(entries.map(\.["grant"])).count == 1)
            #expect(Set(entries.map(\.["digest"])).count == 2, "the very same bytes are signed again")
            #expect(Set(entries.map(\.["rid"])).count == 2)
            #expect(entries.allSatisfy { $0["ts"] == first.json["timestamp"] }, "what was signed, whenever it was")
            #expect(service.metrics[.replays] == 1)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `refuses a key that was used with another body`(wire: Wire) async throws {
        try await withService(wire) { service in
            let first = service.call(offer: "open").with("Idempotency-Key", "k")
            #expect(try await service.send(first).status == 200)
            for other in ["spaced", "open "] {
                let body = offerBody(other.trimmingSpaces, other.hasSuffix(" ") ? #""formats": ["v1"]"# : "")
                let reply = try await service.send(service.call(body).with("Idempotency-Key", "k"))
                #expect(reply.status == 422)
                #expect(reply.problem == "idempotency-key-reused", "\(reply)")
            }
            #expect(try service.entries("sign.intent").count == 1)
        }
    }

    /// A grant was decided for one offer; a retry must not turn it into another one.
    @Test(arguments: Wire.ofRun)
    func `refuses a retry if the catalog offer now names another store offer`(wire: Wire) async throws {
        try await withService(wire) { service in
            let call = service.call(offer: "open").with("Idempotency-Key", "k")
            #expect(try await service.send(call).status == 200)
            let before = service.current.value
            let changed = CatalogOffer(
                id: try CatalogOfferID("open"),
                listing: AppStoreListing(
                    bundleID: try BundleID("com.example.app"),
                    productID: try ProductID("pro.monthly"),
                    subscriptionGroupID: nil,
                    offerID: try OfferID("store_much_better")
                ),
                terms: OfferTerms(rule: nil)
            )
            service.current.swap(
                Snapshot(
                    catalog: Catalog(
                        apps: Array(before.catalog.apps.values),
                        offers: [changed],
                        digest: before.catalog.digest
                    ),
                    keyRing: before.keyRing,
                    pseudonyms: before.pseudonyms,
                    callers: before.callers
                )
            )
            let reply = try await service.send(call)
            #expect(reply.problem == "idempotency-key-reused", "\(reply)")
            #expect(reply.json["detail"].text?.contains("has become another one in the catalog") == true, "\(reply)")
            #expect(try service.entries("sign.intent").count == 1)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `keeps the keys of callers apart, and takes a key in quotes for the same one`(wire: Wire) async throws {
        try await withService(wire) { service in
            let grants = try await [
                service.send(service.call(offer: "open").with("Idempotency-Key", "k")),
                service.send(service.call(as: "second-backend", offer: "open").with("Idempotency-Key", "k")),
                service.send(service.call(offer: "open").with("Idempotency-Key", #""k""#)),
                service.send(service.call(offer: "open").with("Idempotency-Key", "K")),
            ].map { $0.json["grantId"].text }
            #expect(grants[0] == grants[2])
            #expect(Set(grants).count == 3 && !grants.contains(nil), "\(grants)")
        }
    }

    /// What is granted while the clock is wrong must still be known once it is right.
    @Test(arguments: Wire.ofRun)
    func `remembers a key of a grant that was made while the clock was a day behind`(wire: Wire) async throws {
        try await withService(wire) { service in
            // The log has the right time.
            #expect(try await service.send(service.call(offer: "open")).status == 200)
            service.clock.advance(hours: -25)
            let call = service.call(offer: "once", #""customerId": "ada""#).with("Idempotency-Key", "behind")
            let first = try await service.send(call)
            #expect(first.status == 200, "\(first)")
            service.clock.advance(hours: 25)
            try await service.forgetIdempotencyKeys()
            let second = try await service.send(call)
            #expect(second.status == 200, "\(second)")
            #expect(second.json["nonce"] == first.json["nonce"])
            service.clock.advance(hours: 24)
            let third = try await service.send(call)
            #expect(third.problem == "not-eligible", "the cap holds, the key is forgotten")
        }
    }

    /// The log is ahead by little, as where another machine's clock is, when the clock is wrong.
    @Test(arguments: Wire.ofRun)
    func `remembers such a key though the log is ahead of the right time`(wire: Wire) async throws {
        try await withService(wire) { service in
            try await service.recordAhead(seconds: 600)
            service.clock.advance(hours: -25)
            let call = service.call(offer: "open").with("Idempotency-Key", "behind")
            let first = try await service.send(call).json["nonce"]
            service.clock.advance(hours: 25)
            try await service.forgetIdempotencyKeys()
            #expect(try await service.send(call).json["nonce"] == first)
            service.clock.advance(hours: 25)
            try await service.forgetIdempotencyKeys()
            #expect(try service.rows(["SELECT count(*) || ' keys' FROM idempotency_keys"]) == ["0 keys"])
        }
    }

    /// The log goes on from the latest time that it ever had.
    @Test(arguments: Wire.ofRun)
    func `forgets a key after 24 hours though the log is a year ahead of the clock`(wire: Wire) async throws {
        try await withService(wire) { service in
            try await service.recordAhead(seconds: 365 * 86_400)
            let call = service.call(offer: "open").with("Idempotency-Key", "ahead")
            let first = try await service.send(call).json["grantId"]
            service.clock.advance(hours: 23)
            try await service.forgetIdempotencyKeys()
            #expect(try await service.send(call).json["grantId"] == first)
            service.clock.advance(hours: 2)
            #expect(try await service.send(call).json["grantId"] != first)
            service.clock.advance(hours: 25)
            try await service.forgetIdempotencyKeys()
            #expect(try service.rows(["SELECT count(*) || ' keys' FROM idempotency_keys"]) == ["0 keys"])
        }
    }

    @Test(arguments: Wire.ofRun)
    func `remembers a key for 24 hours and not a millisecond longer`(wire: Wire) async throws {
        try await withService(wire) { service in
            let call = service.call(offer: "open").with("Idempotency-Key", "k")
            let other = service.call(offer: "spaced").with("Idempotency-Key", "k")
            let first = try await service.send(call).json["grantId"]
            service.clock.advance(milliseconds: 86_400_000 - 1)
            #expect(try await service.send(call).json["grantId"] == first)
            #expect(try await service.send(other).status == 422)
            service.clock.advance(milliseconds: 1)
            let later = try await service.send(other)
            #expect(later.status == 200, "\(later)")
            #expect(later.json["grantId"] != first)
            #expect(try await service.send(other).json["grantId"] == later.json["grantId"])
        }
    }

    @Test(arguments: Wire.ofRun)
    func `remembers no refusal`(wire: Wire) async throws {
        try await withService(wire) { service async throws in
            let body = offerBody("lapsed").replacing(
                #"{"subscribedBefore": true}"#,
                with: #"{"status": "expired", "expiresAt": "2026-06-11T12:00:00Z"}"#
            )
            let call = service.call(body).with("Idempotency-Key", "k")
            #expect(try await service.send(call).problem == "not-eligible")
            service.clock.advance(days: 10)
            #expect(try await service.send(call).status == 200)
        }
    }

    @Test(
        .overSQLite,
        arguments: Wire.ofRun,
        [
            [""], [#""""#], ["a b"], [#"a"b"#], [#""a"#], ["a", "a"], ["a", "b"],
            [String(repeating: "k", count: 256)], ["a\tb"],
        ]
    )
    func `refuses a key that is none`(wire: Wire, keys: [String]) async throws {
        try await withService(wire) { service in
            var call = service.call(offer: "open")
            for key in keys { call = call.with("Idempotency-Key", key) }
            let reply = try await service.send(call)
            #expect(reply.status == 400)
            #expect(reply.problem == "invalid-idempotency-key", "\(reply)")
            #expect(reply.json["detail"].text?.contains("without spaces") == true, "\(reply)")
            let longest = service.call(offer: "open").with("Idempotency-Key", String(repeating: "k", count: 255))
            #expect(try await service.send(longest).status == 200)
        }
    }

    @Test(arguments: Wire.allCases)
    func `gives a hundred requests at once with one key one nonce and one grant`(wire: Wire) async throws {
        try await withService(wire) { service in
            let call = service.call(offer: "once", #""customerId": "ada""#).with("Idempotency-Key", "k")
            let replies = try await service.send(Array(repeating: call, count: 100))
            #expect(replies.allSatisfy { $0.status == 200 })
            for member in ["nonce", "grantId", "timestamp"] {
                #expect(Set(replies.map(\.json[member])).count == 1, "\(member)")
            }
            #expect(Set(replies.map(\.json["signature"])).count == 100)
            #expect(try service.entries("sign.intent").count == 100)
            let again = try await service.sign(offer: "once", #""customerId": "ada""#)
            #expect(again.problem == "not-eligible", "the one grant counts: \(again)")
        }
    }
}

extension String {
    fileprivate var trimmingSpaces: String { filter { $0 != " " } }
}

extension TestService {
    /// Has the log go on from a time that has yet to come.
    fileprivate func recordAhead(seconds: Int) async throws {
        clock.advance(seconds: seconds)
        #expect(try await send(call(offer: "open")).status == 200)
        clock.advance(seconds: -seconds)
    }

    /// Does what is done from time to time.
    fileprivate func forgetIdempotencyKeys() async throws {
        let now = clock.now
        try await committer.change { writer throws(LedgerError) in
            try writer.forgetIdempotencyKeys(at: now, atMost: 100)
        }
    }
}
