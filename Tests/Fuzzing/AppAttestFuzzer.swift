// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import TestSupport

// Feeds the readers of App Attest's objects whatever libFuzzer makes up, and checks what must hold: no crash, no key but the
// attested one, and nothing that the key did not sign.
//
// The first byte says what the rest is: 0 an attestation, 1 what follows the key in authenticator data that a certificate is then
// made for, 2 that data as a whole, 3 an assertion, 4 what follows the counter in an assertion that is then signed. The seeds
// hold signatures, so they are made at each start, in the folder `app-attest-seeds`.
//
// Built and run by `Tests/Fuzzing/fuzz-cryptography app-attest SECONDS`.

private struct Stage {
    static let appID = "ABCDE12345.com.example.app"
    static let clientData = SHA256.digest(of: Array("a challenge".utf8))

    let draft: AppAttestDraft
    let key: PublicKey
    let anchors: TrustAnchors
    let expected: AppAttestation.Expectation

    init() throws {
        let keys = try (root: Self.key(), intermediate: Self.key(), device: Self.key())
        draft = AppAttestDraft(appID: Self.appID, keys: keys, at: testInstant) { SHA256.digest(of: $0).bytes }
        key = try PublicKey(spki: draft.deviceKey.spki)
        anchors = try TrustAnchors([Certificate(der: draft.rootDER())])
        guard let keyID = SHA256Digest(bytes: draft.keyID) else { fatalError("no digest") }
        expected = AppAttestation.Expectation(
            appID: Self.appID,
            environments: [.production],
            keyID: keyID,
            clientDataHash: Self.clientData.bytes
        )
    }

    private static func key() throws -> AppAttestDraft.Key {
        let key = try TestKey.p256()
        return AppAttestDraft.Key(spki: key.spki, sign: key.sign)
    }

    func seeds() throws -> [[UInt8]] {
        let extensions = CBORDraft.map([
            (.text("apple_validation_category_01"), .bytes([4, 0, 0, 0])),
            (.text("apple_bundle_version_01"), .text("1")),
        ]).encoded
        return [
            [0] + (try draft.attestation(Self.clientData.bytes)), [1] + extensions, [2] + draft.authenticatorData,
            [3] + (try draft.assertion(Self.clientData.bytes, counter: 1)), [4] + extensions,
        ]
    }
}

private let stage: Stage = {
    do { return try Stage() } catch { fatalError("\(error)") }
}()

@_cdecl("LLVMFuzzerInitialize")
public func startFuzzing(_ count: UnsafeMutablePointer<CInt>, _ words: UnsafeMutableRawPointer) -> CInt {
    do {
        for (index, seed) in try stage.seeds().enumerated() {
            try Data(seed).write(to: URL(fileURLWithPath: "app-attest-seeds/\(index)"))
        }
    } catch {
        fatalError("\(error)")
    }
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAppAttest(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    let rest = Array(input.dropFirst())
    do {
        switch input[0] % 5 {
        case 0: try readAttestation(rest, stage.draft)
        case 1:
            var draft = stage.draft
            draft.rest = rest
            try readAttestation(try draft.attestation(Stage.clientData.bytes), draft)
        case 2:
            var draft = stage.draft
            draft.members = { Array($0.dropLast()) + [($0[2].0, .bytes(rest))] }
            let nonce = SHA256.digest(of: rest + Stage.clientData.bytes).bytes
            draft.nonceExtensions = { _ in [AppAttestDraft.nonceExtension(nonce)] }
            try readAttestation(try draft.attestation(Stage.clientData.bytes), draft)
        case 3: try readAssertion(rest)
        default:
            var draft = stage.draft
            draft.rest = rest
            try readAssertion(try draft.assertion(Stage.clientData.bytes, counter: 7))
        }
    } catch let fault as AppAttestFault {
        guard !fault.label.isEmpty, fault.description.utf8.count < 300 else { fatalError("no reason") }
    } catch {
        fatalError("\(error)")
    }
    return 0
}

private func readAttestation(_ object: [UInt8], _ draft: AppAttestDraft) throws {
    let attested = try AppAttestation(object, expecting: stage.expected, anchors: stage.anchors, at: testInstant)
    guard attested.key == stage.key, attested.keyID == stage.expected.keyID, attested.environment == .production else {
        fatalError("a key without an attestation")
    }
}

private func readAssertion(_ object: [UInt8]) throws {
    let assertion = try AppAssertion(object)
    try assertion.verify(by: stage.key, clientDataHash: Stage.clientData, appID: Stage.appID)
    guard [1, 7].contains(assertion.counter) else { fatalError("an assertion that the key did not make") }
}
