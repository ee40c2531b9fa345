// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain

extension GooglePlayPseudonyms {
    /// What the ledger may have of these purchases under earlier secrets; nothing where there is but one.
    package func rotatedKeys(of tokens: some Sequence<PurchaseToken>) -> [RotatedKey] {
        guard hasEarlierVersions else { return [] }
        return Set(tokens).map { token in
            RotatedKey(current: purchaseKey(of: token).bytes, earlier: earlierPurchaseKeys(of: token).map(\.bytes))
        }
    }

    /// The same of everything that evidence names.
    func rotatedKeys(of evidence: GooglePlayEvidence) -> [RotatedKey] {
        guard hasEarlierVersions else { return [] }
        var tokens = evidence.revocations.map(\.token) + evidence.refunds.map(\.token)
        for (token, answer) in evidence.purchases {
            tokens.append(token)
            guard case .purchase(let purchase) = answer else { continue }
            tokens += [purchase.linkedToken, purchase.expiredToken].compactMap(\.self)
        }
        return rotatedKeys(of: tokens)
    }
}
