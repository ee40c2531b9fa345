// SPDX-License-Identifier: Apache-2.0
package import HTTP
package import Ledger
package import OfferDomain
import ServiceRuntime

extension GooglePlayAPI: GooglePlayPurchaseSource {
    /// Asks `purchases.subscriptionsv2.get`; without a party, in the service's own share of the budget.
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
                // Asking again brings the same answer, so this is reported as unreadable and not as an outage.
                noteUnreadable(error, packageName)
                return .unreadable
            }
        }
    }
}

extension GooglePlayAPI {
    /// Logs where the answer about a purchase is at fault, without its values, which may be customer data.
    private func noteUnreadable(_ fault: GooglePlayPurchaseFault, _ packageName: PackageName) {
        log.onceAMinute(
            .warning,
            "an answer of Google Play about a purchase cannot be read",
            reason: "unreadable-purchase",
            app: packageName.text,
            with: ["member": .text(fault.description), "environment": .text(Self.environmentName)]
        )
    }
}

extension GooglePushAuthenticator: GooglePushAuthentication {
    /// Checks the token, and keeps of a fault only its label.
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
