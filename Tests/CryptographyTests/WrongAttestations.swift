// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport
import Testing

/// Attestations that must not be taken.
enum WrongAttestations {
    typealias Row = AppAttestTests.Row

    static let rows = forms + chains + nonces + keys + data + extensions

    private static let forms = [
        Row("a byte after it", .cbor(.trailingBytes)) { $0.sent = { $0 + [0] } },
        Row("an indefinite map", .cbor(.indefiniteLength)) { $0.sent = { [0xBF] + $0.dropFirst() + [0xFF] } },
        Row("16 KiB and more", .cbor(.tooLarge)) { $0.sent = { $0 + [UInt8](repeating: 0, count: 16_384) } },
        Row("a member twice", .cbor(.repeatedKey)) { $0.draft.members = { $0 + [$0[0]] } },
        Row("a member more", .form) { $0.draft.members = { $0 + [(.text("ver"), .text("2"))] } },
        Row("no authData", .form) { $0.draft.members = { Array($0.dropLast()) } },
        Row("fmt as bytes", .form) { $0.draft.members = { [($0[0].0, .bytes([1]))] + $0.dropFirst() } },
        Row("no receipt", .form) { app in
            app.draft.members = { [$0[0], ($0[1].0, .map([(.text("x5c"), .array([]))])), $0[2]] }
        },
        Row("an array", .form) { $0.sent = { _ in [0x80] } },
        Row("another format", .otherFormat) { $0.draft.format = "packed" },
        Row("one certificate", .notTwoCertificates) { $0.draft.certificates = { Array($0.prefix(1)) } },
        Row("three certificates", .notTwoCertificates) { $0.draft.certificates = { $0 + [$0[1]] } },
        Row("no certificate", .certificate(.notACertificate)) { $0.draft.certificates = { [[0x30, 0], $0[1]] } },
        Row("a byte after a certificate", .certificate(.trailingBytes(1))) { app in
            app.draft.certificates = { [$0[0] + [0], $0[1]] }
        },
    ]

    private static let chains = [
        Row("another root", .chain(.untrustedRoot)) { app in
            app.anchors = try TrustAnchors.appleAppAttestationRootCA()
        },
        Row("a root of the same name", .chain(.wrongSignature(.intermediate))) { app in
            app.draft.rootKey = try AttestedApp.key(.p256())
        },
        Row("an intermediate that is not the leaf's issuer", .chain(.wrongSignature(.leaf))) { app in
            let other = try AttestedApp.key(.p256())
            let drawn = app.draft
            app.draft.certificates = { chain in
                var draft = drawn.intermediate
                draft.key = other.spki
                return [chain[0], (try? draft.der(signedBy: drawn.rootKey.sign)) ?? []]
            }
        },
        Row("leaf and intermediate exchanged", .chain(.leafIsAuthority)) { app in
            app.draft.certificates = { Array($0.reversed()) }
        },
        Row("an expired leaf", .chain(.expired(.leaf))) { $0.draft.leaf.notAfter = testInstant },
        Row("a leaf of tomorrow", .chain(.notYetValid(.leaf))) { $0.draft.leaf.notBefore = testInstant + 1 },
        Row("an expired intermediate", .chain(.expired(.intermediate))) {
            $0.draft.intermediate.notAfter = testInstant
        },
        Row("after all of them", .chain(.expired(.leaf))) { $0.instant += 40_000_000 },
        Row("an intermediate that is no authority", .chain(.intermediateNotAuthority)) { app in
            app.draft.intermediate.extensions = [DER.basicConstraints(isAuthority: false), DER.keyUsage(0x06)]
        },
        Row("an intermediate that may not issue", .chain(.mayNotIssue(.intermediate))) { app in
            app.draft.intermediate.extensions[1] = DER.keyUsage(0x80)
        },
        Row("a leaf that may not sign", .chain(.leafMayNotSign)) { app in
            app.draft.leaf.extensions[1] = DER.keyUsage(0x08)
        },
        Row("a critical extension that is not known", .chain(.unknownCriticalExtension(.leaf))) { app in
            app.draft.leaf.extensions.append(DER.certificateExtension("1.2.3.4", isCritical: true, [5, 0]))
        },
        Row("a leaf on P-384", .chain(.leafKeyNotP256)) { app in
            app.draft.deviceKey = try AttestedApp.key(.p384())
        },
    ]

