// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Foundation
import OfferDomain
import TestSupport
import Testing

/// What the events file may say of webhooks and relays.
struct EventsFileTests {
    private static let secrets = [
        "good.secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", "short.secret": "whsec_QUJD",
        "plain.secret": "secret",
        "relay.token": "a-token-of-16-or-more\n", "short.token": "short",
    ]

    private static func read(_ members: String) throws -> EventSettings {
        try startSecureMemory()
        let folder = try TemporaryDirectory()
        for (name, text) in secrets {
            let path = try folder.write(Array(text.utf8), to: name)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }
        try folder.write(Array("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".utf8), to: "open.secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.path(of: "open.secret"))
        _ = try Ed25519PrivateKey.create(path: folder.path(of: "events.key"))
        let path = try folder.write(Array("{\(members)}".utf8), to: "events")
        return try EventsFile(path: path, policy: SecretFilePolicy()).load()
    }

    @Test func `has one member for each choice, and sensible ones without it`() throws {
        let settings = try Self.read(
            """
            privateNetworks: ["10.20.0.0/16"],
            endpoints: [
              {id: "all", url: "https://a.example.com/hook?key=1", secrets: ["good.secret"]},
              {id: "some", url: "http://[::1]:8080/", secrets: ["good.secret"], signingKeys: ["events.key"],
               types: ["offer.redeemed"], apps: ["com.example.app"], format: "purchasely"},
            ],
            relays: [{id: "vendor", store: "google-play", url: "https://b.example.com:8443", tokenFile: "relay.token"}],
            """
        )
        #expect(settings.receiverIDs == ["all", "some", "vendor"] && settings.relayedStores == [.googlePlay])
        let app = try AppName("com.example.app")
        let (all, some, vendor) = (settings.endpoints[0], settings.endpoints[1], settings.endpoints[2])
        #expect(all.source == .events(types: [], .standard) && all.secrets.count == 1 && all.publicKeys.isEmpty)
        #expect(all.shownURL == "https://a.example.com/…" && !all.isRelay && all.apps.isEmpty)
        #expect(some.source == .events(types: [.offerRedeemed], .purchasely) && some.publicKeys.count == 1)
        #expect(some.publicKeys[0].hasPrefix("whpk_") && some.apps == [app])
        guard case .notifications(.googlePlay, let token?) = vendor.source else {
            Issue.record("\(vendor.source)")
            return
        }
        #expect(token.text == "a-token-of-16-or-more" && vendor.isRelay)
        #expect(vendor.shownURL == "https://b.example.com:8443/…")
    }

    @Test func `a secret that is exchanged behind the same file makes other settings`() throws {
        let folder = try TemporaryDirectory()
        try startSecureMemory()
        func settings(_ secret: String) throws -> EventSettings {
            let path = try folder.write(Array(secret.utf8), to: "s")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            let text = #"{endpoints: [{id: "a", url: "https://a.example.com", secrets: ["s"]}]}"#
            let file = try folder.write(Array(text.utf8), to: "events")
            return try EventsFile(path: file, policy: SecretFilePolicy()).load()
        }
        let first = try settings("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        #expect(try settings("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").fingerprint == first.fingerprint)
        let other = try settings("whsec_NfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        #expect(other.fingerprint != first.fingerprint && other.digest == first.digest)
    }

    private static let url = #"id: "a", url: "https://a.example.com""#
    private static let signed = url + #", secrets: ["good.secret"]"#

    @Test(
        arguments: [
            ("endpoints: [{\(url)}]", "/endpoints/0/secrets", "is missing, and so is signingKeys"),
            (#"endpoints: [{id: "a b", url: "https://a", secrets: []}]"#, "/endpoints/0/id", "1 to 64 of"),
            (
                #"endpoints: [{id: "a", url: "http://a.example.com", secrets: ["good.secret"]}]"#, "/endpoints/0/url",
                "https"
            ),
            (#"endpoints: [{id: "a", url: "ftp://127.0.0.1", secrets: ["good.secret"]}]"#, "/endpoints/0/url", "https"),
            (#"endpoints: [{id: "a", url: "https://u:p@a", secrets: ["good.secret"]}]"#, "/endpoints/0/url", "https"),
            (#"endpoints: [{\#(url), secrets: ["none"]}]"#, "/endpoints/0/secrets/0", "“none”"),
            (#"endpoints: [{\#(url), secrets: ["open.secret"]}]"#, "/endpoints/0/secrets/0", "open.secret"),
            (#"endpoints: [{\#(url), secrets: ["plain.secret"]}]"#, "/endpoints/0/secrets/0", "whsec_"),
            (#"endpoints: [{\#(url), secrets: ["short.secret"]}]"#, "/endpoints/0/secrets/0", "24"),
            (#"endpoints: [{\#(url), signingKeys: ["good.secret"]}]"#, "/endpoints/0/signingKeys/0", "PEM"),
            (
                #"endpoints: [{\#(signed), types: ["offer.redeemd"]}]"#, "/endpoints/0/types/0",
                "did you mean “offer.redeemed”?"
            ),
            (#"endpoints: [{\#(signed), apps: ["?"]}]"#, "/endpoints/0/apps/0", "expected a bundle ID"),
            (#"endpoints: [{\#(signed), format: "xml"}]"#, "/endpoints/0/format", "cloudevents"),
            (#"endpoints: [{\#(signed), store: "app-store"}]"#, "/endpoints/0/store", "is not a known member"),
            ("relays: [{\(url)}]", "/relays/0/store", "is missing"),
            (#"relays: [{\#(url), store: "app-store", tokenFile: "short.token"}]"#, "/relays/0/tokenFile", "16 to 512"),
            (#"endpoints: [{\#(signed)}], relays: [{\#(url), store: "app-store"}]"#, "/endpoints", "a is listed twice"),
            (#"privateNetworks: ["10.0.0.0/99"]"#, "/privateNetworks/0", "10.20.0.0/16"),
            (#"trustedCertificates: "good.secret""#, "/trustedCertificates", "good.secret"),
        ]
    )
    func `says what is wrong, where, and what to do`(members: String, pointer: String, words: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try Self.read(members) }
        let issues = (error?.issues ?? []).map { "\($0)" }
        #expect(issues.contains { $0.contains(pointer) && $0.contains(words) }, "\(issues)")
    }

    @Test func `takes 16 receivers of all kinds together, and no more`() throws {
        func members(_ count: Int) -> String {
            let endpoints = (0..<count - 2).map { #"{id: "e\#($0)", url: "https://a", secrets: ["good.secret"]}"# }
            return "endpoints: [\(endpoints.joined(separator: ", "))], "
                + #"relays: [{id: "r", store: "app-store", url: "https://a"}], streams: [{id: "s", file: "f"}]"#
        }
        #expect(try Self.read(members(16)).receiverIDs.count == 16)
        let error = #expect(throws: ConfigurationError.self) { try Self.read(members(17)) }
        #expect((error?.issues ?? []).contains { "\($0)".contains("has 17 receivers, at most 16") })
    }
}
