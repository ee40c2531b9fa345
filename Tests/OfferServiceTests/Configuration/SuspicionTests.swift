// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import OfferDomain
import OfferService
import TestSupport
import Testing

/// Values that are well formed, and that can hardly be meant.
struct SuspicionTests {
    /// Files in which nothing is doubtful; each test changes some words.
    private static let keys = #"""
        {
          keys: [{id: "K3Y0000001", issuerId: "0f8c2d54-9d51-4bb2-8c2e-5a4d7c1b9e10", file: "active.p8",
                  bundleIds: ["com.acme.notes"], purposes: ["promotional-offer"]}],
          customerIds: {epoch: "1", file: "customer-ids.key"},
          auditLog: {origin: "log.acme.com/offers", file: "audit-log.key"},
        }
        """#
    private static let offers = #"""
        {apps: [{bundleId: "com.acme.notes", plans: [{
          appStore: {productId: "pro", subscriptionGroupId: "21234567"},
          offers: [{id: "back", appStore: {offerId: "back"},
                    eligibility: {usedOffers: {subscriptionGroupId: "31234567", atMost: 0}}}],
        }]}]}
        """#

    private func load(_ old: String = "", _ new: String = "", file: String = "active.p8") throws -> LoadedConfiguration
    {
        let directory = try TemporaryDirectory()
        var files = TestFiles()
        files.privateKeys = ["active.p8"]
        files.keys = Self.keys
        files.offers = Self.offers
        _ = try TestService.write(files, into: directory)
        if file != "active.p8" {
            try FileManager.default.moveItem(atPath: directory.path(of: "active.p8"), toPath: directory.path(of: file))
        }
        let keys = Self.keys.replacing("active.p8", with: file).replacing(old, with: new)
        try directory.write(Array(keys.utf8), to: "keys")
        try directory.write(Array(Self.offers.replacing(old, with: new).utf8), to: "offers")
        return try LoadedConfiguration(try TestService.settings(in: directory, files))
    }

    @Test func `says nothing of files that may be meant so`() throws {
        let loaded = try load("customer-ids", "customer-ids", file: "SubscriptionKey_K3Y0000001.p8")
        #expect(loaded.warnings.isEmpty && loaded.samples.isEmpty && loaded.ungrantable.isEmpty, "\(loaded.warnings)")
    }

    @Test(arguments: ["", #"appAttest: {teamId: "ABCDE12345", policy: "off"}, "#])
    func `warns of a rule that asks where the app is from, where no proof is looked at`(settings: String) throws {
        let (old, new) = (#"plans: ["#, settings + #"plans: ["#)
        let rule = #"usedOffers: {subscriptionGroupId: "31234567", atMost: 0}"#
        let asked = Self.offers.replacing(rule, with: #"appOrigin: {in: ["appStore"]}"#)
        let unproven = try load(Self.offers, asked.replacing(old, with: new)).warnings.map(\.description)
        #expect(
            unproven.contains { $0.contains("back asks appOrigin, and com.acme.notes has no appAttest") },
            "\(unproven)"
        )
        let unsaid = Self.offers.replacing(rule, with: "appLicensed: true")
            .replacing(old, with: #"appAttest: {teamId: "ABCDE12345", policy: "prefer"}, plans: ["#)
        let warnings = try load(Self.offers, unsaid).warnings.map(\.description)
        #expect(
            warnings.contains {
                $0.contains("back asks appLicensed, and the App Store does not say it of com.acme.notes")
            },
            "\(warnings)"
        )
        let proven = asked.replacing(old, with: #"appAttest: {teamId: "ABCDE12345", policy: "prefer"}, plans: ["#)
        #expect(try load(Self.offers, proven).warnings.isEmpty)
    }

    @Test(arguments: ["SubscriptionKey_ZZZ123DEFG.p8", "AuthKey_ZZZ123DEFG.p8"])
    func `warns of a file that is named for another key`(file: String) throws {
        let warnings = try load("pro", "pro", file: file).warnings.map(\.description)
        #expect(
            warnings.contains { $0.contains("named for the key ZZZ123DEFG, and the id here is K3Y0000001") },
            "\(warnings)"
        )
    }

    @Test(arguments: [("21234567", "Premium"), ("31234567", "Premium")])
    func `warns of a name in the place of a group's id, in a plan and in a rule`(id: String, name: String) throws {
        let warnings = try load(id, name).warnings.map(\.description)
        #expect(
            warnings.count == 1 && warnings[0].contains("subscriptionGroupId “Premium” is not an id"),
            "\(warnings)"
        )
    }

    @Test(arguments: [
        ("[\"com.acme.notes\"]", "[\"com.acme.Notes\"]", "com.acme.Notes, which differs only in letter case"),
        ("[\"com.acme.notes\"]", "[\"com.acme.note\"]", "did you mean com.acme.note?"),
        ("[\"com.acme.notes\"]", "[\"org.else\"]", "can't be signed"),
    ])
    func `says which app was meant where no key is for one`(old: String, new: String, words: String) throws {
        let loaded = try load(old, new)
        let warnings = loaded.warnings.map(\.description)
        #expect(warnings.count == 1 && warnings[0].contains(words), "\(warnings)")
        #expect(loaded.ungrantable.count == 1, "check --strict ends with 1")
    }

    @Test func `warns of a key's app beside the right one`() throws {
        let loaded = try load("[\"com.acme.notes\"]", "[\"com.acme.notes\", \"com.acme.Notes\", \"org.else\"]")
        let warnings = loaded.warnings.map(\.description)
        #expect(warnings.count == 1 && warnings[0].contains("a key is for com.acme.Notes"), "\(warnings)")
        #expect(loaded.ungrantable.isEmpty)
    }

    @Test(arguments: [
        ("log.acme.com", "example.com", "/auditLog/origin"), ("log.acme.com", "log.acme.example", "/auditLog/origin"),
        ("0f8c2d54-9d51-4bb2-8c2e-5a4d7c1b9e10", "57246542-96fe-1a63-e053-0824d011072a", "/keys/0/issuerId"),
        ("K3Y0000001", "2X9R4HXF34", "/keys/0/id"),
        (
            "bundleId: \"com.acme.notes\"", "bundleId: \"com.acme.notes\", appAppleId: 1234567890",
            "appAppleId 1234567890"
        ),
    ])
    func `warns of sample values`(old: String, new: String, words: String) throws {
        let samples = try load(old, new).samples.map(\.description)
        #expect(samples.count == 1 && samples[0].contains(words), "\(samples)")
    }

    @Test(arguments: [
        ("counting: \"granted\"", "", []), ("counting: \"redeemed\"", "appAppleId: 47110815, ", ["google"]),
        ("counting: \"redeemed\"", "", ["apple", "google"]),
        ("counting: \"redeemed\"", "environments: [\"sandbox\"], ", ["google"]),
    ])
    func `warns of caps that count redemptions, and that no store can report`(
        counting: String,
        app: String,
        stores: [String]
    ) throws {
        let offers = """
            {apps: [{bundleId: "com.acme.notes", packageName: "com.acme.android", \(app)plans: [{
              appStore: {productId: "pro", subscriptionGroupId: "21234567"},
              googlePlay: {productId: "pro", basePlanId: "monthly"},
              offers: [{id: "back", appStore: {offerId: "back"}, googlePlay: {offerId: "back"},
                        eligibility: {any: [{grants: {atMost: 1, \(counting)}}]}}],
            }]}]}
            """
        let warnings = try load(Self.offers, offers).warnings.map(\.description).filter { $0.contains("counting") }
        let words = ["apple": "com.acme.notes needs its appAppleId", "google": "com.acme.android need --google-push"]
        #expect(warnings.count == stores.count, "\(warnings)")
        for (warning, store) in zip(warnings, stores) { #expect(warning.contains(words[store] ?? "?"), "\(warning)") }
    }

    @Test func `warns of a caller for an app that there is not`() throws {
        let apps = try Set(["com.acme.notes", "com.acme.Notes"].map { try AppName($0) })
        let caller = Caller(id: try #require(CallerID("web")), role: .backend, apps: apps)
        let issues = try load("pro", "pro").catalog.issues(of: [caller]).map(\.description)
        #expect(issues.count == 1 && issues[0].contains("caller web: may ask for com.acme.Notes"), "\(issues)")
        #expect(issues.first?.contains("com.acme.notes, which differs only in letter case") == true)
    }
}
