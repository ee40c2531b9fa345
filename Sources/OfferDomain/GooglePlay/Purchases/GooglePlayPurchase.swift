// SPDX-License-Identifier: Apache-2.0

/// A purchase as Google Play reports it: one purchase token, one or more subscriptions bought with it.
///
/// What names a person is not here: no address, no name, no free text of a survey.
///
/// Source: Google, [SubscriptionPurchaseV2](https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2).
package struct GooglePlayPurchase: Hashable, Sendable {
    /// What has become of it; `SUBSCRIPTION_STATE_UNSPECIFIED` if the store leaves it out.
    package var state: Reported<GooglePlayPurchaseState>
    /// When the subscription was granted; nil while the purchase is pending.
    package var startedAt: Timestamp?
    /// Where the customer was billed when the subscription was granted.
    package var region: Region?
    /// At least one unless nothing was granted yet, in no order that means anything.
    package var lineItems: [LineItem]
    /// The purchase that this one replaced.
    package var linkedToken: PurchaseToken?
    /// The purchase that had expired when the customer subscribed again outside of the app.
    ///
    /// The store sends it until the purchase is acknowledged.
    package var expiredToken: PurchaseToken?
    /// Why it was cancelled, if it was.
    package var cancellation: Reported<GooglePlayCancellation>?
    /// When the customer canceled it; nil if the customer did not.
    package var cancelledAt: Timestamp?
    /// When it resumes by itself, if it is paused.
    package var resumesAt: Timestamp?
    /// Bought by a license tester, who pays nothing.
    package var isTest: Bool
    /// The `obfuscatedExternalAccountId` that the app gave the purchase.
    package var accountID: String?
    /// The `obfuscatedExternalProfileId` that the app gave the purchase, which may be a grant's mark.
    package var profileID: String?
    /// The `obfuscatedExternalAccountId` that the app had given the expired purchase.
    package var expiredAccountID: String?

    /// A purchase with no other data.
    package init(state: Reported<GooglePlayPurchaseState>, lineItems: [LineItem]) {
        self.state = state
        self.lineItems = lineItems
        isTest = false
    }

    /// One of the subscriptions that were bought together.
    package struct LineItem: Hashable, Sendable {
        /// As the store writes it.
        package var productID: String
        /// When the paid time ends, later after each renewal (`expiryTime`).
        package var expiresAt: Timestamp?
        /// Nil for a kind of plan that this version does not know.
        package var plan: Plan?
        /// As the store writes it; nil if it sends none.
        package var basePlanID: String?
        /// Nil for a base plan that was bought without an offer.
        ///
        /// It stays when the offer's phases are over.
        package var offerID: String?
        /// Which price applies now; nil if the store doesn't say.
        package var phase: Reported<GooglePlayOfferPhase>?
        /// The newest question whether the customer agrees to a higher price; nil if there was none.
        package var priceStepUp: PriceStepUp?
        /// The item of an earlier purchase that this one took the place of, for 60 days.
        package var replaced: ReplacedItem?
        /// Whether it was bought with a code of a promotion.
        package var hasPromotionCode = false
        /// Whether it will be gone at the next renewal.
        package var isRemovedLater = false
        /// Whether another subscription takes its place at the next renewal: a change of plan that was put off.
        package var isReplacedLater = false

        /// An item with no other data.
        package init(productID: String) {
            self.productID = productID
        }
    }

    /// What the customer is asked before a higher price applies.
    package struct PriceStepUp: Hashable, Sendable {
        package let consent: Reported<PriceStepUpConsent>
        /// Without consent until then, the subscription is canceled.
        package let deadline: Timestamp?

        package init(consent: Reported<PriceStepUpConsent>, deadline: Timestamp?) {
            self.consent = consent
            self.deadline = deadline
        }
    }

    /// How an item continues when its time is over.
    package enum Plan: Hashable, Sendable {
        /// `isCancellationPending`: a plan in installments continues until the agreed sum is paid, and then ends.
        case autoRenewing(isEnabled: Bool, isCancellationPending: Bool)
        case prepaid
    }

    /// An item that an item of a later purchase replaced.
    package struct ReplacedItem: Hashable, Sendable {
        /// As the store writes it.
        package let productID: String
        /// Nil if the store sends none.
        package let basePlanID: String?
        /// Nil for an item without an offer.
        package let offerID: String?

        package init(productID: String, basePlanID: String?, offerID: String?) {
            self.productID = productID
            self.basePlanID = basePlanID
            self.offerID = offerID
        }
    }
}
