// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// An offer, and whether one customer could have it now.
package struct EligibilityPreview: Sendable {
    /// The catalog's offer in one store.
    package let offer: CatalogOffer
    /// What the rules say now; nothing is recorded.
    package let decision: Decision
    /// What else keeps the customer from the offer, besides the rules.
    package let obstacle: Obstacle?

    /// Whether it would be granted.
    package var canBeHad: Bool { decision.outcome == .eligible && obstacle == nil }

    /// Why an eligible customer can't have the offer now.
    package enum Obstacle: Hashable, Sendable {
        /// It is set up wrong at Google Play.
        case fault(OfferFault)
        /// A store did not answer, so the decision lacks facts.
        case storeUnavailable
        /// No key is active that could sign it.
        case keyUnavailable
        /// The offer is only for apps that prove themselves, and the request has no proof.
        case genuineAppRequired
        /// The service is sealed.
        case sealed

        /// What programs know it by.
        package var code: String {
            switch self {
            case .fault(let fault): fault.code
            case .storeUnavailable: "store-unavailable"
            case .keyUnavailable: "key-unavailable"
            case .genuineAppRequired: "genuine-app-required"
            case .sealed: "sealed"
            }
        }

        /// Whether it may be over at any moment, so that an answer with it is out of date at once.
        package var isMomentary: Bool {
            switch self {
            case .storeUnavailable, .sealed: true
            case .fault, .keyUnavailable, .genuineAppRequired: false
            }
        }
    }
}
