// SPDX-License-Identifier: Apache-2.0

/// What shows that a renewal info, which names no app, is of ours.
package enum RenewalPairing: Sendable {
    /// A transaction of its chain, product and account; without one beside it, it is refused.
    case byTransaction
    /// The store, which has sent both together; one of another chain or environment is left out, and refuses nothing.
    ///
    /// What is told of an earlier period has the renewal info of the present one beside it, and its product.
    case byStore
}
