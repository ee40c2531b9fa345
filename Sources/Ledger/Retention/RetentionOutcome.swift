// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
import Storage

/// The answer that a subscriber was shown before canceling.
package struct ShownAnswer: Hashable, Sendable {
    let chain: ChainKey
    let bundleID: BundleID
    let environment: StoreEnvironment
    /// Its name in the answer, such as `promotionalOffer`.
    let answer: String
    /// The catalog's own ID of the offer; empty of an answer without one.
    let offer: String

    package init(
        chain: ChainKey,
        bundleID: BundleID,
        environment: StoreEnvironment,
        answer: String,
        offer: String
    ) {
        (self.chain, self.bundleID, self.environment) = (chain, bundleID, environment)
        (self.answer, self.offer) = (answer, offer)
    }
}

/// What a subscriber did within ``hours`` after an answer.
package struct RetentionOutcome: Hashable, Sendable {
    /// What it was.
    package enum Outcome: String, Sendable {
        /// Renewal was not turned off.
        case kept
        case canceled
    }

    package let environment: String
    /// The answer's name, such as `promotionalOffer`.
    package let answer: String
    /// The catalog's own ID of the offer; empty of an answer without one.
    package let offer: String
    package let outcome: Outcome

    /// How long after an answer canceling counts.
    package static let hours = 24
}
