// SPDX-License-Identifier: Apache-2.0
package import Ledger
package import OfferDomain
package import ServiceRuntime

/// Keeps a token for each app, and renews it before it ends.
///
/// A token is good for 15 minutes and used for 10, so that each request has a good one even if Apple's clock is ahead of
/// ours; it is issued half a minute ago, in case it is behind. One token at a time is made for an app.
package final class BearerTokens: Sendable {
    private struct Name: Hashable, Sendable {
        let bundleID: BundleID
        let keyID: KeyID
    }

    private struct Kept {
        let token: SignedToken
        let madeAt: Timestamp
    }

    private let signer: any TokenSigner
    private let clock: WallClock
    private let kept = Guarded<[BundleID: Kept]>([:])
    private let making = Coalescer<Name, SignedToken>()

    package init(signer: any TokenSigner, clock: WallClock) {
        self.signer = signer
        self.clock = clock
    }

    /// A token of the key that signs for the app now.
    package func token(for bundleID: BundleID) async throws(StoreError) -> SignedToken {
        guard let keyID = signer.keyID(for: bundleID) else {
            throw .cannotSign(reason: StoreError.noKey(for: bundleID))
        }
        if let token = current(bundleID, keyID) { return token }
        return try await making.answer(to: Name(bundleID: bundleID, keyID: keyID)) { [self] in
            await make(bundleID)
        }
    }

    /// The key that signs for the app now.
    func keyID(for bundleID: BundleID) -> KeyID? { signer.keyID(for: bundleID) }

    /// Forgets a token that was refused, unless another has taken its place.
    package func discard(_ token: SignedToken, for bundleID: BundleID) {
        kept.withLock { kept in
            if kept[bundleID]?.token == token { kept[bundleID] = nil }
        }
    }

    private func current(_ bundleID: BundleID, _ keyID: KeyID) -> SignedToken? {
        guard let kept = kept.withLock({ $0[bundleID] }), kept.token.keyID == keyID else { return nil }
        // Before its own time too, which is when the clock was set back.
        let age = clock.now().milliseconds - kept.madeAt.milliseconds
        return (0..<Self.useMilliseconds).contains(age) ? kept.token : nil
    }

    private func make(_ bundleID: BundleID) async -> Result<SignedToken, StoreError> {
        let now = clock.now()
        let issuedAt = now.adding(seconds: -30)
        let request = TokenRequest(bundleID: bundleID, issuedAt: issuedAt, expiresAt: now.adding(minutes: 15))
        do throws(StoreError) {
            let token = try await signer.signature(for: request)
            kept.withLock { $0[bundleID] = Kept(token: token, madeAt: now) }
            return .success(token)
        } catch {
            return .failure(error)
        }
    }

    private static let useMilliseconds: Int64 = 600_000
}
