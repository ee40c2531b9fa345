// SPDX-License-Identifier: Apache-2.0

/// What proves that a renewal info, which names no app, is ours.
package enum RenewalPairing: Sendable {
    /// A transaction of its chain, product and account; a renewal info without one is refused.
    case byTransaction
    /// The store, which sent both together; an info of another chain or environment is left out and causes no refusal.
    ///
    /// A transaction of an earlier period comes with the renewal info of the present period, and its product.
    case byStore
}
