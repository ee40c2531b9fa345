// SPDX-License-Identifier: Apache-2.0
import OfferService
import Testing

@testable import Stores

/// A way in which a fake store misbehaves, and what the client makes of it: the label of an error, or nothing.
struct RudeRow<Misbehaviour: Sendable>: Sendable, CustomTestStringConvertible {
    let misbehaviour: Misbehaviour
    let label: String?
    let testDescription: String

    init(_ name: String, _ misbehaviour: Misbehaviour, _ label: String?) {
        self.misbehaviour = misbehaviour
        self.label = label
        testDescription = name
    }

    /// Short where waiting is all that ends it; elsewhere a busy machine must not be taken for a rude store.
    var retries: RetryPolicy {
        let isShort = label == "unavailable"
        return RetryPolicy(
            attempts: 2,
            attemptMilliseconds: isShort ? 700 : 20_000,
            overallMilliseconds: isShort ? 1500 : 40_000
        )
    }
}
