// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OfferDomain

/// What came of looking for a proof in a request.
package enum AppProof: Sendable {
    /// None was sent, or none is looked at.
    case absent
    case genuine(GenuineApp)
    /// One was sent, and Google could not say what it proves.
    case unanswered(ServiceFault)
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

/// What Google must say of an app for its proof to be taken.
package struct PlayIntegritySettings: Hashable, Sendable {
    /// What holds for offers that say nothing of their own.
    package let policy: GenuineAppPolicy
    /// The least that the device must meet.
    package let device: DeviceIntegrity
    /// Whether the user must have got the app from Google Play.
    package let demandsLicense: Bool
    /// SHA-256 of certificates of builds that Google Play does not know, in base64url without padding.
    package let otherCertificates: Set<String>
    /// How many questions Google answers.
    package let requestsPerDay: Int

    package init(
        policy: GenuineAppPolicy,
        device: DeviceIntegrity = .device,
        demandsLicense: Bool = false,
        otherCertificates: Set<String> = [],
        requestsPerDay: Int = PlayIntegrityAPI.usualRequestsPerDay
    ) {
        self.policy = policy
        self.device = device
        self.demandsLicense = demandsLicense
        self.otherCertificates = otherCertificates
        self.requestsPerDay = requestsPerDay
    }
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
