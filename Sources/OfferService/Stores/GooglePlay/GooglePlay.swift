// SPDX-License-Identifier: Apache-2.0
package import JSON
package import OfferDomain

/// Google Play as the service sees it: what it lists is kept at hand, and what was bought is asked.
package struct GooglePlay: GooglePlayListing, GooglePlayPurchaseSource {
    private let api: GooglePlayAPI

    package init(api: GooglePlayAPI) {
        self.api = api
    }

    package func subscriptionPages(of packageName: PackageName) async throws(StoreError) -> [JSONDocument] {
        try await api.subscriptionPages(GooglePlayAsking(packageName: packageName, caller: .service))
    }

    package func offerPages(of packageName: PackageName) async throws(StoreError) -> [JSONDocument] {
        try await api.offerPages(GooglePlayAsking(packageName: packageName, caller: .service))
    }

    package func purchase(
        _ token: PurchaseToken,
        of packageName: PackageName,
        for caller: CallerID?
    ) async throws(StoreError) -> GooglePlayPurchaseAnswer {
        let asking = GooglePlayAsking(packageName: packageName, caller: caller ?? .service)
        switch try await api.subscriptionPurchase(token, asking) {
        case .notFound: return .notFound
        case .gone: return .gone
        case .found(let answer):
            do throws(GooglePlayPurchaseFault) {
                return .purchase(try GooglePlayPurchase(json: answer.json))
            } catch {
                throw .badAnswer(reason: "a purchase \(error)")
            }
        }
    }
}
