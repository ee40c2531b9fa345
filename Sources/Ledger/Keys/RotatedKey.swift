// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain

/// A key of the ledger, and what it was under the earlier versions of the secret.
package struct RotatedKey: Hashable, Sendable {
    /// The key in force.
    package let current: [UInt8]
    /// The latest first.
    package let earlier: [[UInt8]]

    /// `nil` if there are no earlier secret versions.
    init?(_ pseudonym: Pseudonym) {
        guard !pseudonym.earlier.isEmpty else { return nil }
        current = pseudonym.ledgerKey
        earlier = pseudonym.earlier.map(\.ledgerKey)
    }

    init(current: [UInt8], earlier: [[UInt8]]) {
        self.current = current
        self.earlier = earlier
    }
}
