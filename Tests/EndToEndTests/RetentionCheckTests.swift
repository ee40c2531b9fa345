// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// An app with two plans and three messages, for commands about Retention Messaging.
enum RetentionExample {
    static let plain = "10000000-0000-4000-8000-000000000001"
    static let change = "10000000-0000-4000-8000-000000000002"
    static let offer = "10000000-0000-4000-8000-000000000003"
    static let german = "10000000-0000-4000-8000-000000000004"
    static let url = "https://offers.example.com/v1/retention/app-store/com.example.app"
    static let approved = [plain, change, offer, german].map { FakeAppStore.RetentionMessage($0) }
    static let defaults = [
        "com.example.basic/en-US": plain, "com.example.basic/de-AT": plain, "com.example.pro.monthly/en-US": plain,
        "com.example.pro.monthly/de-AT": plain,
    ]

    static func offers(environments: String = #"["production", "sandbox"]"#, more: String = "") -> String {
        """
        {
          apps: [{
            bundleId: "com.example.app", appAppleId: 1234567890, environments: \(environments),
            retention: {message: "\(plain)"},
            plans: [{
              appStore: {productId: "com.example.pro.monthly", subscriptionGroupId: "21234567"},
              retention: {switchTo: {productId: "com.example.basic", message: "\(change)"}},
              offers: [{id: "stay", appStore: {offerId: "stay_half_price"}, eligibility: {grants: {atMost: 1}},
                        retention: {message: {default: "\(offer)", "de-at": "\(german)"}}}],
            }, {appStore: {productId: "com.example.basic", subscriptionGroupId: "21234567"}}],
          }\(more)],
        }
        """
    }

    /// The demo with these offers, and a key that the store takes.
    static func demo(_ store: FakeAppStore, offers: String = offers()) async throws -> DemoFolder {
        let demo = try await DemoFolder()
        try demo.edit("keys", replacing: "purposes: [", with: #"purposes: ["app-store-server-api", "#)
        try demo.write(offers, to: "offers")
        try store.registerKey(
            keyID: "ABC123DEFG",
            issuerID: EndToEnd.LiveCheckTests.issuer,
            publicKeyPEM: demo.text(of: "public-key.pem"),
            bundleIDs: [DemoFolder.bundle]
        )
        return demo
    }
}

extension EndToEnd {
    /// `offer-signer check --live`: the catalog's retention messages next to the App Store's.
    // Its tests share one fake store.
    @Suite(.serialized) struct RetentionCheckTests {
        private static let shared = Result { try FakeAppStore() }

        private let store: FakeAppStore
        private let demo: DemoFolder

