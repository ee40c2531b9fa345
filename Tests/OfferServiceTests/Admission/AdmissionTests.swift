// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferService
import ServiceRuntime
import TestSupport
import Testing

/// A device, a network address or a caller uses up only its own share.
@Suite(.overSQLite) struct AdmissionTests {
    private static func files(_ settings: [Setting: String]) -> TestFiles {
        var files = TestFiles()
        files.settings = settings
        return files
    }

    /// An app may state no facts, so nothing it asks is decided.
    private static func body(_ offer: String) -> String {
        #"{"bundleId": "com.example.app", "productId": "pro.monthly", "offerId": "\#(offer)", "anonymousId": "device"}"#
    }

    private static func ask(_ service: TestService, as caller: String = "app", from address: String) -> Call {
        service.call(as: caller, Self.body("open")).from(address)
    }

    @Test func `limits an app's rate per address, sends Retry-After, and later accepts requests again`()
        async throws
    {
        try await withService(.inProcess, Self.files([.appRatePerAddress: "2/s:3"])) { service async throws in
            func statuses(_ count: Int, from address: String) async throws -> [Int] {
                var statuses: [Int] = []
                for _ in 0..<count { statuses.append(try await service.send(Self.ask(service, from: address)).status) }
                return statuses
            }
            #expect(try await statuses(4, from: "192.0.2.1") == [403, 403, 403, 429])
            let refused = try await service.send(Self.ask(service, from: "192.0.2.1"))
            #expect(refused.problem == "rate-limited", "\(refused)")
            #expect(refused.headers["retry-after"] == "1")
            #expect(refused.headers["ratelimit-policy"] == #""address";q=3;w=1"#)
            #expect(refused.headers["ratelimit"] == #""address";r=0;t=1"#)
            #expect(try await statuses(1, from: "192.0.2.2") == [403], "a neighbour has room")
            #expect(try await statuses(3, from: "2001:db8::1") == [403, 403, 403])
            #expect(try await statuses(1, from: "2001:db8::2:1") == [429], "one network of 64 bits is one neighbour")
            #expect(try await statuses(1, from: "2001:db8:0:1::1") == [403])
            service.clock.advance(milliseconds: 500)
            #expect(try await statuses(2, from: "192.0.2.1") == [403, 429])
            #expect(try service.entries("sign.deny").count == 9, "a rate-limited request is not decided")
            #expect(service.metrics[.rateLimited(scope: "address")] == 4)
        }
    }

    @Test func `a backend has no limit per address, and a rate limit only if it was added with one`() async throws {
        try await withService(.inProcess, Self.files([.appRatePerAddress: "1/s:1", .appRate: "1/s:1"])) {
            service async throws in
            for _ in 0..<20 {
                let reply = try await service.sign(offer: "open", #""customerId": "anna""#)
                #expect(reply.status == 200, "\(reply)")
            }
            let caller = Caller(
                id: try #require(CallerID("slow")),
                role: .backend,
                apps: [],
                rate: RateLimit("2/min:2")
            )
            let callers = Callers(ledger: service.ledger, clock: service.clock.wallClock)
            let key = try callers.add(caller, expiresInDays: nil).get()
            try service.refresh()
            let call = service.call(offerBody("open", #""customerId": "anna""#))
            var statuses: [Int] = []
            for _ in 0..<3 {
                var slow = call
                slow.fields = [("Content-Type", "application/json"), ("Authorization", "Bearer \(key.credential)")]
                statuses.append(try await service.send(slow).status)
            }
            #expect(statuses == [200, 200, 429])
        }
    }

    @Test func `counts each request of a batch, and a batch larger than the burst uses the whole burst`() async throws {
        try await withService(.inProcess, Self.files([.appRatePerAddress: "1/s:6"])) { service async throws in
            func batch(_ count: Int) -> Call {
                let one = Self.body("open")
                let body = #"{"requests": [\#(Array(repeating: one, count: count).joined(separator: ","))]}"#
                var call = service.call(as: "app", body)
                call.path = "/v1/app-store/promotional-offers/signatures/batch"
                return call
            }
            #expect(try await service.send(batch(4)).status == 200)
            #expect(try await service.send(batch(4)).status == 429)
            service.clock.advance(seconds: 60)
            #expect(try await service.send(batch(32)).status == 200)
            #expect(try await service.send(batch(1)).status == 429)
            service.clock.advance(seconds: 60)
            #expect(try await service.send(batch(6)).status == 200)
        }
    }

    @Test func `limits an app's requests about one proven customer, across all addresses`() async throws {
        try await withStoreService(asksStore: false) { world in
            let id = try world.customer([.init(.active)]).subscriptions[0].originalTransactionID
            let signed = try world.store.signTransaction(id)
            let members = #""signedTransactions": ["\#(signed)"], "appAccountToken": "\#(world.token)""#
            var statuses: [Int] = []
            for number in 0..<122 {
                let call = world.call(as: "app", "once_a_customer", members).from("198.51.100.\(number)")
                statuses.append(try await world.service.send(call).status)
            }
            #expect(statuses == [200] + [Int](repeating: 403, count: 119) + [429, 429])
        }
    }

    @Test func `refusals of an app are entries up to a rate, and beyond that a number in one entry`() async throws {
        try await withService(.inProcess, Self.files([.appRatePerAddress: "none", .appRate: "none"])) {
            service async throws in
            for number in 0..<300 {
                let offer = number % 3 == 0 ? "once" : "open"
                let call = service.call(as: "app", Self.body(offer))
                #expect(try await service.send(call).status == 403)
            }
            for _ in 0..<3 { _ = try await service.sign(offer: "gold", #""customerId": "anna""#) }
            #expect(try service.entries("sign.deny").count == 240 + 3, "a backend's are always entries")
            service.clock.advance(seconds: 1)
            for _ in 0..<3 { _ = try await service.send(Self.ask(service, from: "192.0.2.1")) }
            #expect(try service.entries("sign.deny").count == 240 + 3 + 2, "two a second")
            // What is counted is recorded once a minute, and at the end.
            await service.stop()
            let counted = try service.entries("refusals")
            #expect(counted.count == 1)
            let rows = counted[0]["counts"].elements
            #expect(rows.map { $0["count"].integer } == [41, 20], "\(counted)")
            #expect(rows.map { $0["offer"].text } == ["open", "once"])
            #expect(rows.allSatisfy { $0["caller"].text == "app" && $0["outcome"].text == "undecided" })
            #expect(rows.allSatisfy { $0["rule"].text == "provenCustomer" && $0["code"].text == "customer-unproven" })
            #expect(counted[0]["others"].integer == nil || counted[0]["others"].integer == 0)
        }
    }
}

@Suite struct RateLimitTests {
    @Test(arguments: [
        ("20/s", "20/s:40"), ("20/s:200", "20/s:200"), ("60/min", "60/min:120"), ("1/min:1", "1/min:1"),
        ("1000000/s:1000000", "1000000/s:1000000"),
    ])
    func `is read, and written as it is read`(text: String, written: String) {
        #expect(RateLimit(text)?.description == written)
        #expect(RateLimit(written)?.description == written)
    }

    @Test(arguments: [
        "", "20", "20/h", "/s", "0/s", "-1/s", "1000001/s", "20/s:", "20/s:0", "20/s:1:1", "2.5/s", " 20/s",
    ])
    func `nothing else is one`(text: String) {
        #expect(RateLimit(text) == nil)
    }
}
