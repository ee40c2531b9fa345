// SPDX-License-Identifier: Apache-2.0

/// Which uses of offers are counted; of what is nil, any.
struct OfferPattern {
    let type: OfferType?
    let offerID: OfferID?
    let group: SubscriptionGroupID?

    /// Whether a use is one of these; undecided if it may be, and it isn't known of which offer or group it was.
    ///
    /// A use whose type the store added later is of no type that a rule can name, and counts where any type does.
    func fits(_ use: OfferUse) -> Answer {
        guard type == nil || use.type == type else { return .notMet }
        // An introductory offer has no id, so it is none that has one.
        let isOfOffer = use.type == .introductory ? Answer(offerID == nil) : fits(use.offerID, offerID)
        return Answer.all([isOfOffer, fits(use.subscriptionGroup, group)])
    }

    private func fits<Value: Equatable>(_ found: Value?, _ wanted: Value?) -> Answer {
        guard let wanted else { return .met }
        return found.map { Answer($0 == wanted) } ?? .undecided
    }
}
