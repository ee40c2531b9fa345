// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain

/// Who a request says that its customer is, beside what a user's token proves.
///
/// What a token proves need not be said again, and may not be contradicted.
struct StatedNames {
    private(set) var customerID: CustomerID?
    private(set) var binding: PurchaseBinding
    /// Members that this caller may not send, as pointers.
    private(set) var assertions: [String]

    /// `assertions` are those that only a backend may send; without a user nothing changes.
    init(
        _ customerID: CustomerID?,
        binding: PurchaseBinding,
        assertions: [String] = [],
        of user: ProvenUser?
    ) {
        self.customerID = customerID
        self.binding = binding
        self.assertions = assertions
        guard let user else { return }
        if customerID == user.customerID { self.assertions.removeAll { $0 == "/customerId" } }
        self.customerID = user.customerID
        guard let token = user.appAccountToken else { return }
        switch binding {
        case .appAccountToken(let stated) where stated != token: self.assertions.append("/appAccountToken")
        case .applicationUsername(let name) where UniqueID(name.text) != token:
            self.assertions.append("/applicationUsername")
        case .none: self.binding = .appAccountToken(token)
        case .appAccountToken, .applicationUsername: break
        }
    }
}
