// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import JSON
import OfferDomain

/// The body of an answer that tells which offers a customer could have.
///
/// Equal previews make equal bytes, so the digest shows whether anything has changed.
struct EligibilityAnswer: Sendable {
    let bytes: [UInt8]

    init(_ offerPreviews: [EligibilityPreview], policyName: String, showsFindings: Bool) {
        var writer = JSONWriter(reserving: 8192)
        writer.beginObject()
        writer.name("policy")
        writer.string(plain: policyName)
        writer.name("offers")
        writer.beginArray()
        for offerPreview in offerPreviews { Self.write(offerPreview, showsFindings: showsFindings, to: &writer) }
        writer.endArray()
        writer.name("products")
        writer.beginArray()
        for product in ProductPreview.all(offerPreviews) { product.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        bytes = writer.bytes
    }

    /// A strong validator (RFC 9110, 8.8.3).
    var entityTag: String { "\"\(SHA256.digest(of: bytes).hex.prefix(32))\"" }

    private static func write(_ offerPreview: EligibilityPreview, showsFindings: Bool, to writer: inout JSONWriter) {
        let offer = offerPreview.offer
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
        writer.string(plain: offerPreview.decision.outcome.rawValue)
        if let instant = offerPreview.decision.nextEligibleAt {
            writer.name("nextEligibleAt")
            writer.string(plain: instant.rfc3339)
        }
        if let obstacle = offerPreview.obstacle {
            writer.name("obstacle")
            writer.string(plain: obstacle.code)
        }
        if showsFindings {
            writer.name("findings")
            offer.findingTexts.write(offerPreview.decision.findings, to: &writer)
        }
        writer.endObject()
    }
}

/// What paywalls ask of a product: may this customer have its introductory offer, and which promotional offer.
private struct ProductPreview {
    let first: CatalogOffer
    /// `nil` if the catalog has none.
    var introductory: Outcome?
    /// The first in the catalog that would be granted.
    var promotionalOfferID: String?
    /// Whether a store was silent of any that isn't.
    var isUncertain = false

    /// Each product once, in the order of the catalog.
    static func all(_ offerPreviews: [EligibilityPreview]) -> [ProductPreview] {
        var products: [ProductPreview] = []
        var places: [[String]: Int] = [:]
        for offerPreview in offerPreviews {
            let key = [offerPreview.offer.listing.store.rawValue] + offerPreview.offer.listing.productNames.map(\.value)
            let place = places[key] ?? products.count
            if place == products.count {
                places[key] = place
                products.append(ProductPreview(first: offerPreview.offer))
            }
            products[place].add(offerPreview)
        }
        return products
    }

    private init(first: CatalogOffer) {
        self.first = first
    }

    private mutating func add(_ offerPreview: EligibilityPreview) {
        if case .appStore(let listing) = offerPreview.offer.listing, listing.offerID == nil {
            let isSignedByNobody = offerPreview.obstacle == .keyUnavailable || offerPreview.obstacle == .sealed
            introductory = isSignedByNobody ? .undecided : offerPreview.decision.outcome
        } else if offerPreview.canBeHad {
            promotionalOfferID = promotionalOfferID ?? offerPreview.offer.listing.offerName
        } else if offerPreview.obstacle == .storeUnavailable {
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
