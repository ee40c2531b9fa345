// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

@testable import OfferService
@testable import Stores

/// A subscription and an offer as Google Play lists them, and what is asked about them.
struct ListedSample {
    enum Part {
        case subscription, offer
    }

    var subscription: Tree
    var offer: Tree
    /// Whether it is in the list at all.
    var isOfferListed = true
    var key = ListedSample.key
    var region: Region?
    var hideTags: Set<OfferTag>

    /// With nothing wrong: a trial and then half the price, in the US and in Germany.
    init() throws {
        subscription = try Tree(Self.subscriptionText)
        offer = try Tree(Self.offerText)
        region = try Region("US")
        hideTags = [try OfferTag("ignore-offer")]
    }

    static let key: GooglePlayOfferKey = {
        // The texts are identifiers; if one were not, every test here would fail at once.
        guard let packageName = try? PackageName("com.example.app"),
            let productID = try? GooglePlayProductID("premium"), let basePlanID = try? BasePlanID("monthly"),
            let offerID = try? GooglePlayOfferID("winback-50")
        else { preconditionFailure("the sample's ids are wrong") }
        return GooglePlayOfferKey(
            packageName: packageName,
            productID: productID,
            basePlanID: basePlanID,
            offerID: offerID
        )
    }()

    static let readAt = Timestamp(milliseconds: 1_782_907_200_000)

    /// Puts a JSON value at a pointer of a part; without one, takes away what is there.
    mutating func set(_ part: Part, _ pointer: String, _ json: String?) throws {
        let value = try json.map { try Tree("[\($0)]")[0] }
        switch part {
        case .subscription: subscription = subscription.with(value, at: pointer)
        case .offer: offer = offer.with(value, at: pointer)
        }
    }

    func playCatalog() throws -> PlayCatalog {
        try PlayCatalog(
            of: Self.key.packageName,
            subscriptions: [JSONDocument(listing: #"{"subscriptions":[\#(subscription.json)]}"#)],
            offers: [JSONDocument(listing: isOfferListed ? #"{"subscriptionOffers":[\#(offer.json)]}"# : "{}")],
            readAt: Self.readAt
        )
    }

    func verdict() throws -> Result<ValidatedOffer, OfferFault> {
        GooglePlayOfferCheck.validate(key, region: region, hideTags: hideTags, in: try playCatalog())
    }

    /// The code of the refusal; `nil` if there is none.
    func code() throws -> String? {
        if case .failure(let fault) = try verdict() { fault.code } else { nil }
    }

    static let subscriptionText = """
        {"packageName":"com.example.app","productId":"premium",
         "listings":[{"languageCode":"en-US","title":"Premium","benefits":[]}],
         "taxAndComplianceSettings":{"eeaWithdrawalRightType":"WITHDRAWAL_RIGHT_DIGITAL_CONTENT"},
         "basePlans":[
          {"basePlanId":"monthly","state":"ACTIVE",
           "autoRenewingBasePlanType":{"billingPeriodDuration":"P1M","gracePeriodDuration":"P7D",
            "resubscribeState":"RESUBSCRIBE_STATE_ACTIVE","prorationMode":"SUBSCRIPTION_PRORATION_MODE_CHARGE_ON_NEXT_BILLING_DATE",
            "legacyCompatible":true},
           "offerTags":[{"tag":"standard"}],
           "regionalConfigs":[
            {"regionCode":"US","newSubscriberAvailability":true,"price":{"currencyCode":"USD","units":"9","nanos":990000000}},
            {"regionCode":"DE","newSubscriberAvailability":true,"price":{"currencyCode":"EUR","units":"10"}}],
           "otherRegionsConfig":{"newSubscriberAvailability":true,"usdPrice":{"currencyCode":"USD","units":"9"},
            "eurPrice":{"currencyCode":"EUR","units":"9"}}},
          {"basePlanId":"prepaid-month","state":"ACTIVE","prepaidBasePlanType":{"billingPeriodDuration":"P1M"},
           "regionalConfigs":[{"regionCode":"US","newSubscriberAvailability":true}]}]}
        """

    static let offerText = """
        {"packageName":"com.example.app","productId":"premium","basePlanId":"monthly","offerId":"winback-50","state":"ACTIVE",
         "phases":[
          {"recurrenceCount":1,"duration":"P7D","regionalConfigs":[{"regionCode":"US","free":{}},{"regionCode":"DE","free":{}}],
           "otherRegionsConfig":{"free":{}}},
          {"recurrenceCount":3,"duration":"P1M",
           "regionalConfigs":[{"regionCode":"US","relativeDiscount":0.5},
            {"regionCode":"DE","price":{"currencyCode":"EUR","units":"4","nanos":990000000}}],
           "otherRegionsConfig":{"relativeDiscount":0.5}}],
         "regionalConfigs":[{"regionCode":"US","newSubscriberAvailability":true},
          {"regionCode":"DE","newSubscriberAvailability":true}],
         "otherRegionsConfig":{"otherRegionsNewSubscriberAvailability":true},
         "offerTags":[{"tag":"ignore-offer"},{"tag":"winback"}]}
        """
}

extension JSONDocument {
    /// A page of one of Google Play's lists.
    init(listing text: String) throws(JSONError) {
        try self.init(Array(text.utf8), limits: .googlePlayListing)
    }
}

extension JSONLimits {
    /// Deeper than Google's lists are, so that members may be added anywhere.
    static let googlePlayListing = JSONLimits(maximumDepth: 16, maximumNodes: 4096)
}
