// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Foundation
import OfferDomain
import OfferService
import Storage
import TestSupport

@testable import Ledger
@testable import Stores

/// How a service under test gets evidence about a customer.
enum Way: String, CaseIterable, Sendable {
    /// The app sends what StoreKit gave it.
    case signedData
    /// The service asks the store.
    case api
    /// The store reported it before.
    case notifications
}

/// A service beside a fake App Store that signs and answers for it.
struct StoreService: Sendable {
    let service: TestService
    let store: FakeAppStore
    /// The token of the customer that ``customer(_:)`` makes.
    let token = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"

    /// Makes one customer with purchases that carry ``token``.
    func customer(
        _ subscriptions: [FakeAppStore.Subscription],
        purchases: [FakeAppStore.Members] = []
    ) throws -> FakeAppStore.CustomerIDs {
        try store.setCustomer(
            FakeAppStore.Customer(
                "anna",
                appAccountToken: token,
                subscriptions: subscriptions,
                purchases: purchases
            )
        )
    }

    /// Asks for an offer in the way that is to be tried; `transactionID` is any of the customer's.
    ///
    /// What notifications tell must have been delivered before.
    func ask(_ offer: String, by way: Way, _ transactionID: String, isSubscription: Bool = true) async throws -> Reply {
        switch way {
        case .signedData: try await service.send(signedDataCall(offer, transactionID, isSubscription))
        case .api: try await service.send(apiCall(offer, transactionID))
        case .notifications: try await service.send(service.call(as: "backend", body(offer)))
        }
    }

