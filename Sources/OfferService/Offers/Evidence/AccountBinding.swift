// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain

/// Decides which App Store account a signature is bound to.
///
/// - A promotional offer is bound to the names that the request gives. Where an app sends signed data along, a JWS is bound
///   to the account of that data.
/// - An introductory offer is bound to an account of the store. An app has to show by signed data that it is the customer's.
/// - A backend may name the transaction of any customer: it knows them.
struct AccountBinding: Sendable {
    let customer: StatedCustomer
    /// What the App Store signed for the customer, as far as the request sends it along.
    let shown: SubscriptionEvidence
    let context: RequestContext

    /// Refuses signed data of another account than the request names, or of several accounts.
    init(
        _ customer: StatedCustomer,
        shownBy shown: SubscriptionEvidence,
        signing forms: [SignatureForm],
        in context: RequestContext
    ) throws(Refusal) {
        if !customer.signedData.isEmpty {
            try shown.refuseOtherAccount(than: customer.binding, from: context.caller, signing: forms)
        }
        if !context.isBelieved { try shown.refuseSeveralAccounts() }
        self.customer = customer
        self.shown = shown
        self.context = context
    }

    /// What is signed of an offer; the forms are those of a promotional offer.
    func subject(of listing: AppStoreListing, in forms: [SignatureForm]) throws(Refusal) -> SigningSubject {
        guard let offerID = listing.offerID else { return .introductoryOfferEligibility(try shownTransaction()) }
        let id = forms.contains(.jws) ? try jwsTransaction() : customer.transactionID
        return .promotionalOffer(offerID, transactionID: id, forms: forms)
    }

    /// The transaction of the account that gets an introductory offer.
    private func shownTransaction() throws(Refusal) -> TransactionID {
        guard let id = namedOrShown, context.isBelieved || shown.accountIDs.contains(id) else {
            throw .request(.transactionNotShown)
        }
        return id
    }

    /// The transaction of the account that gets a promotional offer by JWS.
    ///
    /// Where an app has the offer decided on purchases that it shows, it is one of these. Otherwise an app could have the JWS
    /// signed for another account.
    private func jwsTransaction() throws(Refusal) -> TransactionID? {
        guard !context.isBelieved, let first = shown.accountIDs.first else { return customer.transactionID }
        guard let named = customer.transactionID else { return first }
        guard shown.accountIDs.contains(named) else { throw .request(.transactionNotShown) }
        return named
    }

    /// The transaction that the request names, or else the first that it shows.
    var namedOrShown: TransactionID? { customer.transactionID ?? shown.accountIDs.first }
}