    private static let nonces = [
        Row("no nonce", .nonceMissing) { $0.draft.nonceExtensions = { _ in [] } },
        Row("two nonces", .nonceMissing) { app in
            app.draft.nonceExtensions = { [AppAttestDraft.nonceExtension($0), AppAttestDraft.nonceExtension($0)] }
        },
        Row("a nonce under another tag", .nonceMissing) { app in
            app.draft.nonceExtensions = { [AppAttestDraft.nonceExtension($0, tag: 0xA0)] }
        },
        Row("a shorter nonce", .nonceMissing) { app in
            app.draft.nonceExtensions = { [AppAttestDraft.nonceExtension(Array($0.dropLast()))] }
        },
        Row("a nonce with a byte after it", .nonceMissing) { app in
            app.draft.nonceExtensions = { [AppAttestDraft.nonceExtension($0 + [0])] }
        },
        Row("another nonce", .otherNonce) { app in
            app.draft.nonceExtensions = { [AppAttestDraft.nonceExtension($0.reversed())] }
        },
        Row("another challenge", .otherNonce) { $0.clientData = SHA256.digest(of: [1]).bytes },
    ]

    private static let keys = [
        Row("another key ID than the request says", .otherKeyID) { $0.keyID = SHA256.digest(of: [1]) },
        Row("another credential ID", .credentialID) { $0.draft.credentialID = [UInt8](repeating: 1, count: 32) },
        Row("a credential ID of 31 bytes", .credentialID) { $0.draft.credentialID = [UInt8](repeating: 1, count: 31) },
        Row("another key in the authenticator data", .credentialKey) { app in
            app.draft.coseKey = AppAttestDraft.coseKey(try AttestedApp.key(.p256()).point)
        },
        Row("a key for ES384", .credentialKey) { app in
            let (x, y) = (app.draft.deviceKey.point[1..<33], app.draft.deviceKey.point[33...])
            app.draft.coseKey = .map([
                (.integer(1), .integer(2)), (.integer(3), .integer(-35)), (.integer(-1), .integer(1)),
                (.integer(-2), .bytes(Array(x))), (.integer(-3), .bytes(Array(y))),
            ])
        },
        Row("a key with a member more", .credentialKey) { app in
            guard case .map(let members) = AppAttestDraft.coseKey(app.draft.deviceKey.point) else { return }
            app.draft.coseKey = .map(members + [(.integer(4), .array([.integer(2)]))])
        },
        Row("a number for a key", .credentialKey) { $0.draft.coseKey = .integer(1) },
    ]

    private static let data = [
        Row("another app of the team", .otherApp) { $0.draft.appID = "ABCDE12345.com.example.other" },
        Row("the same app re-signed by another team", .otherApp) { $0.draft.appID = "ZZZZZ99999.com.example.app" },
        Row("counter 1", .counterNotZero) { $0.draft.counter = 1 },
        Row("a counter in the highest byte", .counterNotZero) { $0.draft.counter = 1 << 24 },
        Row("a key of the development service", .otherEnvironment(.development)) { app in
            app.draft.identifier = Array("appattestdevelop".utf8)
        },
        Row("a key of production where development is expected", .otherEnvironment(.production)) {
            $0.environments = [.development]
        },
        Row("an identifier of another authenticator", .environmentUnknown) { app in
            app.draft.identifier = [UInt8](repeating: 0, count: 16)
        },
        Row("an identifier with other bytes after its name", .environmentUnknown) { app in
            app.draft.identifier[15] = 1
        },
        Row("authenticator data without a key", .authenticatorData) { app in
            app.draft.coseKey = .raw([])
            app.draft.credentialID = []
            app.draft.identifier = []
        },
        Row("authenticator data that ends with the key's ID", .authenticatorData) { $0.draft.coseKey = .raw([]) },
    ]

    private static let extensions = [
        Row("a byte after the key", .extensions) { $0.draft.rest = [0] },
        Row("a byte after the extensions", .cbor(.trailingBytes)) { app in
            app.draft.extensions = .map([])
            app.draft.rest = [0]
        },
        Row("half a value after the key", .cbor(.truncated)) { $0.draft.rest = [0xA1] },
        Row("a category of three bytes", .extensions) { app in
            app.draft.extensions = .map([(.text("apple_validation_category_01"), .bytes([4, 0, 0]))])
        },
        Row("a category as text", .extensions) { app in
            app.draft.extensions = .map([(.text("apple_validation_category_01"), .text("appStore"))])
        },
        Row("a category under both names", .extensions) { app in
            app.draft.extensions = .map([
                (.text("apple_validation_category_01"), .integer(5)), (.text("validationCategory"), .integer(4)),
            ])
        },
        Row("a category twice", .cbor(.repeatedKey)) { app in
            app.draft.extensions = .map([
                (.text("apple_validation_category_01"), .integer(5)),
                (.text("apple_validation_category_01"), .integer(4)),
            ])
        },
        Row("a bundle version that is no text", .extensions) { app in
            app.draft.extensions = .map([(.text("apple_bundle_version_01"), .integer(1))])
        },
    ]
}
