// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import JSON
import OfferDomain

/// The body of an answer that tells which offers a customer could have.
///
/// The same outlooks make the same bytes, so its digest tells whether anything has changed.
struct EligibilityAnswer: Sendable {
    let bytes: [UInt8]

    init(_ outlooks: [OfferOutlook], policyName: String, showsFindings: Bool) {
        var writer = JSONWriter(reserving: 8192)
        writer.beginObject()
        writer.name("policy")
        writer.string(plain: policyName)
        writer.name("offers")
        writer.beginArray()
        for outlook in outlooks { Self.write(outlook, showsFindings: showsFindings, to: &writer) }
        writer.endArray()
        writer.name("products")
        writer.beginArray()
        for product in ProductOutlook.all(outlooks) { product.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        bytes = writer.bytes
    }

    /// A strong validator (RFC 9110, 8.8.3).
    var entityTag: String { "\"\(SHA256.digest(of: bytes).hex.prefix(32))\"" }

    private static func write(_ outlook: OfferOutlook, showsFindings: Bool, to writer: inout JSONWriter) {
        let offer = outlook.offer
        writer.beginObject()
        writer.name("id")
        writer.string(offer.id.text)
        writer.name("store")
        writer.string(plain: offer.listing.store.rawValue)
        for (name, text) in offer.listing.names {
            writer.name(text: name)
            writer.string(text)
        }
        writer.name("outcome")
        writer.string(plain: outlook.decision.outcome.rawValue)
        if let instant = outlook.decision.nextEligibleAt {
            writer.name("nextEligibleAt")
            writer.string(plain: instant.rfc3339)
        }
        if let obstacle = outlook.obstacle {
            writer.name("obstacle")
            writer.string(plain: obstacle.code)
        }
        if showsFindings {
            writer.name("findings")
            offer.findingTexts.write(outlook.decision.findings, to: &writer)
        }
        writer.endObject()
    }
}

/// What paywalls ask of a product: may this customer have its introductory offer, and which promotional offer.
private struct ProductOutlook {
    let first: CatalogOffer
    /// `nil` if the catalog has none.
    var introductory: Outcome?
    /// The first in the catalog that would be granted.
    var promotionalOfferID: String?
    /// Whether a store was silent of any that isn't.
    var isUncertain = false

    /// Each product once, in the order of the catalog.
    static func all(_ outlooks: [OfferOutlook]) -> [ProductOutlook] {
        var products: [ProductOutlook] = []
        var places: [[String]: Int] = [:]
        for outlook in outlooks {
            let key = [outlook.offer.listing.store.rawValue] + outlook.offer.listing.productNames.map(\.value)
            let place = places[key] ?? products.count
            if place == products.count {
                places[key] = place
                products.append(ProductOutlook(first: outlook.offer))
            }
            products[place].add(outlook)
        }
        return products
    }

    private init(first: CatalogOffer) {
        self.first = first
    }

    private mutating func add(_ outlook: OfferOutlook) {
        if case .appStore(let listing) = outlook.offer.listing, listing.offerID == nil {
            let isSignedByNobody = outlook.obstacle == .keyUnavailable || outlook.obstacle == .sealed
            introductory = isSignedByNobody ? .undecided : outlook.decision.outcome
        } else if outlook.canBeHad {
            promotionalOfferID = promotionalOfferID ?? outlook.offer.listing.offerName
        } else if outlook.obstacle == .storeUnavailable {
            isUncertain = true
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.name("store")
        writer.string(plain: first.listing.store.rawValue)
        for (name, text) in first.listing.productNames {
            writer.name(text: name)
            writer.string(text)
        }
        if let introductory {
            writer.name("introductoryOfferEligibility")
            writer.string(plain: introductory.word)
        }
        if promotionalOfferID != nil || !isUncertain {
            writer.name("promotionalOfferEligibility")
            writer.boolean(promotionalOfferID != nil)
        }
        if let promotionalOfferID {
            writer.name("promotionalOfferId")
            writer.string(promotionalOfferID)
        }
        writer.endObject()
    }
}

extension Outcome {
    /// As SDKs of paywalls word it.
    fileprivate var word: String {
        switch self {
        case .eligible: "eligible"
        case .notEligible: "ineligible"
        case .undecided: "unknown"
        }
    }
}

extension StoreListing {
    /// What names the product in its store.
    fileprivate var productNames: [(name: String, value: String)] {
        switch self {
        case .appStore(let listing): [("productId", listing.productID.text)]
        case .googlePlay(let key): [("productId", key.productID.text), ("basePlanId", key.basePlanID.text)]
        }
    }

    /// What the store calls the offer; `nil` of an introductory offer, which has no name.
    fileprivate var offerName: String? {
        switch self {
        case .appStore(let listing): listing.offerID?.text
        case .googlePlay(let key): key.offerID.text
        }
    }

    /// What names the offer in its store.
    fileprivate var names: [(name: String, value: String)] {
        productNames + (offerName.map { [("offerId", $0)] } ?? [])
    }
}
