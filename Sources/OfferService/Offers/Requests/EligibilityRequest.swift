// SPDX-License-Identifier: Apache-2.0
package import Configuration
import JSON
package import OfferDomain

/// What a caller of `POST /v1/eligibility` asks; every field already in its type.
package final class EligibilityRequest: Sendable {
    /// The app, by its name in either store; one of the two is never nil.
    package let bundleID: BundleID?
    /// The app at Google Play; `nil` if the request names it in the App Store alone.
    package let packageName: PackageName?
    /// By the catalog's own ids, each once; nil asks for all of the app.
    package let offerIDs: [CatalogOfferID]?
    /// The customer that the decisions are about, as the caller states.
    package let customer: StatedCustomer
    /// Of purchases that the customer made, as Google Play gave them to the app.
    package let purchaseTokens: [PurchaseToken]
    /// The country that the device's Google Play is set to; nil if the app can't tell.
    package let region: Region?

    /// How many offers may be asked for by name.
    package static let mostOffers = 64

    private static let limits = JSONLimits(maximumBytes: 65_536, maximumNodes: 2048, maximumStringBytes: 32_768)

    /// Reads the body of a request; the facts that it states count as observed when it was received.
    package init(_ body: [UInt8], by user: ProvenUser? = nil, receivedAt now: Timestamp) throws(Refusal) {
        let document: JSONDocument
        do { document = try JSONDocument(body, limits: Self.limits) } catch { throw .request(.malformedJSON(error)) }
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        bundleID = reader.optional("bundleId", text: BundleID.init)
        packageName = reader.optional("packageName", text: PackageName.init)
        if reader.member("bundleId") == nil, reader.member("packageName") == nil {
            reader.note("bundleId", "is missing, and so is packageName; the app has one of them at least")
        }
        offerIDs = Self.readOfferIDs(&reader, mismatches)
        var customer = StatedCustomer(&reader, for: .promotionalOffer, into: mismatches)
        purchaseTokens = AuthorizationRequest.readTokens(&reader, mismatches)
        region = reader.optional("regionCode", text: Region.init)
        customer.readAssertions(&reader, of: user, into: mismatches, receivedAt: now)
        self.customer = customer
        reader.finish()
        guard mismatches.all.isEmpty else { throw .invalid(mismatches) }
    }

    private static func readOfferIDs(
        _ reader: inout ObjectReader,
        _ mismatches: Mismatches
    ) -> [CatalogOfferID]? {
        guard let value = reader.member("offerIds") else { return nil }
        let ids: [CatalogOfferID] = reader.elements("offerIds", atMost: mostOffers) { element in
            guard let text = element.string else {
                return mismatches.none(element, "expected an id of the catalog, found \(element.summary)")
            }
            do { return try CatalogOfferID(text) } catch { return mismatches.none(element, "\(error)") }
        }
        if value.array?.isEmpty == true { mismatches.add(value, "is empty; leave it out to ask for all offers") }
        if Set(ids).count != ids.count { mismatches.add(value, "names an offer twice") }
        return ids
    }

    /// The app that the request may prove to be genuine, in either store.
    var provableApps: ProvableApps {
        ProvableApps(bundleIDs: bundleID.map { [$0] } ?? [], packageName: packageName)
    }

    /// The region of an offer at Google Play: where the device buys, or if that is unknown, what a backend states.
    var knownRegion: Region? { region ?? customer.facts.value.region?.value }
}
