// SPDX-License-Identifier: Apache-2.0
package import HTTP
package import OfferDomain

extension GooglePlayAPI: GooglePlayPurchaseSource {
    package func purchase(
        _ token: PurchaseToken,
        of packageName: PackageName,
        for party: Party?
    ) async throws(StoreError) -> GooglePlayPurchaseAnswer {
        let asking = GooglePlayAsking(packageName: packageName, party: party ?? .service)
        switch try await subscriptionPurchase(token, asking) {
        case .notFound: return .notFound
        case .gone(let departure): return .gone(isSuperseded: departure == .superseded)
        case .found(let answer):
            do throws(GooglePlayPurchaseFault) {
                return .purchase(try GooglePlayPurchase(json: answer.json))
            } catch {
                throw .badAnswer(reason: "of a purchase: \(error)")
            }
        }
    }
}

extension GooglePushAuthenticator: GooglePushAuthentication {
    package func identify(_ headers: HeaderFields) async throws(GooglePushRefusal) {
        do {
            try await authenticate(headers)
        } catch .keysUnavailable {
            throw .keysUnavailable
        } catch {
            throw .refused(label: error.label)
        }
    }
}
