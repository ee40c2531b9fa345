// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import TestSupport
import Testing

/// Caps hold against races, spellings and the clock.
@Suite(.overBothEngines) struct CapTests {
    private static let token = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"

    /// Five spellings of one customer whose UUID ends in `number`.
    private static func spellings(_ number: Int) -> [String] {
        let digits = String(number)
        let token = "7e3fb204-2a6b-4b2f-9a3c-" + String(repeating: "0", count: 12 - digits.count) + digits
        return [
            #""appAccountToken": "\#(token)""#, #""appAccountToken": "\#(token.uppercased())""#,
            #""customerId": "\#(token.uppercased())""#, #""customerId": "\#(token.filter { $0 != "-" })""#,
            #""applicationUsername": "{\#(token)}""#,
        ]
    }

    @Test(arguments: Wire.allCases)
    func `grants 200 customers who ask at the same time under five spellings exactly one offer each`(
        wire: Wire
    ) async throws {
        try await withService(wire) { service in
            let customers = (0..<200).map { number in
                Self.spellings(number).map { (number, service.call(offer: "once", $0)) }
            }
            let asked = customers.joined().shuffled()
            var granted: [Int: Int] = [:]
            // The HTTP server takes 256 connections of one address, and may still have those of the wave before.
            for start in stride(from: 0, to: asked.count, by: 100) {
                let wave = asked[start..<min(start + 100, asked.count)]
                let replies = try await service.send(wave.map(\.1))
                for ((number, _), reply) in zip(wave, replies) {
                    #expect(reply.status == 200 || reply.problem == "not-eligible", "\(reply)")
                    if reply.status == 200 { granted[number, default: 0] += 1 }
                }
            }
            #expect(granted.count == 200)
            #expect(granted.values.allSatisfy { $0 == 1 })
            #expect(try service.entries("sign.intent").count == 200)
            #expect(try service.entries("sign.deny").count == 800)
        }
    }

