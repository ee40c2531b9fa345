// SPDX-License-Identifier: Apache-2.0

/// What is done about certificates that may have been revoked.
package enum RevocationCheck: String, CaseIterable, Hashable, Sendable {
    /// Responders are asked in the background; a chain is believed until one says that it has been revoked.
    case background
    /// A chain is believed only while all of its responders' answers say that it has not been revoked.
    case required
    /// The service asks no responder.
    case off
}
