// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain
import Stores

/// Registers the keys of genuine apps: verifies what Apple attests, and keeps the key.
final class AppAttestRegistrar: Sendable {
    private let anchors: TrustAnchors
    private let keys: AttestedKeys
    /// Of threads that end when there is nothing to verify.
    private let pool = VerificationPool()
    private let checks: GenuineAppChecks

    init(anchors: TrustAnchors, keys: AttestedKeys, checks: GenuineAppChecks) {
        self.anchors = anchors
        self.keys = keys
        self.checks = checks
    }

    /// What an app sends to have its key registered.
    struct Request: Sendable {
        let app: BundleID
        let settings: AppAttestSettings
        let keyID: SHA256Digest
        /// As it was sent.
        let challenge: [UInt8]
        let attestation: [UInt8]
    }

    /// Registers the key; an already registered key stays unchanged, so that the app can retry after a lost answer.
    func register(
        _ request: Request,
        under pseudonyms: Pseudonyms,
        by caller: Caller,
        at now: Timestamp
    ) async throws(Refusal) -> AttestedKey {
        let app = AppName(request.app)
        guard let challenge = AppAttestChallenge(request.challenge, for: app, under: pseudonyms, at: now) else {
            throw checks.refusal(.challenge, .attestation)
        }
        let verified = await pool.run(for: caller.party) { [anchors] in
            Self.verified(request, for: challenge, to: anchors, at: now)
        }
        guard let verified else { throw .service(.overloaded) }
        let attested: AppAttestation
        do { attested = try verified.get() } catch { throw checks.refusal(.proof(error), .attestation) }
        let key = AttestedKey(
            key: attested.key,
            bundleID: request.app,
            environment: attested.environment,
            origin: attested.origin
        )
        switch try await keys.register(attested.keyID, key, by: challenge, at: now) {
        case .added, .known: checks.count("accepted", .attestation)
        case .challengeUsed: throw checks.refusal(.challengeUsed, .attestation)
        }
        return key
    }

    private static func verified(
        _ request: Request,
        for challenge: AppAttestChallenge,
        to anchors: TrustAnchors,
        at now: Timestamp
    ) -> Result<AppAttestation, AppAttestFault> {
        let expected = AppAttestation.Expectation(
            appID: request.settings.appID(of: request.app),
            environments: request.settings.environments,
            keyID: request.keyID,
            clientDataHash: challenge.attestedDigest.bytes
        )
        do throws(AppAttestFault) {
            let seconds = now.milliseconds / 1000
            return .success(
                try AppAttestation(request.attestation, expecting: expected, anchors: anchors, at: seconds)
            )
        } catch {
            return .failure(error)
        }
    }
}

extension AppAttestation {
    /// Where the app is from; a key of the development service is of a developer's build, also where no category says so.
    fileprivate var origin: AppOrigin? {
        extensions.category.map(AppOrigin.init) ?? (environment == .development ? .development : nil)
    }
}
