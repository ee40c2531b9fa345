// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
import Ledger
package import OfferDomain

/// What a request says of its customer, and what it sends along to show it.
package struct StatedCustomer: Sendable {
    /// Only from a `backend`, or proven by a user's token.
    package var customerID: CustomerID?
    /// From callers of any role.
    package var anonymousID: AnonymousID?
    /// What the purchase will name: an account token, a user name of original StoreKit, or nothing.
    package var binding = PurchaseBinding.none
    /// Any transaction of the customer in the App Store.
    package var transactionID: TransactionID?
    /// What the App Store signed, as it was sent along; not verified yet.
    package var signedData = SignedDataMembers()
    /// The facts that a `backend` states; nothing of other callers.
    package var facts = SharedFacts.nothing
    /// `nil` if the request states none.
    package var attributes: Attributes?
    /// Members that only a `backend` may send and that the request has, as pointers.
    package var assertions: [String] = []
    /// Whether the App Store asks: then the transaction is the customer's, and there is no time for a question to the store.
    var isFromAppStore = false

    init() {}

    /// Reads the members that name a customer of the App Store.
    init(_ reader: inout ObjectReader, for call: SignatureRequest.Kind, into mismatches: Mismatches) {
        binding = PurchaseBinding(&reader, takesUsername: call == .promotionalOffer)
        customerID = reader.optional("customerId", text: CustomerID.init)
        anonymousID = reader.optional("anonymousId", text: AnonymousID.init)
        transactionID = reader.optional("transactionId", text: TransactionID.init)
        signedData = SignedDataMembers(&reader, mismatches)
    }

    /// Reads `facts` and `attributes`, and adds what a user's token proves.
    ///
    /// Only a `backend` may state facts, attributes and a customer ID; facts count as observed at `now`.
    mutating func readAssertions(
        _ reader: inout ObjectReader,
        of user: ProvenUser?,
        into mismatches: Mismatches,
        receivedAt now: Timestamp
    ) {
        var stated = customerID == nil ? [] : ["/customerId"]
        if let value = reader.member("facts") {
            stated.append("/facts")
            facts = SharedFacts(CustomerFactsReader.read(value, observedAt: now, into: mismatches))
        }
        attributes = user?.attributes
        if let value = reader.member("attributes") {
            stated.append("/attributes")
            attributes = AttributesReader.read(value, into: mismatches)
        }
        let names = StatedNames(customerID, binding: binding, assertions: stated, of: user)
        (customerID, binding, assertions) = (names.customerID, names.binding, names.assertions)
    }

    /// All names of the customer that are not the store's own, the known one first.
    var identities: [CustomerIdentity] {
        CustomerIdentity.known(
            customer: customerID,
            anonymous: anonymousID,
            binding: binding,
            originalTransaction: facts.value.originalTransactionID?.value
        )
    }

    /// The names under which purchases are filed that a trusted caller sends for the customer.
    var vouchedFor: [CustomerIdentity] {
        CustomerIdentity.vouchedFor(customer: customerID, anonymous: anonymousID, binding: binding)
    }
}

extension CustomerPolicy {
    /// Refuses a customer id that has none of the forms, such as an e-mail address or a number, which can be guessed.
    func admit(_ customerID: CustomerID?, pointer: String = "/customerId") throws(Refusal) {
        guard let message = customerID.flatMap(fault) else { return }
        throw .request(.invalid([Mismatch(pointer: pointer, offset: 0, message: message)]))
    }
}
