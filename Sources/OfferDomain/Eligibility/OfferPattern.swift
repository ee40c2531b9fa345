// SPDX-License-Identifier: Apache-2.0

/// Which uses of offers are counted; nil matches any.
struct OfferPattern {
    let type: OfferType?
    let offerID: OfferID?
    let group: SubscriptionGroupID?

    /// Whether a use matches; undecided if it may match, but its offer or group isn't known.
    ///
    /// A use of a type that this version does not know matches only a pattern without a type.
    func fits(_ use: OfferUse) -> Answer {
        guard type == nil || use.type == type else { return .notMet }
        // An introductory offer has no ID, so it cannot match an ID.
        let isOfOffer = use.type == .introductory ? Answer(offerID == nil) : fits(use.offerID, offerID)
        return Answer.all([isOfOffer, fits(use.subscriptionGroup, group)])
    }

    private func fits<Value: Equatable>(_ found: Value?, _ wanted: Value?) -> Answer {
        guard let wanted else { return .met }
        return found.map { Answer($0 == wanted) } ?? .undecided
    }
}
