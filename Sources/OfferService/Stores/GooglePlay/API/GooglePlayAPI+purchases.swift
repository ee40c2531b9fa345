// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

extension GooglePlayAPI: GooglePlayPurchaseSource {
    package func purchase(
        _ token: PurchaseToken,
        of packageName: PackageName,
        for caller: CallerID?
    ) async throws(StoreError) -> GooglePlayPurchaseAnswer {
        let asking = GooglePlayAsking(packageName: packageName, caller: caller ?? .service)
        switch try await subscriptionPurchase(token, asking) {
        case .notFound: return .notFound
        case .gone: return .gone
        case .found(let answer):
            do throws(GooglePlayPurchaseFault) {
                return .purchase(try GooglePlayPurchase(json: answer.json))
            } catch {
                throw .badAnswer(reason: "a purchase: \(error)")
            }
        }
    }
}
