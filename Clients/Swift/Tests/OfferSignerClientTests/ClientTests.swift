// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferSignerClient
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct ClientTests {
    private let url: URL
    private static let quick = RetryPolicy(tries: 3, firstWait: 0.001, longestWait: 1)

    init() throws { url = try #require(URL(string: "https://offers.example.com/below")) }

    private func client(_ transport: ScriptedTransport, retries: RetryPolicy = quick) -> OfferSignerClient {
        OfferSignerClient(url: url, transport: transport, retries: retries) { "KEY" }
    }

    @Test func `sends a request and reads the answer`() async throws {
        let transport = ScriptedTransport([.answer(200, Sample.answer())])
        let offer = try await client(transport).signPromotionalOffer(Sample.request, idempotencyKey: "attempt-1")
        #expect(offer.identifier == "winback_3m" && offer.timestamp == 1_795_250_488_617)
        #expect(offer.decision?.outcome == .eligible)
        let request = try #require(transport.requests.first)
        #expect(
            request.url?.absoluteString
                == "https://offers.example.com/below/v1/app-store/promotional-offers/signatures"
        )
        #expect(request.httpMethod == "POST")
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer KEY")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(request.value(forHTTPHeaderField: "Idempotency-Key") == "attempt-1")
    }

    @Test func `keeps the token as the text that was signed`() async throws {
        let offer = try await client(ScriptedTransport([.answer(200, Sample.answer())]))
            .signPromotionalOffer(Sample.request)
        #expect(offer.appAccountToken == Sample.token)
        let passedOn = try JSONDecoder().decode(SignedOffer.self, from: JSONEncoder().encode(offer))
        #expect(passedOn == offer, "a backend passes it on as it is")
    }

    /// What a try comes to, and how many tries there are.
    @Test(
        arguments: [
            ([.failure(.networkConnectionLost), .answer(200, Sample.answer())], 2, true),
            ([.failure(.timedOut), .failure(.cannotConnectToHost), .answer(200, Sample.answer())], 3, true),
            ([.failure(.timedOut), .failure(.timedOut), .failure(.timedOut)], 3, false),
            ([.answer(502, ""), .answer(504, ""), .answer(200, Sample.answer())], 3, true),
            ([.answer(503, Sample.refusal, headers: ["Retry-After": "0"]), .answer(200, Sample.answer())], 2, true),
            ([.answer(429, Sample.refusal, headers: ["Retry-After": "0"]), .answer(200, Sample.answer())], 2, true),
            ([.answer(503, Sample.refusal)], 1, false),
            ([.answer(429, Sample.refusal, headers: ["Retry-After": "3600"])], 1, false),
            ([.answer(403, Sample.refusal)], 1, false),
            ([.answer(500, Sample.refusal)], 1, false),
        ] as [([ScriptedTransport.Event], Int, Bool)]
    )
    func `tries again only where that may help, under one idempotency key`(
        events: [ScriptedTransport.Event],
        tries: Int,
        succeeds: Bool
    ) async throws {
        let transport = ScriptedTransport(events)
        let offer = try? await client(transport).signPromotionalOffer(Sample.request)
        #expect((offer != nil) == succeeds)
        #expect(transport.requests.count == tries)
        let keys = Set(transport.requests.map { $0.value(forHTTPHeaderField: "Idempotency-Key") })
        #expect(keys.count == 1 && keys.first != .some(nil))
    }

    @Test func `asks for the token before each try`() async throws {
        let transport = ScriptedTransport([.answer(502, ""), .answer(200, Sample.answer())])
        let tokens = Tokens()
        let client = OfferSignerClient(url: url, transport: transport, retries: Self.quick) { await tokens.next() }
        _ = try await client.signPromotionalOffer(Sample.request)
        let sent = transport.requests.map { $0.value(forHTTPHeaderField: "Authorization") }
        #expect(sent == ["Bearer token-1", "Bearer token-2"])
    }

    @Test func `uses another idempotency key for each attempt`() async throws {
        let transport = ScriptedTransport([.answer(200, Sample.answer()), .answer(200, Sample.answer())])
        for _ in 1...2 { _ = try await client(transport).signPromotionalOffer(Sample.request) }
        #expect(Set(transport.requests.map { $0.value(forHTTPHeaderField: "Idempotency-Key") }).count == 2)
    }

    @Test func `says why the service refused`() async throws {
        let transport = ScriptedTransport([.answer(403, Sample.refusal, headers: ["Retry-After": "7"])])
        let client = client(transport)
        let error = await #expect(throws: OfferSignerError.self) { () async throws in
            _ = try await client.signPromotionalOffer(Sample.request)
        }
        guard case .refused(let problem) = error else {
            Issue.record("not refused: \(String(describing: error))")
            return
        }
        #expect(error?.problem == "not-eligible" && problem.status == 403 && problem.retryAfter == 7)
        #expect(problem.decision?.outcome == .notEligible)
        #expect(problem.decision?.findings?.first?.code == "cooldown-running")
    }

    @Test(arguments: [(200, "no JSON"), (200, "{}"), (502, "<html>"), (302, "")])
    func `reports answers that are not the service's`(status: Int, body: String) async {
        let transport = ScriptedTransport([.answer(status, body, headers: ["Content-Type": "text/html"])])
        let client = client(transport, retries: .none)
        let error = await #expect(throws: OfferSignerError.self) { () async throws in
            _ = try await client.signPromotionalOffer(Sample.request)
        }
        guard case .unreadableAnswer(status, _) = error else {
            Issue.record("read: \(String(describing: error))")
            return
        }
    }
}
