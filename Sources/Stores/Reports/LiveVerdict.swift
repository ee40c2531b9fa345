// SPDX-License-Identifier: Apache-2.0

/// The result of asking a store or a provider about what is set up there.
package enum LiveVerdict: Hashable, Sendable {
    case good
    /// The operator has to change something.
    case wrong
    /// Nothing is known to be wrong, but not everything could be asked.
    case unreachable
}
