// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

extension PurchaseBinding {
    /// What a purchase carries: the token of StoreKit 2, or the user name of StoreKit 1, which knows no other than
    /// promotional offers; never both.
    init(_ reader: inout ObjectReader, takesUsername: Bool) {
        let token = reader.optional("appAccountToken", "a UUID, as 8-4-4-4-12 hexadecimal digits") { value in
            value.stringSlice.flatMap { UniqueID(utf8: $0) }
        }
        self = token.map(PurchaseBinding.appAccountToken) ?? .none
        guard takesUsername, let username = reader.optional("applicationUsername", text: ApplicationUsername.init)
        else { return }
        guard token == nil else {
            reader.note(
                "applicationUsername",
                "cannot be combined with appAccountToken; a purchase carries one of them, so send the one that the app sets"
            )
            return
        }
        self = .applicationUsername(username)
    }
}
