// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `offer-signer check --live` with a key for App Store Connect: the catalog next to what is set up there.
    // Its tests share one fake store.
    @Suite(.serialized) struct ConnectCheckTests {
        private static let shared = Result { try FakeAppStore() }
        private static let issuer = "6a1b7e02-93d5-4c1e-8f2a-0d5c3b4a2e19"

        private let store: FakeAppStore
        private let demo: DemoFolder

        init() async throws {
            store = try Self.shared.get()
            try store.reset()
            demo = try await DemoFolder()
            let key = try KeyTool.makeKey()
            try demo.directory.write(key, to: "demo/AuthKey_DEF456GHIJ.p8")
            let path = demo.path(of: "AuthKey_DEF456GHIJ.p8")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            let entry =
                #"appStoreConnect: {id: "DEF456GHIJ", issuerId: "\#(Self.issuer)", file: "AuthKey_DEF456GHIJ.p8"},"#
            try demo.edit("keys", replacing: "  customerIds: {", with: "  \(entry)\n  customerIds: {")
            let publicKey = try KeyTool.openssl("pkey", "-pubout", input: key)
            try store.registerConnectKey(
                keyID: "DEF456GHIJ",
                issuerID: Self.issuer,
                publicKeyPEM: String(decoding: publicKey, as: UTF8.self)
            )
        }

        private func setUp(
            id: String = "1234567890",
            group: String = "21234567",
            state: String = "APPROVED",
            offers: [String] = ["winback_3m", "stay_half_price"]
        ) throws {
            let monthly = FakeAppStore.ConnectSubscription(
                id: "s1",
                productID: "com.example.pro.monthly",
                state: state,
                offers: offers
            )
            let yearly = FakeAppStore.ConnectSubscription(
                id: "s2",
                productID: "com.example.pro.yearly",
                offers: ["yearly_upgrade"]
            )
            // Another app whose bundle id begins alike: Apple's filter matches it too.
            let other = FakeAppStore.ConnectApp(id: "9", bundleID: "com.example.app.beta", name: "Beta", groups: [])
            let groups = [FakeAppStore.ConnectGroup(id: group, name: "Pro", subscriptions: [monthly, yearly])]
            let app = FakeAppStore.ConnectApp(id: id, bundleID: DemoFolder.bundle, name: "Example", groups: groups)
            try store.setConnect([other, app])
        }

        private func check() async throws -> (outcome: ProcessOutcome, text: String) {
            let outcome = try await Program.run(
                [
                    "check", "--live", "--app-store-connect-url", store.apiOrigin(.production),
                    "--trusted-certificates",
                    store.tlsCAPath,
                ] + demo.options()
            )
            return (outcome, outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        }

        @Test func `a catalog that is as App Store Connect has it is right, and each use of the key is on record`()
            async throws
        {
            try setUp()
            let (outcome, text) = try await check()
            #expect(outcome.succeeded, "\(outcome)")
            #expect(text.contains("“Example”, Apple ID 1234567890: 2 subscriptions, 3 promotional offers"), "\(text)")
            #expect(text.contains("3 promotional offers in the catalog; no difference matters."), "\(text)")
            let record = try await Program.run(["audit", "query", "--key", "DEF456GHIJ"] + demo.databaseOptions())
            #expect(record.output.contains("store.token"), "\(record)")
            #expect(!outcome.output.contains("eyJ"))
        }

        @Test func `says what does not exist, what it may be called, and what differs`() async throws {
            try setUp(id: "42", group: "21234568", state: "MISSING_METADATA", offers: ["winback_3M", "spring"])
            let (outcome, text) = try await check()
            #expect(outcome.end == .exited(1), "\(outcome)")
            #expect(!text.contains("?.") && !text.contains("1 subscriptions"), "\(text)")
            for phrase in [
                "appAppleId is 1234567890; the app's Apple ID is 42.",
                "subscriptionGroupId is 21234567; it is in the group 21234568 (“Pro”).",
                "the subscription is MISSING_METADATA, not APPROVED",
                "winback_3m: the subscription has no promotional offer of this identifier; did you mean “winback_3M”?",
                "stay_half_price: the subscription has no promotional offer of this identifier",
                "note: com.example.pro.monthly, spring: not in the catalog",
            ] {
                #expect(text.contains(phrase), "\(phrase) is missing in \(text)")
            }
        }

        @Test func `an app that is not there, and a key that is refused, are wrong`() async throws {
            try store.setConnect([])
            let (missing, text) = try await check()
            #expect(missing.end == .exited(1) && text.contains("sees no app of this bundle id"), "\(missing)")
            try store.revokeKey("DEF456GHIJ")
            let (refused, said) = try await check()
            #expect(refused.end == .exited(1) && said.contains("refuses the key (401)"), "\(refused)")
        }

        @Test func `init lists the offers that App Store Connect has, and takes the rest from there`() async throws {
            try setUp()
            let key = try demo.directory.write(try KeyTool.makeKey(), to: "SubscriptionKey_7H2K9QXW4Z.p8")
            let target = demo.directory.path(of: "own")
            func begin(_ more: String...) async throws -> ProcessOutcome {
                try await Program.run(
                    [
                        "init", "--p8", key, "--issuer", Self.issuer, "--bundle", DemoFolder.bundle, "--directory",
                        target, "--connect-key", demo.path(of: "AuthKey_DEF456GHIJ.p8"), "--app-store-connect-url",
                        store.apiOrigin(.production), "--trusted-certificates", store.tlsCAPath,
                    ] + more
                )
            }
            let listed = try await begin()
            #expect(listed.end == .exited(2), "\(listed)")
            for line in [
                "1  com.example.pro.monthly  winback_3m  (group 21234567 “Pro”)",
                "3  com.example.pro.yearly  yearly_upgrade  (group 21234567 “Pro”)", "with --product and --offer",
            ] {
                #expect(listed.errors.contains(line), "\(line): \(listed)")
            }
            let unknown = try await begin("--offer", "spring")
            #expect(unknown.end == .exited(1) && unknown.errors.contains("no such promotional offer"), "\(unknown)")

            let chosen = try await begin("--offer", "yearly_upgrade")
            #expect(chosen.succeeded, "\(chosen)")
            let offers = textOfFile("\(target)/offers")
            for text in [
                "appAppleId: 1234567890", #"productId: "com.example.pro.yearly""#, #"subscriptionGroupId: "21234567""#,
                #"offerId: "yearly_upgrade""#,
            ] {
                #expect(offers.contains(text), "\(text): \(offers)")
            }
            #expect(textOfFile("\(target)/keys").contains(#"file: "AuthKey_DEF456GHIJ.p8""#))
            let mode = try FileManager.default.attributesOfItem(atPath: "\(target)/AuthKey_DEF456GHIJ.p8")
            #expect(mode[.posixPermissions] as? Int == 0o600)
        }

        @Test func `a store that cannot be reached is no fault of the configuration`() async throws {
            let outcome = try await Program.run(
                ["check", "--live", "--app-store-connect-url", "http://127.0.0.1:1"] + demo.options()
            )
            #expect(outcome.end == .exited(3), "\(outcome)")
        }

        @Test func `refuses an App Store Connect key that is also an offer signing key`() async throws {
            try demo.edit(
                "keys",
                replacing: #"appStoreConnect: {id: "DEF456GHIJ""#,
                with: #"appStoreConnect: {id: "ABC123DEFG""#
            )
            let check = try await Program.run(["check"] + demo.options())
            #expect(check.end == .exited(1) && check.errors.contains("/appStoreConnect"), "\(check)")
        }
    }
}
