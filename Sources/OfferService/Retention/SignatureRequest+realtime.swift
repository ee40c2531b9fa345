// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain

extension SignatureRequest {
    /// Turns a real-time request of the App Store into a request for the offer's JWS, bound to the subscription.
    ///
    /// Apple's signature proves the subscription, and the catalog its `group`. All other facts must be known already.
    convenience init(
        _ request: RealtimeRequest,
        in group: SubscriptionGroupID?,
        for listing: AppStoreListing,
        _ offerID: OfferID,
        receivedAt now: Timestamp
    ) {
        var customer = StatedCustomer()
        customer.transactionID = request.originalTransactionID
        customer.facts = SharedFacts(CustomerFacts(of: request, in: group, receivedAt: now))
        customer.isFromAppStore = true
        self.init(
            for: listing.productID,
            of: listing.bundleID,
            .promotionalOffer(offerID, forms: [.jws]),
            customer: customer,
            client: .appStoreRetention
        )
    }
}

extension CustomerFacts {
    /// The facts that a real-time request proves: Apple sends it only for a subscriber.
    fileprivate init(of request: RealtimeRequest, in group: SubscriptionGroupID?, receivedAt now: Timestamp) {
        var stated = StatedFacts()
        stated.subscribedBefore = true
        stated.environment = request.environment
        stated.originalTransactionID = request.originalTransactionID
        stated.subscriptionGroup = group
        self.init(stated, at: now)
    }
}
