// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import JSON
import OfferDomain

/// `POST /v1/app-attest/challenges` and `POST /v1/app-attest/keys`: what an app calls before it can prove itself.
struct AppAttestCall: Sendable {
    private let admission: Admission
    private let registrar: AppAttestRegistrar
    private let random: any RandomSource
    /// What the other calls have apps proven by.
    let checks: GenuineAppChecks

    init(_ writing: WritingParts, anchors: TrustAnchors) {
        let keys = AttestedKeys(writing.committer)
        (admission, random) = (writing.admission, writing.runtime.random)
        checks = GenuineAppChecks(keys: keys, admission: admission, writing.runtime)
        registrar = AppAttestRegistrar(anchors: anchors, keys: keys, checks: checks)
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
        let asked = try AppAttestRequest(request.body, registers: false)
        _ = try Self.settings(of: asked.bundleID, caller, snapshot)
        let challenge = AppAttestChallenge(for: AppName(asked.bundleID), under: snapshot.pseudonyms, at: now, random)
        var writer = JSONWriter(reserving: 128)
        writer.beginObject()
        writer.member("challenge", plain: challenge.text)
        writer.member("expiresAt", rfc3339: challenge.expiresAt)
        writer.endObject()
        return .json(writer.bytes)
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
        let asked = try AppAttestRequest(request.body, registers: true)
        let settings = try Self.settings(of: asked.bundleID, caller, snapshot)
        guard let sent = asked.key else { throw .request(.notConfigured) }
        let key = try await registrar.register(
            AppAttestRegistrar.Request(
                app: asked.bundleID,
                settings: settings,
                keyID: sent.id,
                challenge: Array(sent.challenge.utf8),
                attestation: sent.attestation
            ),
            under: snapshot.pseudonyms,
            by: caller,
            at: now
        )
        var writer = JSONWriter(reserving: 128)
        writer.beginObject()
        writer.member("keyId", plain: String(decoding: Base64.encode(sent.id.bytes), as: UTF8.self))
        writer.member("environment", plain: key.environment.rawValue)
        writer.endObject()
        return .json(writer.bytes)
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

/// What an app sends to the calls above; every member already in its type.
struct AppAttestRequest: Sendable {
    let bundleID: BundleID
    /// Only where a key is registered.
    let key: Key?

    /// The key with what Apple says of it.
    struct Key: Sendable {
        let id: SHA256Digest
        let challenge: String
        let attestation: [UInt8]
    }

    private static let limits = JSONLimits(maximumBytes: 65_536, maximumNodes: 16, maximumStringBytes: 32_768)

    init(_ body: [UInt8], registers: Bool) throws(Refusal) {
        let document: JSONDocument
        do { document = try JSONDocument(body, limits: Self.limits) } catch { throw .request(.malformedJSON(error)) }
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        let bundleID = reader.required("bundleId", text: BundleID.init)
        let key = registers ? Self.readKey(&reader) : nil
        reader.finish()
        guard mismatches.all.isEmpty, let bundleID, !registers || key != nil else { throw .invalid(mismatches) }
        (self.bundleID, self.key) = (bundleID, key)
    }

    private static func readKey(_ reader: inout ObjectReader) -> Key? {
        let id = reader.required("keyId", "the key's ID, 32 bytes in Base64, as generateKey gives it") { value in
            value.stringBytes.flatMap { Base64.decode($0) }.flatMap(SHA256Digest.init(bytes:))
        }
        let challenge = reader.required("challenge", "a challenge of this service") { value in
            value.string.flatMap { $0.utf8.count <= 128 ? $0 : nil }
        }
        let attestation = reader.required("attestation", "the attestation object, in Base64, as attestKey gives it") {
            $0.stringBytes.flatMap { Base64.decode($0) }
        }
        guard let id, let challenge, let attestation else { return nil }
        return Key(id: id, challenge: challenge, attestation: attestation)
    }
}
