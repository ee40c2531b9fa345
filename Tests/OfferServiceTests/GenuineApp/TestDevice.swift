// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Foundation
import OfferDomain
import OfferService
import TestSupport
import Testing

/// A device with a genuine app, or with one that is not.
struct TestDevice: Sendable {
    static let appID = "ABCDE12345.com.example.app"

    var draft: AppAttestDraft
    /// Of the last assertion.
    private(set) var counter: UInt32 = 0

    /// `authority` is a device with the same root; a device of its own root is taken by no service of another's.
    init(of authority: TestDevice? = nil, at instant: Timestamp) throws {
        let own = try Self.key()
        let keys = try (
            root: authority?.draft.rootKey ?? Self.key(), intermediate: authority?.draft.intermediateKey ?? Self.key(),
            device: own
        )
        draft = AppAttestDraft(appID: Self.appID, keys: keys, at: instant.milliseconds / 1000) {
            SHA256.digest(of: $0).bytes
        }
        if let authority { (draft.root, draft.intermediate) = (authority.draft.root, authority.draft.intermediate) }
    }

    private static func key() throws -> AppAttestDraft.Key {
        try startSecureMemory()
        let key = try PrivateKey.generate()
        return AppAttestDraft.Key(spki: key.publicKey.spki) { message in
            try key.signature(of: SHA256.digest(of: message)).der
        }
    }

    var rootPEM: [UInt8] { get throws { KeyDER.pem(try draft.rootDER(), label: "CERTIFICATE") } }
    var keyID: String { Self.base64(draft.keyID) }

    static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// The body with which the app registers its key.
    func registration(_ challenge: String, bundleID: String = "com.example.app") throws -> String {
        let attestation = try draft.attestation(SHA256.digest(of: Array(challenge.utf8)).bytes)
        return """
            {"bundleId": "\(bundleID)", "keyId": "\(keyID)", "challenge": "\(challenge)",
             "attestation": "\(Self.base64(attestation))"}
            """
    }

    /// The call with the assertion that follows the last one, or the one with that counter.
    mutating func signed(_ call: Call, _ challenge: String, counter next: UInt32? = nil) throws -> Call {
        counter = next ?? counter + 1
        return try assertion(for: call, challenge, counter: counter)
    }

    func assertion(for call: Call, _ challenge: String, counter: UInt32) throws -> Call {
        let head = Array("\(call.method)\n\(call.path)\n\(challenge)\n".utf8)
        let digest = SHA256.digest(of: head + SHA256.digest(of: call.body).bytes)
        let assertion = try draft.assertion(digest.bytes, counter: counter)
        return call.with("App-Attest-Key-Id", keyID).with("App-Attest-Challenge", challenge)
            .with("App-Attest-Assertion", Self.base64(assertion))
    }
}

extension Call {
    /// The same with another value of a field.
    func changing(_ name: String, _ change: (String) -> String?) -> Call {
        var call = self
        call.fields = fields.compactMap { field in
            guard field.name == name else { return field }
            return change(field.value).map { (name, $0) }
        }
        return call
    }
}

extension TestService {
    func challenge(for bundleID: String = "com.example.app", as caller: String = "app") async throws -> String {
        let body = #"{"bundleId": "\#(bundleID)"}"#
        let reply = try await send(call(as: caller, body).at("/v1/app-attest/challenges"))
        return try #require(reply.json["challenge"].text, "\(reply)")
    }

    func register(_ device: TestDevice, as caller: String = "app") async throws -> Reply {
        let body = try device.registration(try await challenge(as: caller))
        return try await send(call(as: caller, body).at("/v1/app-attest/keys"))
    }
}

/// A service that checks an app's proofs, and a device with a root that the service trusts.
func withGenuineApp(
    _ wire: Wire = .inProcess,
    policy: String = "require",
    environments: String = #"["production"]"#,
    _ body: (TestService, TestDevice) async throws -> Void
) async throws {
    let clock = SettableClock()
    let device = try TestDevice(at: clock.now)
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    try await withService(wire, try genuineFiles(device, in: directory, policy, environments), clock: clock) {
        service in
        try await body(service, device)
    }
}

/// Files with App Attest settings for `com.example.app`; everything else stays as it is.
func genuineFiles(
    _ device: TestDevice,
    in directory: TemporaryDirectory,
    _ policy: String = "require",
    _ environments: String = #"["production"]"#
) throws -> TestFiles {
    var files = TestFiles()
    let settings = #"appAttest: {teamId: "ABCDE12345", policy: "\#(policy)", environments: \#(environments)}"#
    files.offers = files.offers.replacing(
        #"bundleId: "com.example.app","#,
        with: #"bundleId: "com.example.app", \#(settings),"#
    )
    files.settings[.appStoreRoots] = try directory.write(try device.rootPEM, to: "roots.pem")
    files.settings[.appRatePerAddress] = "none"
    return files
}
