// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferDomain
import OfferService
import TestSupport
import Testing

/// Messages of ``retentionOffers``.
enum Shown {
    static let anything = "10000000-0000-4000-8000-000000000001"
    static let anythingInGerman = "10000000-0000-4000-8000-000000000002"
    static let weekly = "10000000-0000-4000-8000-000000000003"
    static let alternative = "10000000-0000-4000-8000-000000000004"
    static let once = "10000000-0000-4000-8000-000000000005"
    static let onceInGerman = "10000000-0000-4000-8000-000000000006"
    static let yearly = "10000000-0000-4000-8000-000000000007"
    static let five = "10000000-0000-4000-8000-000000000008"
}

/// Three products of one group, two of them with offers, and one product of another group.
let retentionOffers = """
    {
      apps: [{
        bundleId: "com.example.app",
        appAppleId: 1234567890,
        retention: {message: {default: "\(Shown.anything)", de: "\(Shown.anythingInGerman)"}},
        plans: [{
          appStore: {productId: "com.example.yearly", subscriptionGroupId: "20000001"},
          offers: [{id: "yearly", appStore: {offerId: "store_yearly"}, retention: {message: "\(Shown.yearly)"},
                    eligibility: {all: [{status: {in: ["inGracePeriod"]}}, {grants: {atMost: 1}}]}}],
        }, {
          appStore: {productId: "com.example.monthly", subscriptionGroupId: "20000001"},
          retention: {switchTo: {productId: "com.example.yearly", message: "\(Shown.alternative)",
                                 billingPlanType: "MONTHLY"}},
          offers: [{id: "once", appStore: {offerId: "store_once"}, eligibility: {grants: {atMost: 1}},
                    retention: {message: {default: "\(Shown.once)", "de-AT": "\(Shown.onceInGerman)"}}},
                   {id: "unshown", appStore: {offerId: "store_unshown"}}],
        }, {
          appStore: {productId: "com.example.five", subscriptionGroupId: "20000005"},
          offers: [{id: "five", appStore: {offerId: "store_five"}, retention: {message: "\(Shown.five)"},
                    eligibility: {budget: {atMost: 5, perDays: 1}}}],
        }, {
          appStore: {productId: "com.example.weekly", subscriptionGroupId: "20000003"},
          retention: {message: "\(Shown.weekly)"},
        }],
      }, {
        bundleId: "com.example.other",
        plans: [{appStore: {productId: "other.monthly"}, offers: [{id: "open", appStore: {offerId: "open"}}]}],
      }],
    }
    """

extension Call {
    /// What Apple posts before a subscriber cancels: no API key.
    static func retention(_ body: String, app: String = "com.example.app") -> Call {
        Call(
            path: "/v1/retention/app-store/\(app)",
            fields: [("Content-Type", "application/json")],
            body: Array(body.utf8)
        )
    }
}

extension StoreService {
    /// A subscriber of a product, by the id that begins the subscription.
    func subscriber(
        of product: String = "com.example.monthly",
        _ name: String = "anna",
        environment: FakeAppStore.Environment = .production
    ) throws -> String {
        let subscription = FakeAppStore.Subscription(.active, productID: product, group: "20000001")
        let ids = try store.setCustomer(
            FakeAppStore.Customer(name, environment: environment, subscriptions: [subscription])
        )
        return ids.subscriptions[0].originalTransactionID
    }

    /// Asks as Apple does.
    func ask(
        about id: String,
        changing members: FakeAppStore.Members = [:],
        fault: FakeAppStore.Fault? = nil,
        app: String = "com.example.app"
    ) async throws -> Reply {
        let body = try store.signRealtimeRequest(id, changing: members, fault: fault).body
        return try await service.send(.retention(body, app: app))
    }

    /// How many requests were answered so.
    func count(_ answer: String, _ reason: String) -> Int {
        service.metrics[.retentionAnswers(app: "com.example.app", answer: answer, reason: reason)]
    }
}

extension Reply {
    /// Which of the answers it is, and its message; `nil` unless it is exactly one.
    var shown: (answer: String, message: String?)? {
        guard status == 200, headers["content-type"] == "application/json", json.names.count == 1,
            let name = json.names.first
        else { return nil }
        return (name, json[name]["messageIdentifier"].text)
    }

    /// The offer's JWS.
    var shownOffer: SignedAnswer {
        SignedAnswer(.object(["jws": json["promotionalOffer"]["promotionalOfferSignatureV2"]]))
    }
}

/// Runs `body` beside a service that has the catalog ``retentionOffers`` and could ask the store.
func withRetention(
    _ wire: Wire = .inProcess,
    environments: [StoreEnvironment] = StoreEnvironment.allCases,
    milliseconds: Int64 = 60_000,
    maximumWaiting: Int = 4096,
    changing: (inout TestFiles) -> Void = { _ in },
    wrap: @escaping TestService.Wrap = { $0 },
    _ body: (StoreService) async throws -> Void
) async throws {
    try await withStoreService(
        wire,
        environments: environments,
        offers: retentionOffers,
        retentionMilliseconds: milliseconds,
        maximumWaiting: maximumWaiting,
        changing: changing,
        wrap: wrap,
        body
    )
}