    @Test(arguments: Wire.allCases)
    func `spends a budget to the last offer and no further, also with concurrent requests`(wire: Wire) async throws {
        try await withService(wire) { service in
            let calls = (0..<100).map { service.call(offer: "budget", #""customerId": "customer-\#($0)""#) }
            let replies = try await service.send(calls)
            #expect(replies.count { $0.status == 200 } == 3)
            #expect(replies.count { $0.problem == "not-eligible" } == 97)
            #expect(
                replies.filter { $0.status != 200 }
                    .allSatisfy { $0.json["decision"]["nextEligibleAt"] == .text("2026-07-02T00:00:00Z") }
            )
        }
    }

    /// Two requests, and whether they are taken for the same customer's.
    struct Row: CustomTestStringConvertible, Sendable {
        let first: String
        let second: String
        let isSame: Bool

        init(_ first: String, _ second: String, isSame: Bool = true) {
            self.first = first
            self.second = second
            self.isSame = isSame
        }

        var testDescription: String { "\(first) and \(second)" }
    }

    static let rows = [
        Row(#""appAccountToken": "\#(token)""#, #""appAccountToken": "\#(token.uppercased())""#),
        Row(#""appAccountToken": "\#(token)""#, #""customerId": "\#(token)""#),
        Row(#""customerId": "\#(token.uppercased())""#, #""appAccountToken": "\#(token)""#),
        Row(#""appAccountToken": "\#(token)""#, #""customerId": "urn:uuid:\#(token)""#),
        Row(#""applicationUsername": "Ada""#, #""applicationUsername": "aDA""#),
        Row(#""applicationUsername": "Ada""#, #""customerId": "ada""#),
        Row(#""customerId": "ada""#, #""customerId": "ada", "appAccountToken": "\#(token)""#),
        Row(#""customerId": "ada", "appAccountToken": "\#(token)""#, #""appAccountToken": "\#(token)""#),
        Row(#""customerId": "ada", "applicationUsername": "Lovelace""#, #""customerId": "lovelace""#),
        Row(#""customerId": "ada""#, #""customerId": "ada2""#, isSame: false),
        Row(#""customerId": "ada""#, #""customerId": "ada-""#, isSame: false),
        Row(
            #""appAccountToken": "\#(token)""#,
            #""appAccountToken": "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f61""#,
            isSame: false
        ),
    ]

    @Test(arguments: Wire.ofRun, rows)
    func `counts a customer under every name, however it is spelt`(wire: Wire, row: Row) async throws {
        try await withService(wire) { service in
            let first = try await service.sign(offer: "once", row.first)
            #expect(first.status == 200, "\(first)")
            let second = try await service.sign(offer: "once", row.second)
            #expect(second.status == (row.isSame ? 403 : 200), "\(second)")
            if row.isSame {
                #expect(second.json["decision"]["findings"][1]["code"] == .text("grants-cap-reached"))
            }
        }
    }

    @Test func `counts customers of two apps, and of two offers, apart`() async throws {
        try await withService { service in
            let body = offerBody("once", #""customerId": "ada""#)
            for body in [
                body, body.replacing("com.example.app", with: "com.example.other"),
                body.replacing("once", with: "twice_a_month"),
            ] {
                let reply = try await service.send(service.call(body))
                #expect(reply.status == 200, "\(reply)")
            }
        }
    }

    @Test func `leaves a capped offer undecided if the request names no customer`() async throws {
        try await withService { service in
            for offer in ["once", "cooldown", "once_each"] {
                let reply = try await service.sign(offer: offer)
                #expect(reply.problem == "eligibility-undecided", "\(reply)")
            }
            #expect(try service.entries("sign.intent").isEmpty)
        }
    }

    @Test func `counts grants of one original transaction for all customer IDs together`() async throws {
        try await withService { service in
            func sign(_ customer: String, _ transaction: String) async throws -> Reply {
                let body = offerBody("once_each", #""customerId": "\#(customer)""#)
                    .replacing("true}", with: #"true, "originalTransactionId": "\#(transaction)"}"#)
                return try await service.send(service.call(body))
            }
            #expect(try await sign("ada", "2000000123456789").status == 200)
            for spelling in ["2000000123456789", "0002000000123456789"] {
                let reply = try await sign("grace", spelling)
                #expect(reply.problem == "not-eligible", "\(reply)")
                #expect(reply.json["decision"]["findings"][1]["code"] == .text("grants-cap-reached"))
            }
            #expect(try await sign("ada", "2000000123456788").status == 200, "the same customer's other subscription")
        }
    }

    @Test func `lets a cooldown end when it says, to the millisecond`() async throws {
        try await withService { service in
            let customer = #""customerId": "ada""#
            #expect(try await service.sign(offer: "cooldown", customer).status == 200)
            service.clock.advance(milliseconds: 30 * 86_400_000 - 1)
            let early = try await service.sign(offer: "cooldown", customer)
            #expect(early.problem == "not-eligible", "\(early)")
            #expect(early.json["decision"]["findings"][1]["code"] == .text("cooldown-running"))
            #expect(early.json["decision"]["nextEligibleAt"] == .text("2026-07-31T12:00:00.123Z"))
            service.clock.advance(milliseconds: 1)
            #expect(try await service.sign(offer: "cooldown", customer).status == 200)
            #expect(try await service.sign(offer: "cooldown", customer).problem == "not-eligible")
        }
    }

    @Test func `counts the grants of the last days only, and says when the next is free`() async throws {
        try await withService { service in
            let customer = #""customerId": "ada""#
            func sign() async throws -> Reply { try await service.sign(offer: "twice_a_month", customer) }
            #expect(try await sign().status == 200)
            service.clock.advance(days: 10)
            #expect(try await sign().status == 200)
            service.clock.advance(days: 10)
            for _ in 0..<3 {
                let reply = try await sign()
                #expect(reply.problem == "not-eligible", "\(reply)")
                #expect(reply.json["decision"]["nextEligibleAt"] == .text("2026-07-31T12:00:00.123Z"))
            }
            service.clock.advance(days: 10)
            #expect(try await sign().status == 200, "refusals take nothing")
            #expect(try await sign().json["decision"]["nextEligibleAt"] == .text("2026-08-10T12:00:00.123Z"))
        }
    }

    @Test func `counts a budget by days of UTC`() async throws {
        try await withService { service async throws in
            func sign() async throws -> Reply { try await service.sign(offer: "budget") }
            for _ in 0..<3 { #expect(try await sign().status == 200) }
            service.clock.advance(milliseconds: 12 * 3_600_000 - 124)
            #expect(try await sign().problem == "not-eligible", "one millisecond before midnight")
            service.clock.advance(milliseconds: 1)
            for _ in 0..<3 { #expect(try await sign().status == 200) }
            #expect(try await sign().problem == "not-eligible")
        }
    }
}
