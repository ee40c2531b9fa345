// SPDX-License-Identifier: Apache-2.0

/// How users' tokens are checked.
package struct UserTokenOptions: Sendable {
    /// How long a request waits for the keys of its token's provider.
    package var keysMilliseconds: Int64 = 2000
    /// How many used DPoP proofs are remembered.
    package var proofs = ProofLimits()

    package init() {}
}

/// How many used DPoP proofs are remembered for 11 minutes; beyond them, users wait.
package struct ProofLimits: Sendable {
    /// Of one key: more than one customer may ask in that time.
    package var ofKey = 2000
    /// Of all keys together.
    package var ofAll = 500_000

    package init(ofKey: Int = 2000, ofAll: Int = 500_000) {
        self.ofKey = ofKey
        self.ofAll = ofAll
    }
}
