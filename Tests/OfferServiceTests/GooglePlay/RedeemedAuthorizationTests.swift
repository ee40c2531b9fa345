// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import TestSupport
import Testing

/// Caps with `counting: "redeemed"`, at Google Play and over both stores.
@Suite(.overBothEngines) struct RedeemedAuthorizationTests {
    private static func catalog(_ rule: String) -> String {
        """
        {
          apps: [{
            bundleId: "com.example.app", packageName: "\(FakeGooglePlay.firstApp)",
            plans: [{
              appStore: {productId: "pro.monthly", subscriptionGroupId: "1"},
              googlePlay: {productId: "premium", basePlanId: "monthly"},
              offers: [{id: "back", appStore: {offerId: "store_back"}, googlePlay: {offerId: "winback-50"},
                eligibility: {\(rule)}}],
            }],
          }],
        }
        """
    }

    private static let members = #""customerId": "anna", "facts": {"subscribedBefore": true}"#

    /// What became of an authorization, and whether the customer gets another one.
    private struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let hours: Int
        let isUsed: Bool
        let storeReports: Bool
        let isGivenBack: Bool
    }

    private static let rows = [
        Row(
            testDescription: "a payment may still be pending",
            hours: 95,
            isUsed: false,
            storeReports: true,
            isGivenBack: false
        ),
        Row(testDescription: "it was not used", hours: 97, isUsed: false, storeReports: true, isGivenBack: true),
        Row(
            testDescription: "Google Play is silent",
            hours: 97,
            isUsed: false,
            storeReports: false,
            isGivenBack: false
        ),
        Row(testDescription: "it was used", hours: 97, isUsed: true, storeReports: true, isGivenBack: false),
    ]

    @Test(arguments: rows, ["granted", "redeemed"])
    private func `counts what was redeemed or still may be, and by default every grant`(
        row: Row,
        counting: String
    ) async throws {
        let rule = "grants: {atMost: 1, counting: \"\(counting)\"}"
        try await withFakePlay(.inProcess, offers: Self.catalog(rule), appStoreKey: true) { world in
            try world.service.change(bothStoresReport)
            let authorized = try await world.authorize("anna")
            if row.isUsed {
                let account = authorized["obfuscatedAccountId"].text
                try await world.deliver(
                    try world.buy(account: account, profile: authorized["obfuscatedProfileId"].text)
                )
                #expect(try world.redemptions().count == 1)
            }
            try world.pass(hours: row.hours)
            if row.storeReports { try await world.deliver(try world.play.buy(.init("premium", "yearly"))) }
            let again = try await world.service.send(world.authorizationCall(Self.members))
            let isAllowed = counting == "redeemed" && row.isGivenBack
            #expect(again.status == (isAllowed ? 200 : 403), "\(again)")
            #expect(try await world.service.send(world.authorizationCall(Self.members)).status == 403)
        }
    }

    @Test(arguments: [("both", 403, 200), ("each", 200, 200)])
    func `over both stores, each gives its grants back in its own time`(
        stores: String,
        reserved: Int,
        released: Int
    ) async throws {
        let rule = "grants: {atMost: 1, counting: \"redeemed\", stores: \"\(stores)\"}"
        try await withFakePlay(.inProcess, offers: Self.catalog(rule), appStoreKey: true) { world in
            try world.service.change(bothStoresReport)
            _ = try await world.authorize("anna")
            // The purchase will name the token.
            let members = #""appAccountToken": "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60", \#(Self.members)"#
            let call = world.service.call(
                as: "backend",
                #"{"bundleId": "com.example.app", "productId": "pro.monthly", "offerId": "back", \#(members)}"#
            )
            try world.pass(hours: 60)
            #expect(try await world.service.send(call).status == reserved)
            try world.pass(hours: 60)
            try world.service.change("UPDATE notified_apps SET last_report_at = 253402300799999")
            #expect(try await world.service.send(call).status == released)
            #expect(try await world.service.send(call).status == 403)
        }
    }

    @Test func `a grant in the App Store that no purchase would lead to is kept, in either store`() async throws {
        let rule = "grants: {atMost: 1, counting: \"redeemed\"}"
        try await withFakePlay(.inProcess, offers: Self.catalog(rule), appStoreKey: true) { world in
            try world.service.change(bothStoresReport)
            let call = world.service.call(
                as: "backend",
                #"{"bundleId": "com.example.app", "productId": "pro.monthly", "offerId": "back", \#(Self.members)}"#
            )
            #expect(try await world.service.send(call).status == 200)
            try world.pass(hours: 120)
            try world.service.change("UPDATE notified_apps SET last_report_at = 253402300799999")
            #expect(try await world.service.send(call).status == 403)
            #expect(try await world.service.send(world.authorizationCall(Self.members)).status == 403)
        }
    }
}

/// Both stores have reported about the app since long ago.
private let bothStoresReport: StaticString = """
    INSERT INTO notified_apps (store, store_app, first_report_at, last_report_at) VALUES
        ('google-play', 'com.example.app', 0, 0), ('app-store', 'com.example.app', 0, 0)
    """

extension FakePlayWorld {
    /// Lets time pass for the service and for Google Play.
    fileprivate func pass(hours: Int) throws {
        tick(seconds: hours * 3600)
        try play.setTime(milliseconds: service.clock.now.milliseconds)
    }
}
