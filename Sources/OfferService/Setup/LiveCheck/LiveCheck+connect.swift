// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import Ledger
import OfferDomain
import ServiceRuntime
import Stores

extension LiveCheck {
    /// What App Store Connect has of each app; `nil` without a key for it, or without an app.
    func connectReport() async -> AppStoreConnectReport? {
        guard let key = loaded.keys.connectKey, !loaded.catalog.apps.isEmpty else { return nil }
        var outcomes: [(app: AppStoreApp, outcome: AppStoreConnectReport.Outcome)] = []
        for app in loaded.catalog.apps.values.sorted(by: { $0.bundleID.text < $1.bundleID.text }) {
            outcomes.append((app, await outcome(app, key)))
        }
        return AppStoreConnectReport(loaded.catalog, outcomes)
    }

    private func outcome(_ app: AppStoreApp, _ key: AppStoreConnectKey) async -> AppStoreConnectReport.Outcome {
        let token: String
        do throws(StoreError) {
            token = try connectToken(for: app.bundleID, key)
        } catch {
            return .notAsked(reason: "\(error)")
        }
        let api = AppStoreConnectAPI(AuthorizedServer(transport: client, origin: connectOrigin, token: token))
        do {
            return .read(try await api.app(app.bundleID))
        } catch {
            return .notRead(error)
        }
    }

    /// A token good for five minutes; its use is on record first.
    private func connectToken(for bundleID: BundleID, _ key: AppStoreConnectKey) throws(StoreError) -> String {
        let (unsigned, expiresAt) = key.unsignedToken(at: clock.now())
        let digest = SHA256.digest(of: unsigned.signingInput)
        let events: [AuditEvent] = [
            .key(.loaded(keyID: key.id, publicKeyDigest: key.publicKeyDigest, status: .active)),
            .key(.storeTokenSigned(keyID: key.id, bundleID, digest: digest.hex, expiresAt: expiresAt)),
        ]
        try Self.record(events, using: key.id, in: ledger)
        do throws(SigningError) {
            return try key.signed(unsigned)
        } catch {
            throw .cannotSign(reason: "\(error)")
        }
    }
}
