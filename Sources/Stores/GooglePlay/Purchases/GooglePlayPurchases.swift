// SPDX-License-Identifier: Apache-2.0
package import Ledger
package import OfferDomain

/// A source of purchases: Google Play itself, `purchases.subscriptionsv2.get`.
package protocol GooglePlayPurchaseSource: Sendable {
    /// The current state of a purchase in the store; the answer to an earlier request is too old.
    ///
    /// The request is charged to `party`; `nil` if the store itself caused the request by reporting a change.
    func purchase(
        _ token: PurchaseToken,
        of packageName: PackageName,
        for party: Party?
    ) async throws(StoreError) -> GooglePlayPurchaseAnswer
}

extension GooglePlayPurchaseSource {
    /// Requests purchases and, if `walksBack`, the earlier purchases that they replaced.
    ///
    /// It goes at most ``mostSteps`` back from each, and requests each purchase once, so that no cycle blocks it.
    package func evidence(
        of tokens: [PurchaseToken],
        of packageName: PackageName,
        walksBack: Bool,
        for party: Party?,
        at now: Timestamp
    ) async throws(StoreError) -> GooglePlayEvidence {
        var evidence = GooglePlayEvidence(observedAt: now)
        var asked: Set<PurchaseToken> = []
        for token in tokens {
            var next: PurchaseToken? = token
            var steps = 0
            while let token = next, asked.insert(token).inserted {
                let answer = try await purchase(token, of: packageName, isFirst: steps == 0, for: party)
                evidence.purchases.append((token, answer))
                next = walksBack && steps < Self.mostSteps ? answer.earlierToken : nil
                steps += 1
            }
        }
        return evidence
    }

    /// Requests a purchase; if the store finally refuses an earlier one, that counts as not found and causes no error.
    private func purchase(
        _ token: PurchaseToken,
        of packageName: PackageName,
        isFirst: Bool,
        for party: Party?
    ) async throws(StoreError) -> GooglePlayPurchaseAnswer {
        do {
            return try await purchase(token, of: packageName, for: party)
        } catch {
            guard error.isFinal, !isFirst else { throw error }
            return .notFound
        }
    }

    /// How many steps back purchases are requested.
    package static var mostSteps: Int { 8 }
}

extension StoreError {
    /// Whether the same question about a purchase will never get another answer.
    package var isFinal: Bool {
        switch self {
        case .notFound: true
        case .requestRefused(let status, _): status == 400 || status == 404
        default: false
        }
    }
}