    /// A request of an app that sends what StoreKit gave it.
    func signedDataCall(_ offer: String, _ transactionID: String, _ isSubscription: Bool = true) throws -> Call {
        var members = #""signedTransactions": ["\#(try store.signTransaction(transactionID, latest: true))"]"#
        if isSubscription { members += #", "signedRenewalInfo": ["\#(try store.signRenewalInfo(transactionID))"]"# }
        return service.call(as: "app", body(offer, members))
    }

    /// A request of a backend that names a transaction.
    func apiCall(_ offer: String, _ transactionID: String) -> Call {
        service.call(as: "backend", body(offer, #""transactionId": "\#(transactionID)""#))
    }

    /// A request for the introductory offer of the product; `members` are more of them, without braces.
    func introductoryCall(
        as caller: String,
        product: String = "com.example.monthly",
        _ members: String
    ) -> Call {
        service.introductoryCall(as: caller, product: product, members)
    }

    /// The body of a request for ``token``.
    func body(_ offer: String, _ members: String = "") -> String {
        let more = members.isEmpty ? "" : ", \(members)"
        return """
            {"bundleId": "com.example.app", "productId": "com.example.monthly", "offerId": "\(offer)", \
            "appAccountToken": "\(token)"\(more)}
            """
    }

    /// Sends a notification as Apple does, and demands that it is taken.
    func deliver(_ notification: FakeAppStore.Notification) async throws {
        let reply = try await send(notification)
        guard reply.status == 200 else { throw ChildProcess.Failure("a notification was answered \(reply)") }
    }

    /// Sends a notification as Apple does.
    @discardableResult
    func send(_ notification: FakeAppStore.Notification) async throws -> Reply {
        try await service.send(.notification(try store.signNotification(notification).body))
    }
}

extension Call {
    /// What Apple posts: no API key.
    static func notification(_ body: String) -> Call {
        Call(
            path: "/v1/notifications/app-store",
            fields: [("Content-Type", "application/json")],
            body: Array(body.utf8)
        )
    }
}

extension RetryPolicy {
    /// Pauses little and waits for long: a busy machine must not be taken for a store that does not answer.
    static let patient = RetryPolicy(
        attempts: 2,
        firstPauseMilliseconds: 10,
        attemptMilliseconds: 20_000,
        overallMilliseconds: 40_000
    )
}

/// Runs `body` beside a service and a fake App Store of its own.
func withStoreService(
    _ wire: Wire = .inProcess,
    asksStore: Bool = true,
    retries: RetryPolicy = .patient,
    environments: [StoreEnvironment] = StoreEnvironment.allCases,
    compaction: CompactionOptions = CompactionOptions(),
    identityProviders: String = "[]",
    moreOffers: String = "",
    offers: String? = nil,
    retentionMilliseconds: Int64 = 60_000,
    maximumWaiting: Int = 4096,
    changing: (inout TestFiles) -> Void = { _ in },
    wrap: @escaping TestService.Wrap = { $0 },
    _ body: (StoreService) async throws -> Void
) async throws {
    let store = try FakeAppStore()
    defer { store.stop() }
    var files = TestFiles()
    files.keys = storeKeys(asksStore: asksStore).replacing(
        "customerIds:",
        with: "identityProviders: \(identityProviders), customerIds:"
    )
    let listed = environments.map { #""\#($0.rawValue)""# }.joined(separator: ", ")
    files.offers = (offers ?? storeOffers).replacing("appAppleId:", with: "environments: [\(listed)], appAppleId:")
    files.offers = files.offers.replacing(#"{id: "open","#, with: moreOffers + #"{id: "open","#)
    files.retentionMilliseconds = retentionMilliseconds
    files.privateKeys = ["active.p8"]
    files.showsFindingsToApps = true
    // Tests ask more than one device may.
    files.settings = [.appRatePerAddress: "none"]
    files.appStore = TestFiles.StorePlace(
        productionURL: store.apiOrigin(.production, .https),
        sandboxURL: store.apiOrigin(.sandbox, .https),
        rootsPath: store.rootPEMPath,
        trustedCertificatesPath: store.tlsCAPath,
        retries: retries
    )
    changing(&files)
    // The store's signatures and our tokens are of the present.
    let clock = SettableClock(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    try await withService(
        wire,
        files,
        clock: clock,
        maximumWaiting: maximumWaiting,
        compaction: compaction,
        wrap: wrap
    ) { service in
        try store.registerKey(
            keyID: "ACTIVE0001",
            issuerID: TestFiles.issuerID,
            publicKeyPEM: service.publicKeys["active.p8"]?.pem ?? "",
            bundleIDs: ["com.example.app"]
        )
        try await body(StoreService(service: service, store: store))
    }
}

private func storeKeys(asksStore: Bool) -> String {
    let signing = #""promotional-offer", "introductory-offer-eligibility""#
    let purposes = asksStore ? signing + #", "app-store-server-api""# : signing
    return """
        {
          keys: [{id: "ACTIVE0001", issuerId: "\(TestFiles.issuerID)", file: "active.p8",
                  bundleIds: ["com.example.app"], purposes: [\(purposes)]}],
          customerIds: {epoch: "1", file: "customer-ids.key"},
          auditLog: {origin: "example.com/log", file: "audit-log.key"},
        }
        """
}

private let storeOffers = """
    {
      apps: [{
        bundleId: "com.example.app",
        appAppleId: 1234567890,
        plans: [{
          appStore: {productId: "com.example.monthly", subscriptionGroupId: "20000001"},
          offers: [
            {id: "open", appStore: {offerId: "store_open"}},
            {id: "lapsed", appStore: {offerId: "store_lapsed"},
             eligibility: {all: [{status: {in: ["expired"]}}, {lapsed: {atLeastDays: 30}}]}},
            {id: "running", appStore: {offerId: "store_running"}, eligibility: {status: {in: ["active"]}}},
            {id: "stay", appStore: {offerId: "store_stay"}, eligibility: {autoRenew: "off"}},
            {id: "grace", appStore: {offerId: "store_grace"}, eligibility: {status: {in: ["inGracePeriod"]}}},
            {id: "unused", appStore: {offerId: "store_unused"},
             eligibility: {usedOffers: {type: "promotional", atMost: 0}}},
            {id: "unrefunded", appStore: {offerId: "store_unrefunded"},
             eligibility: {not: {refunded: {withinDays: 365}}}},
            {id: "own", appStore: {offerId: "store_own"}, eligibility: {ownership: "purchased"}},
            {id: "american", appStore: {offerId: "store_american"}, eligibility: {storefront: {in: ["USA"]}}},
            {id: "patient", appStore: {offerId: "store_patient"}, eligibility: {status: {in: ["expired"]}},
             facts: {maximumAgeHours: 1, whenStoreIsDownUseUpToHours: 72}},
            {id: "once_a_customer", appStore: {offerId: "store_once_a_customer"}, eligibility: {grants: {atMost: 1}}},
            {id: "once", appStore: {offerId: "store_once"},
             eligibility: {grants: {atMost: 1, per: "originalTransaction"}}},
            {id: "thrice", appStore: {offerId: "store_thrice"}, eligibility: {grants: {atMost: 3}}},
            {id: "now_and_then", appStore: {offerId: "store_now_and_then"}, eligibility: {cooldown: {days: 30}}},
          ],
          introductoryOffer: {id: "trial"},
        }, {
          appStore: {productId: "com.example.weekly", subscriptionGroupId: "20000003"},
          introductoryOffer: {id: "trial_once", eligibility: {grants: {atMost: 1}}},
        }, {
          appStore: {productId: "com.example.yearly", subscriptionGroupId: "20000001"},
          introductoryOffer: {id: "for_subscribers", eligibility: {status: {in: ["active"]}}},
        }],
      }],
    }
    """
