// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain

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
