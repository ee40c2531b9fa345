// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// Why a signature is not on record, as far as is known.
package struct NoRecord: Sendable {
    /// The entry with the same nonce, and the presented members that differ from it.
    package let near: (index: Int64, differences: [String])?
    /// This service's key that nevertheless made the signature; `nil` if no such key is known.
    package var madeBy: KeyID?

    package init(near: (index: Int64, differences: [String])?, madeBy: KeyID? = nil) {
        (self.near, self.madeBy) = (near, madeBy)
    }

    /// One sentence or more for the answer.
    package var description: String {
        if let madeBy {
            return
                "The key \(madeBy) made this signature, and the audit log has no record of it. Another program signs with "
                + "the key. If it is not yours, treat the key as stolen: see “A key was stolen” in docs/runbook.md."
        }
        guard let near else {
            return
                "No entry has this digest or this nonce: either it was not signed by this service, or a field differs."
        }
        if near.differences.isEmpty {
            return "Entry \(near.index) has the nonce and every other field that records hold. So appAccountToken or "
                + "applicationUsername (of a JWS, another claim) differs from what was signed; records don't hold it."
        }
        return "Entry \(near.index) has the nonce, and differs in \(near.differences.joined(separator: ", "))."
    }
}
