// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime
import Stores

/// `POST /v1/app-attest/challenges` and `POST /v1/app-attest/keys`: what an app calls before it can prove itself.
struct AppAttestCall: Sendable {
    private let admission: Admission
    private let registrar: AppAttestRegistrar
    private let random: any RandomSource
    /// What the other calls have apps proven by.
    let checks: GenuineAppChecks

    init(committer: Committer, stores: StoreClients, admission: Admission, runtime: Runtime) {
        let keys = AttestedKeys(committer)
        let play = PlayIntegrityParts(google: stores.googlePlayAPI.integrity, spent: SpentTokens(committer))
        (self.admission, random) = (admission, runtime.random)
        checks = GenuineAppChecks(keys: keys, play: play, admission: admission, runtime)
        registrar = AppAttestRegistrar(anchors: stores.appAttestAnchors, keys: keys, checks: checks)
    }

    /// A challenge for an app; nothing is kept of it.
    func challenge(
        _ request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try await admission.asker(request, snapshot, at: now)
        let places = try admission.enter(caller)
        defer { places.leave() }
        try request.requireJSON()
        let asked = try AppAttestChallengeRequest(request.body)
        _ = try Self.settings(of: asked.bundleID, caller, snapshot)
        let challenge = AppAttestChallenge(for: AppName(asked.bundleID), under: snapshot.pseudonyms, at: now, random)
        return .json(["challenge": .text(challenge.text), "expiresAt": .instant(challenge.expiresAt)])
    }

    /// Registers the key that Apple attests.
    func register(
        _ request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try await admission.asker(request, snapshot, at: now)
        let places = try admission.enter(caller)
        defer { places.leave() }
        try request.requireJSON()
        let asked = try AppAttestKeyRequest(request.body)
        let settings = try Self.settings(of: asked.bundleID, caller, snapshot)
        let key = try await registrar.register(
            AppAttestRegistrar.Request(
                app: asked.bundleID,
                settings: settings,
                keyID: asked.keyID,
                challenge: Array(asked.challenge.utf8),
                attestation: asked.attestation
            ),
            under: snapshot.pseudonyms,
            by: caller,
            at: now
        )
        let keyID = String(decoding: Base64.encode(asked.keyID.bytes), as: UTF8.self)
        return .json(["keyId": .text(keyID), "environment": .text(key.environment.rawValue)])
    }

    private static func settings(
        of bundleID: BundleID,
        _ caller: Caller,
        _ snapshot: Snapshot
    ) throws(Refusal) -> AppAttestSettings {
        guard caller.mayAsk(for: AppName(bundleID)) else { throw .caller(.bundleNotAllowed(.bundle(bundleID))) }
        guard let settings = snapshot.catalog.appAttest(of: bundleID) else { throw .request(.notConfigured) }
        return settings
    }
}

/// What an app sends for a challenge.
struct AppAttestChallengeRequest: Sendable {
    let bundleID: BundleID

    init(_ body: [UInt8]) throws(Refusal) {
        let mismatches = Mismatches()
        let document = try AppAttestKeyRequest.document(body)
        var reader = ObjectReader(document.root, into: mismatches)
        let bundleID = reader.required("bundleId", text: BundleID.init)
        reader.finish()
        guard mismatches.all.isEmpty, let bundleID else { throw .invalid(mismatches) }
        self.bundleID = bundleID
    }
}

/// What an app sends to have its key registered; every member already in its type.
struct AppAttestKeyRequest: Sendable {
    let bundleID: BundleID
    let keyID: SHA256Digest
    let challenge: String
    /// What Apple says of the key.
    let attestation: [UInt8]

    private static let limits = JSONLimits(maximumBytes: 65_536, maximumNodes: 16, maximumStringBytes: 32_768)

    static func document(_ body: [UInt8]) throws(Refusal) -> JSONDocument {
        do { return try JSONDocument(body, limits: limits) } catch { throw .request(.malformedJSON(error)) }
    }

    init(_ body: [UInt8]) throws(Refusal) {
        let mismatches = Mismatches()
        let document = try Self.document(body)
        var reader = ObjectReader(document.root, into: mismatches)
        let bundleID = reader.required("bundleId", text: BundleID.init)
        let keyID = reader.required("keyId", "the key's ID, 32 bytes in Base64, as generateKey gives it") { value in
            value.stringBytes.flatMap { Base64.decode($0) }.flatMap(SHA256Digest.init(bytes:))
        }
        let challenge = reader.required("challenge", "a challenge of this service") { value in
            value.string.flatMap { $0.utf8.count <= 128 ? $0 : nil }
        }
        let attestation = reader.required("attestation", "the attestation object, in Base64, as attestKey gives it") {
            $0.stringBytes.flatMap { Base64.decode($0) }
        }
        reader.finish()
        guard mismatches.all.isEmpty, let bundleID, let keyID, let challenge, let attestation else {
            throw .invalid(mismatches)
        }
        (self.bundleID, self.keyID, self.challenge) = (bundleID, keyID, challenge)
        self.attestation = attestation
    }
}
