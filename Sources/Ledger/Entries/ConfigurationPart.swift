// SPDX-License-Identifier: Apache-2.0

/// A part of the configuration that can be the reason why a new one is refused.
package enum ConfigurationPart: String, CaseIterable, Hashable, Sendable {
    case keys
    case offers
    case tls
    case events
    /// An epoch of customers' ids is not the one that the database knows.
    case customerIDs = "customerIds"
    /// What the database holds could not be read, or the change not be recorded.
    case database
    case other
}