        init() async throws {
            store = try Self.shared.get()
            try store.reset()
            demo = try await RetentionExample.demo(
                store,
                offers: RetentionExample.offers(environments: #"["production"]"#)
            )
        }

        private func check() async throws -> (outcome: ProcessOutcome, text: String) {
            let outcome = try await Program.run(
                [
                    "check", "--live", "--app-store-url", store.apiOrigin(.production), "--app-store-sandbox-url",
                    store.apiOrigin(.sandbox), "--trusted-certificates", store.tlsCAPath,
                ] + demo.options()
            )
            return (outcome, outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        }

        @Test func `what is as the catalog says is right, in both environments`() async throws {
            try demo.write(RetentionExample.offers(), to: "offers")
            for environment in FakeAppStore.Environment.allCases {
                try store.setMessaging(
                    RetentionExample.approved,
                    realtimeURL: RetentionExample.url,
                    defaults: RetentionExample.defaults,
                    in: environment
                )
            }
            let (outcome, text) = try await check()
            #expect(outcome.succeeded, "\(outcome)")
            for phrase in [
                "com.example.app production: 4 messages, 4 approved", "com.example.app sandbox: 4 messages, 4 approved",
                "does not list which messages have an image", "No difference matters.",
            ] { #expect(text.contains(phrase), "\(phrase): \(outcome)") }
            #expect(!outcome.output.contains("→"), "\(outcome)")
            #expect(try store.counts().tokens == 1)
        }

        @Test func `each difference names the member, what is expected, and what to do`() async throws {
            try store.setMessaging(
                [
                    .init(RetentionExample.plain, "PENDING"), .init(RetentionExample.change.uppercased(), "REJECTED"),
                    .init(RetentionExample.offer, image: "picture"),
                ],
                realtimeURL: "https://offers.example.com/v1/retention/app-store/com.example.APP",
                in: .production
            )
            let (outcome, text) = try await check()
            #expect(outcome.end == .exited(1), "\(outcome)")
            for phrase in [
                "→ retention.message: message \(RetentionExample.plain) is PENDING, and expected is APPROVED. Wait",
                "→ plan com.example.pro.monthly, retention.switchTo.message: message \(RetentionExample.change) is REJECTED",
                "→ offer stay, retention.message.default: message \(RetentionExample.offer) has an image",
                "→ offer stay, retention.message.de-AT: production lists no message \(RetentionExample.german)",
                "→ real-time URL: https://offers.example.com/v1/retention/app-store/com.example.APP does not end with",
                "note: no default message for locale de-AT: com.example.basic, com.example.pro.monthly.",
                "note: no default message for locale en-US:", "5 to be put right.",
            ] { #expect(text.contains(phrase), "\(phrase): \(outcome)") }
            #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 115 || !$0.hasPrefix("    ") })
        }

        @Test func `a URL that is not configured, or not https, is wrong`() async throws {
            for (url, phrase) in [
                (nil, "none is configured; expected is https://YOUR-SERVICE/v1/retention/app-store/com.example.app"),
                ("http://offers.example.com/v1/retention/app-store/com.example.app", "is no https URL"),
            ] {
                try store.setMessaging(
                    RetentionExample.approved,
                    realtimeURL: url,
                    defaults: RetentionExample.defaults,
                    in: .production
                )
                let (outcome, text) = try await check()
                #expect(outcome.end == .exited(1) && text.contains(phrase), "\(outcome)")
            }
        }

        @Test func `a team without access gets a note, not an error`() async throws {
            for misbehaviour: FakeAppStore.Misbehaviour? in [nil, .status(403)] {
                if let misbehaviour { try store.misbehave(misbehaviour, at: .messageList) }
                let (outcome, text) = try await check()
                #expect(outcome.succeeded && text.contains("note: Retention Messaging is not granted"), "\(outcome)")
            }
        }

        /// What the list of messages is answered instead, how the check ends, and what it says.
        static let rows: [(FakeAppStore.Misbehaviour, Int32, String)] = [
            (.rateLimit, 3, "limits how often it is asked (429)"), (.status(503), 3, "fails by itself (503)"),
            (.close, 3, "could not be reached"), (.wrongJSON, 1, "is no answer of the Retention Messaging API"),
            (.answer(body: #"{"messageIdentifiers": [{"messageState": "APPROVED"}]}"#), 1, "is no answer of"),
            (.unauthorized, 1, "refuses the key (401)"),
            (.error(4_030_099), 1, "refuses the question (403, code 4030099)"),
            (.slow(milliseconds: 12_000), 3, "could not be reached"),
        ]

        @Test(arguments: rows)
        func `a list that does not come as it should is said`(
            misbehaviour: FakeAppStore.Misbehaviour,
            code: Int32,
            phrase: String
        ) async throws {
            try store.setMessaging(RetentionExample.approved, realtimeURL: RetentionExample.url, in: .production)
            try store.misbehave(misbehaviour, at: .messageList)
            let (outcome, text) = try await check()
            #expect(outcome.end == .exited(code) && text.contains(phrase), "\(outcome)")
        }

        @Test func `the rest is compared where one question has no answer`() async throws {
            try store.setMessaging(RetentionExample.approved, realtimeURL: RetentionExample.url, in: .production)
            try store.misbehave(.status(500), at: .realtimeURL)
            try store.misbehave(.rateLimit, at: .defaultMessage)
            let (outcome, text) = try await check()
            #expect(outcome.end == .exited(3), "\(outcome)")
            for phrase in ["4 messages, 4 approved", "real-time URL: not read", "default message of com.example.basic"]
            {
                #expect(text.contains(phrase), "\(phrase): \(outcome)")
            }
            #expect(try store.counts().requests(to: .defaultMessage) == 1)
        }
    }
}
