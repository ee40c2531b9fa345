// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain

/// What came of looking for a proof in a request.
package enum AppProof: Sendable {
    /// None was sent, or none is looked at.
    case absent
    case genuine(GenuineApp)
    /// One was sent, and Google could not say what it proves.
    case unanswered(ServiceFault)
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
