// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
package import OfferDomain

/// What a request has proven about the app that sent it: it is the team's own, on a real device.
///
/// Each store has its own means: App Attest for the App Store, Play Integrity for Google Play.
package struct GenuineApp: Hashable, Sendable {
    /// The app that was proven; a request about another one has proven nothing.
    package let app: AppName
    /// What was proven, by which means.
    package let evidence: Evidence
    /// Where the app is from; `nil` where the system does not say, as before iOS 27.
    package let origin: AppOrigin?

    package init(app: AppName, evidence: Evidence, origin: AppOrigin?) {
        (self.app, self.evidence, self.origin) = (app, evidence, origin)
    }

    /// What the store vouches for.
    package enum Evidence: Hashable, Sendable {
        /// Which of Apple's services vouches for the app.
        case appAttest(AppAttestEnvironment)
        /// What the device meets, and whether the user got the app from Google Play; `nil` if Google did not look.
        case playIntegrity(DeviceIntegrity, isLicensed: Bool?)
    }

    /// The means by which an app proves itself.
    package enum Method: String, CaseIterable, Sendable {
        case appAttest = "app-attest"
        case playIntegrity = "play-integrity"

        /// A proof counts for offers of this store.
        package var store: Store {
            switch self {
            case .appAttest: .appStore
            case .playIntegrity: .googlePlay
            }
        }
    }

    /// What rules may ask of it.
    package var facts: AppFacts {
        switch evidence {
        case .appAttest: AppFacts(origin: origin)
        case .playIntegrity(let device, let isLicensed):
            AppFacts(origin: origin, device: device, isLicensed: isLicensed)
        }
    }

    package var method: Method {
        switch evidence {
        case .appAttest: .appAttest
        case .playIntegrity: .playIntegrity
        }
    }
}
