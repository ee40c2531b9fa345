// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain

extension StoreKnowledge {
    /// Adds the user that a token proves: caps count this user, and purchases under the user's names are theirs.
    mutating func add(_ user: ProvenUser?, _ pseudonyms: Pseudonyms, in app: AppName) {
        guard let user else { return }
        provesCustomer = true
        let known = shownNames
        shownNames =
            known
            + user.names(under: pseudonyms, in: app).filter { name in
                !known.contains { $0.identity == name.identity }
            }
    }
}

extension ProvenUser {
    /// The names that the token proves, as the ledger files them.
    func names(under pseudonyms: Pseudonyms, in app: AppName) -> [PseudonymizedName] {
        names.map { PseudonymizedName($0, pseudonyms.pseudonym(of: $0, in: app)) }
    }
}
