// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferSignerClient
import Testing

/// Where a service runs for tests, and a backend's API key.
enum TestedService {
    private static let environment = ProcessInfo.processInfo.environment
    static let url = environment["CLIENT_TEST_URL"].flatMap(URL.init(string:))
    static let key = environment["CLIENT_TEST_KEY"]
}

/// The client against a running service with the demo's catalog; Scripts/swift-client starts it.
@Suite(.enabled(if: TestedService.url != nil, "Scripts/swift-client starts a service for these tests"))
struct ServiceTests {
    private let client: OfferSignerClient
    private let customer = "customer-\(UUID().uuidString.lowercased())"

    init() throws {
        let key = try #require(TestedService.key)
        client = OfferSignerClient(url: try #require(TestedService.url), token: key)
    }

    private func request(_ offer: String = "winback_3m", _ set: (inout Facts) -> Void = { _ in }) -> SignatureRequest {
        SignatureRequest(
            bundleID: "com.example.app",
            productID: "com.example.pro.monthly",
            offerID: offer,
            account: .appAccountToken(UUID()),
            customer: Customer(
                customerID: customer,
                facts: Facts {
                    $0.status = .expired
                    $0.expiresAt = Date(timeIntervalSince1970: 1_767_225_600)
                    set(&$0)
                }
            )
        )
    }

    @Test func `signs an offer in both forms, and gives the token back in lowercase`() async throws {
        let request = request()
        let offer = try await client.signPromotionalOffer(request)
        #expect(offer.identifier == "winback_3m" && offer.signature != nil && offer.jws != nil)
        guard case .appAccountToken(let token) = request.account else { return }
        #expect(offer.appAccountToken == token.uuidString.lowercased())
        let age = Date().timeIntervalSince1970 - Double(offer.timestamp) / 1000
        #expect(abs(age) < 600, "milliseconds")
        #expect(offer.decision?.findings?.isEmpty == false)
    }

    @Test func `a library's types read the answer of the service`() async throws {
        let data = try JSONEncoder().encode(try await client.signPromotionalOffer(request()))
        for library in PasteTableTests.libraries {
            let parts = try #require(try JSONDecoder().decode(library, from: data).parts, "\(library)")
            #expect(parts.signature.first == 0x30 && parts.identifier == "winback_3m")
        }
    }

    @Test func `the same key gets the same grant`() async throws {
        let (request, key) = (request(), UUID().uuidString)
        let first = try await client.signPromotionalOffer(request, idempotencyKey: key)
        let second = try await client.signPromotionalOffer(request, idempotencyKey: key)
        #expect(first.grantId == second.grantId && first.nonce == second.nonce)
        #expect(try await client.signPromotionalOffer(request).nonce != first.nonce)
    }

    @Test func `a refusal has its reasons`() async throws {
        let error = await #expect(throws: OfferSignerError.self) {
            _ = try await client.signPromotionalOffer(request { $0.status = .active })
        }
        guard case .refused(let problem) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(problem.name == "not-eligible" && problem.status == 403)
        #expect(problem.decision?.findings?.contains { $0.answer == .notMet } == true)
    }

    @Test func `many are signed in one request`() async throws {
        let results = try await client.signPromotionalOffers([request(), request("no_such_offer")])
        #expect(results.map(\.status) == [200, 404])
        #expect(results[0].grant?.signature != nil && results[1].problem?.name == "unknown-offer")
    }

    @Test func `a paywall asks for eligibility`() async throws {
        let asked = request()
        let answer = try await client.eligibility(
            EligibilityRequest(bundleID: asked.bundleID, account: asked.account, customer: asked.customer)
        )
        #expect(answer.offers.contains { $0.id == "winback" && $0.outcome == .eligible })
        #expect(
            answer.products.contains { $0.promotionalOfferId == "winback_3m" || $0.promotionalOfferId == "winback" }
        )
    }

    @Test func `an introductory offer that cannot be decided is refused, and not guessed`() async throws {
        let asked = IntroductoryOfferRequest(
            bundleID: "com.example.app",
            productID: "com.example.pro.monthly",
            customer: Customer(transactionID: "2000000123456789")
        )
        let error = await #expect(throws: OfferSignerError.self) { _ = try await client.signIntroductoryOffer(asked) }
        #expect(error?.problem == "eligibility-undecided")
    }

    @Test func `a login is linked, and linked once`() async throws {
        let transfer = Transfer(anonymousID: "anonymous-\(customer)", customerID: customer, bundleID: "com.example.app")
        #expect(try await client.transfer(transfer).isRepeated == false)
        let again = try await client.transfer(transfer)
        #expect(again.isRepeated && abs(again.transferredAt.timeIntervalSinceNow) < 600)
    }

    @Test func `a wrong key is refused`() async throws {
        let stranger = OfferSignerClient(url: try #require(TestedService.url), token: "wrong")
        let error = await #expect(throws: OfferSignerError.self) {
            _ = try await stranger.signPromotionalOffer(request())
        }
        #expect(error?.problem == "unauthenticated")
    }
}
