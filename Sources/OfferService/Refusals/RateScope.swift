// SPDX-License-Identifier: Apache-2.0

/// What is counted together.
package enum RateScope: String, CaseIterable, Sendable {
    case caller, address, subject
    /// From one address or subscriber, or from all apps, at the same time.
    case atOnce = "at-once"
    /// DPoP proofs of one key, or of all keys together.
    case proofs
}
