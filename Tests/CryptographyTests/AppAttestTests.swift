// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport
import Testing

/// What an attestation of an app's key has to be: each check has an object that nothing else is wrong with.
struct AppAttestTests {
    static let clientData = SHA256.digest(of: Array("a challenge".utf8)).bytes

    /// A change to what a genuine app sends, or to what is expected of it.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let fault: AppAttestFault
        let change: @Sendable (inout AttestedApp) throws -> Void

        init(
            _ testDescription: String,
            _ fault: AppAttestFault,
            _ change: @escaping @Sendable (inout AttestedApp) throws -> Void
        ) {
            (self.testDescription, self.fault, self.change) = (testDescription, fault, change)
        }
    }

    @Test(arguments: WrongAttestations.rows)
    func `refuses what is not a genuine app's`(row: Row) throws {
        var app = try AttestedApp()
        #expect(try app.verified().keyID.bytes == app.draft.keyID)
        try row.change(&app)
        #expect(throws: row.fault) { try app.verified() }
    }

    @Test
    func `refuses authenticator data that was changed after the certificate was made, whichever byte`() throws {
        let app = try AttestedApp()
        let data = app.draft.authenticatorData
        for place in data.indices {
            var changed = data
            changed[place] ^= 1
            let object = try app.draft.attestation(Self.clientData, data: changed)
            #expect(throws: AppAttestFault.otherNonce) { try app.verified(object) }
        }
    }

    @Test
    func `takes a key with what the system says of the app, or without`() throws {
        var app = try AttestedApp()
        #expect(try app.verified().extensions.category == nil)
        #expect(try app.verified().environment == .production)
        let categories: [(CBORDraft, ValidationCategory?)] = [
            (.bytes([4, 0, 0, 0]), .appStore), (.bytes([2, 0, 0, 0]), .testFlight), (.integer(5), .enterprise),
            (.bytes([0, 0, 0, 4]), .noCategory), (.integer(99), .noCategory), (.integer(10), .noCategory),
        ]
        for (value, category) in categories {
            app.draft.extensions = .map([
                (.text("apple_validation_category_01"), value), (.text("apple_bundle_version_01"), .text("7.1")),
                (.text("apple_cd_hash_type_01"), .integer(2)),
            ])
            #expect(try app.verified().extensions.category == category)
            #expect(try app.verified().extensions.bundleVersion == "7.1")
        }
        app.draft.extensions = .map([(.text("validationCategory"), .integer(3)), (.text("bundleVersion"), .text(""))])
        #expect(try app.verified().extensions.category == .development)
    }

    @Test
    func `takes a key of the development service where that is allowed, under either name`() throws {
        var app = try AttestedApp()
        app.environments = [.development]
        for name in ["appattestdevelop", "appattestsandbox"] {
            app.draft.identifier = Array(name.utf8)
            #expect(try app.verified().environment == .development)
        }
    }

    @Test
    func `takes Apple's own sample up to Apple's root, on its days`() throws {
        typealias Sample = AppleAttestationSample
        let statement: CBORDraft = .map([
            (.text("x5c"), .array([.bytes(Sample.leaf), .bytes(Sample.intermediate)])), (.text("receipt"), .bytes([])),
        ])
        let object = CBORDraft.map([
            (.text("fmt"), .text("apple-appattest")), (.text("attStmt"), statement),
            (.text("authData"), .bytes(Sample.authenticatorData)),
        ]).encoded
        let expected = AppAttestation.Expectation(
            appID: Sample.appID,
            environments: [.production],
            keyID: try #require(SHA256Digest(bytes: Sample.keyID)),
            clientDataHash: Sample.clientData
        )
        let root = try TrustAnchors.appleAppAttestationRootCA()
        let verified = try AppAttestation(object, expecting: expected, anchors: root, at: Sample.instant)
        #expect(verified.extensions.category == .platform)
        #expect(verified.extensions.bundleVersion == "1")
        #expect(throws: AppAttestFault.chain(.expired(.leaf))) {
            try AppAttestation(object, expecting: expected, anchors: root, at: Sample.instant + 3 * 86_400)
        }
        #expect(throws: AppAttestFault.chain(.untrustedRoot)) {
            try AppAttestation(object, expecting: expected, anchors: .appleRootCAG3(), at: Sample.instant)
        }
    }

    @Test
    func `says each reason in a sentence and a label of its own`() {
        let faults = Set(WrongAttestations.rows.map(\.fault) + AppAssertionTests.rows.map(\.fault))
        for fault in faults {
            #expect(fault.description.hasSuffix("."))
            #expect(fault.label.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "-") })
        }
        // Of a fault of the chain there is one label for leaf and intermediate.
        #expect(Set(faults.map(\.label)).count > faults.count * 3 / 4)
    }
}

/// A genuine app, and what the verifier expects of it.
struct AttestedApp {
    var draft: AppAttestDraft
    var anchors: TrustAnchors
    var appID = "ABCDE12345.com.example.app"
    var environments: Set<AppAttestEnvironment> = [.production]
    var keyID: SHA256Digest
    var clientData = AppAttestTests.clientData
    var instant = testInstant
    /// The object as it is sent, by the one that was made.
    var sent: @Sendable ([UInt8]) -> [UInt8] = { $0 }

    init() throws {
        let keys = try (root: Self.key(.p256()), intermediate: Self.key(.p256()), device: Self.key(.p256()))
        draft = AppAttestDraft(appID: appID, keys: keys, at: testInstant) { SHA256.digest(of: $0).bytes }
        anchors = try TrustAnchors([Certificate(der: draft.rootDER())])
        keyID = try #require(SHA256Digest(bytes: draft.keyID))
    }

    static func key(_ key: TestKey) -> AppAttestDraft.Key { AppAttestDraft.Key(spki: key.spki, sign: key.sign) }

    @discardableResult
    func verified(_ object: [UInt8]? = nil) throws -> AppAttestation {
        let expected = AppAttestation.Expectation(
            appID: appID,
            environments: environments,
            keyID: keyID,
            clientDataHash: clientData
        )
        let made = try sent(object ?? draft.attestation(AppAttestTests.clientData))
        return try AppAttestation(made, expecting: expected, anchors: anchors, at: instant)
    }
}
