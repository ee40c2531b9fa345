// SPDX-License-Identifier: Apache-2.0
package import Ledger
package import OfferDomain

/// Where purchases are asked for: Google Play itself, `purchases.subscriptionsv2.get`.
package protocol GooglePlayPurchaseSource: Sendable {
    /// What the store knows of a purchase from now on: an answer that was asked for before is too old.
    ///
    /// `party` is whose share of the questions it takes; `nil` of one that the store itself caused by telling of a change.
    func purchase(
        _ token: PurchaseToken,
        of packageName: PackageName,
        for party: Party?
    ) async throws(StoreError) -> GooglePlayPurchaseAnswer
}

extension GooglePlayPurchaseSource {
    /// Asks for purchases and, where `walksBack`, for those in whose place they are.
    ///
    /// At most ``mostSteps`` back from each, and each purchase once, so that no circle holds it up.
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

    /// What the store refuses to tell of an earlier purchase spoils nothing; the later one is what is asked for.
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

    /// How many purchases back are asked for.
    package static var mostSteps: Int { 8 }
}

extension StoreError {
    /// Whether the same question about a purchase will never get another answer.
    var isFinal: Bool {
        switch self {
        case .notFound: true
        case .requestRefused(let status, _): status == 400 || status == 404
        default: false
        }
    }
}
