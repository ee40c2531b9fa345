// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `offer-signer check --live` with the fake Google Play: what is odd is said, and each use of a key is on record.
    // Its tests share one fake store.
    @Suite(.serialized) struct GooglePlayLiveCheckTests {
        private static let shared = Result { try FakeGooglePlay() }
        private static let account = FakeGooglePlay.accountEmail

        private let play: FakeGooglePlay
        private let demo: DemoFolder
        private let key: FakeGooglePlay.AccountKey

        init() async throws {
            play = try Self.shared.get()
            try play.reset()
            try play.setServiceAccount()
            key = try play.addKey()
            demo = try await DemoFolder()
            try demo.edit(
                "keys",
                replacing: "keys: [",
                with: #"googleServiceAccounts: [{packageNames: ["com.example.app"], file: "\#(key.path)"}], keys: ["#
            )
            try demo.write(Self.offers("winback-50"), to: "offers")
            try play.setSubscription(.init("premium"))
            try play.setOffer(.init("winback-50", of: "premium"))
        }

        /// An offers file with these offers of one base plan, named as at the store.
        private static func offers(_ ids: String..., app: String = "") -> String {
            let offers = ids.map { #"{id: "\#($0)", googlePlay: {offerId: "\#($0)"}}"# }.joined(separator: ", ")
            return """
                {apps: [{packageName: "com.example.app", \(app) plans: [
                  {id: "premium", googlePlay: {productId: "premium", basePlanId: "monthly"}, offers: [\(offers)]}]}]}
                """
        }

        private func check() async throws -> ProcessOutcome {
            try await Program.run(
                [
                    "check", "--live", "--google-play-url", play.origin(), "--google-oauth-url", play.origin(),
                    "--play-integrity-url", play.origin(), "--trusted-certificates", play.tlsCAPath,
                ] + demo.options()
            )
        }

        private func assertionsOnRecord() async throws -> Int {
            let outcome = try await Program.run(
                ["audit", "query", "--event", "store.token", "--database", demo.location]
            )
            return outcome.output.split(separator: "\n").count { $0.contains(Self.account) }
        }

        private func expect(_ outcome: ProcessOutcome, _ exitCode: Int32, _ phrases: String...) {
            #expect(outcome.end == .exited(exitCode), "\(outcome)")
            let text = outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            for phrase in phrases { #expect(text.contains(phrase), "\(phrase): \(outcome)") }
        }

        @Test func `offers that are set up well need nothing, and two questions`() async throws {
            let outcome = try await check()
            expect(
                outcome,
                0,
                "com.example.app 1 subscription, 1 offer; 1 of 1 in the offers file can be authorized",
                "0 errors, 0 warnings, 0 notes."
            )
            #expect(outcome.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("warning: ") }, "\(outcome)")
            #expect(!outcome.output.contains("App Store Server API"), "\(outcome)")
            let counts = try play.counts()
            #expect(counts.requests(to: .subscriptions) == 1 && counts.requests(to: .offers) == 1)
            #expect(try await assertionsOnRecord() == 1)
            #expect(!outcome.output.contains("eyJ"))
        }

        @Test func `what is odd is said, with what to do about it`() async throws {
            try demo.write(Self.offers("winback-50", "retention-30", "student", "loyalty-20"), to: "offers")
            try play.setSubscription(
                .init("premium", basePlans: [.init("monthly", legacyCompatibleOfferID: "winback-50")])
            )
            try play.setOffer(.init("retention-30", of: "premium", tags: ["rc-ignore-offer"]))
            try play.setOffer(.init("student", of: "premium", state: "DRAFT"))
            try play.setOffer(.init("trial-7d", of: "premium", targeting: .acquisition()))
            try play.setOffer(.init("summer", of: "premium", tags: [], regions: ["US", "DE", "FR"]))
            let outcome = try await check()
            expect(
                outcome,
                1,
                "1 subscription, 5 offers; 1 of 4 in the offers file can be authorized",
                "error hide-tag-missing premium/monthly/retention-30",
                "only rc-ignore-offer, not ignore-offer. → Add the tag ignore-offer",
                "error offer-draft premium/monthly/student",
                "error offer-not-found premium/monthly/loyalty-20",
                "warning legacy-offer-not-hidden premium/monthly/winback-50",
                "warning hide-tag-on-acquisition-offer premium/monthly/trial-7d",
                "warning hide-tag-missing premium/monthly/summer",
                "warning region-without-base-plan premium/monthly/summer",
                "note offer-not-in-catalog premium/monthly/summer"
            )
        }

        @Test(arguments: FakeGooglePlay.Habits.EmptyLists.allCases)
        func `reports an app without offers as empty, not as unreadable`(
            _ way: FakeGooglePlay.Habits.EmptyLists
        ) async throws {
            try play.reset()
            try play.setHabits(.init(emptyLists: way))
            expect(try await check(), 1, "0 subscriptions, 0 offers", "error subscription-not-found")
        }

        @Test func `pages of one, backwards and with every default written, come to the same`() async throws {
            for id in ["a", "b", "c"] {
                try play.setSubscription(.init(id))
                try play.setOffer(.init("winback-50", of: id))
            }
            let before = try await check()
            try play.setHabits(.init(writesDefaults: true, largestPage: 1, reversesLists: true))
            let after = try await check()
            expect(after, 0, "4 subscriptions, 4 offers", "3 notes")
            #expect(before.output == after.output)
        }

        @Test func `reports an account without rights for the app`() async throws {
            try play.setServiceAccount(packageNames: ["com.example.other"])
            expect(try await check(), 1, "not read:", "Users and permissions", "1 app not read.")
        }

        @Test func `reports a deleted key, and its use is on record`() async throws {
            try play.deleteKey(key.keyID)
            let outcome = try await check()
            expect(outcome, 1, "not read: credentials-refused", "still exist in Google Cloud")
            #expect(outcome.errors.contains("Invalid JWT Signature"), "\(outcome)")
            #expect(try await assertionsOnRecord() == 1)
        }

        @Test func `reports an app without an account, and sends no request`() async throws {
            try demo.edit(
                "keys",
                replacing: #"[{packageNames: ["com.example.app"], file:"#,
                with: #"[{packageNames: ["com.example.other"], file:"#
            )
            expect(try await check(), 1, "com.example.app not asked: no service account")
            #expect(try play.counts().connections == 0)
        }

        @Test func `a store that fails has an exit code of its own`() async throws {
            try play.misbehave(.error(.backendError))
            expect(try await check(), 3, "not read: unavailable", "Check again later.")
        }

        @Test func `reports whether Google decodes Play Integrity tokens, and what to do`() async throws {
            try demo.write(Self.offers("winback-50", app: #"playIntegrity: {policy: "prefer"},"#), to: "offers")
            let question = "Whether Google decodes tokens of Play Integrity"
            expect(try await check(), 0, question, "com.example.app yes")
            #expect(try play.counts().requests(to: .integrity) == 1)
            #expect(try await assertionsOnRecord() == 2, "one for each API")
            try play.misbehave(.error(.accessNotConfigured), at: .integrity)
            expect(try await check(), 1, "com.example.app no: not-permitted", "Enable the Play Integrity API in the")
            try play.behave()
            try play.misbehave(.error(.badRequest, message: "App is not found."), at: .integrity)
            expect(try await check(), 1, "com.example.app no: app-unknown", "link the service account's Google Cloud")
            try play.behave()
            try play.misbehave(.error(.backendError), at: .integrity)
            expect(try await check(), 3, "com.example.app no: unavailable", "Check again later.")
            try demo.write(Self.offers("winback-50"), to: "offers")
            #expect(try await !check().output.contains(question))
        }

        @Test func `a page that is missing hides no offer`() async throws {
            try play.setHabits(.init(largestPage: 1))
            try play.setOffer(.init("zzz", of: "premium"))
            try play.misbehave(.error(.backendError), at: .offers)
            let outcome = try await check()
            expect(outcome, 3, "not read: unavailable")
            #expect(!outcome.output.contains("offer-not-found"))
        }
    }
}
