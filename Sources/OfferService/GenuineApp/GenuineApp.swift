// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OfferDomain

/// What a request has proven about the app that sent it: it is the team's own, on a real device.
///
/// Each store has a way of its own for this; App Attest is the App Store's.
package struct GenuineApp: Hashable, Sendable {
    /// The app that was proven; a request about another one has proven nothing.
    package let app: AppName
    /// By which means.
    package let method: Method
    /// Which of Apple's services vouches for the app.
    package let environment: AppAttestEnvironment
    /// Where the app is from; `nil` where the system does not say, as before iOS 27.
    package let origin: AppOrigin?

    /// How an app proves itself.
    package enum Method: String, CaseIterable, Sendable {
        case appAttest = "app-attest"
    }
}

/// Whether an offer is only for apps that prove themselves.
package enum GenuineAppPolicy: String, CaseIterable, Sendable {
    /// Without a proof, an app does not get the offer.
    case require
    /// A proof that is sent counts and is on record; a request without one is as good.
    case prefer
    /// No proof is looked at.
    case off
}

/// What an app's keys must be to be taken.
package struct AppAttestSettings: Hashable, Sendable {
    /// Ten letters and digits that stand before the bundle ID in the app's ID.
    package let teamID: String
    /// The services whose keys are taken.
    package let environments: Set<AppAttestEnvironment>
    /// What holds for offers that say nothing of their own.
    package let policy: GenuineAppPolicy

    package init(teamID: String, environments: Set<AppAttestEnvironment>, policy: GenuineAppPolicy) {
        self.teamID = teamID
        self.environments = environments
        self.policy = policy
    }

    /// What Apple calls the app, `TEAMID.bundle.id`.
    func appID(of bundleID: BundleID) -> String { "\(teamID).\(bundleID.text)" }
}

extension AppOrigin {
    /// What the system's category means.
    init(_ category: ValidationCategory) {
        self =
            switch category {
            case .appStore: .appStore
            case .testFlight: .testFlight
            case .development: .development
            case .enterprise: .enterprise
            case .developerID: .developerID
            case .invalid, .platform, .local, .rosetta, .outOfProcessJIT, .noCategory: .other
            }
    }
}
