// SPDX-License-Identifier: Apache-2.0

/// A part of the configuration that can cause a refusal of a new one.
package enum ConfigurationPart: String, CaseIterable, Hashable, Sendable {
    case keys
    case offers
    case tls
    case events
    /// A secret version of customers' IDs differs from the one in the database.
    case customerIDs = "customerIds"
    /// The database could not be read, or the change could not be recorded.
    case database
    case other
}
