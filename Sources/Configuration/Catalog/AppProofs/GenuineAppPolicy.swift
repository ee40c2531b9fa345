// SPDX-License-Identifier: Apache-2.0
import JSON

/// Whether an offer is only for apps that prove themselves.
package enum GenuineAppPolicy: String, CaseIterable, Sendable {
    /// Without a proof, an app does not get the offer.
    case require
    /// A proof that is sent counts and is on record; a request without one is as good.
    case prefer
    /// No proof is looked at.
    case off
}

extension GenuineAppPolicy {
    static let expected = "one of " + allCases.map(\.rawValue).joined(separator: ", ")

    /// Reads `genuineApp` of an offer in that store; without it, what the app says holds.
    static func read(_ offer: inout ObjectReader, of app: AppProofSettings, at store: Store) -> GenuineAppPolicy {
        let own = offer.optional("genuineApp", expected) { $0.string.flatMap(GenuineAppPolicy.init) }
        let policy = app.policy(at: store)
        if let own, own != .off, policy == nil {
            let isApple = store == .appStore
            offer.note("genuineApp", "needs the app's \(isApple ? "appAttest, with the team's ID" : "playIntegrity")")
        }
        return own ?? policy ?? .off
    }
}

/// What proofs of an app must show, in each store; `nil` where none is looked at.
struct AppProofSettings: Sendable {
    var appAttest: AppAttestSettings?
    var playIntegrity: PlayIntegritySettings?

    init() {}

    /// Reads what an app in the offers file says of them.
    init(_ app: inout ObjectReader, isIn stores: (appStore: Bool, googlePlay: Bool), _ mismatches: Mismatches) {
        appAttest = AppAttestSettings.read(&app, isInAppStore: stores.appStore, mismatches)
        playIntegrity = PlayIntegritySettings.read(&app, isAtGooglePlay: stores.googlePlay, mismatches)
    }

    func policy(at store: Store) -> GenuineAppPolicy? {
        switch store {
        case .appStore: appAttest?.policy
        case .googlePlay: playIntegrity?.policy
        }
    }
}
