// SPDX-License-Identifier: Apache-2.0
import OfferDomain

extension StoreKnowledge {
    /// Adds whom a user's token shows.
    mutating func add(_ user: ProvenUser?, _ pseudonyms: Pseudonyms, in app: AppName) {
        guard let user else { return }
        provesCustomer = true
        let known = shownNames
        shownNames =
            known
            + user.names.filter { name in !known.contains { $0.identity == name } }
            .map { PseudonymizedName($0, pseudonyms.pseudonym(of: $0, in: app)) }
    }
}
