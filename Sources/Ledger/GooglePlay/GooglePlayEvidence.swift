// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// What the store reported about purchases of one app at one time; it still names them by their tokens.
package struct GooglePlayEvidence: Sendable {
    /// When the store was asked.
    package var observedAt: Timestamp
    /// Whether the store was asked because it had sent a message about one of the purchases.
    package var isReported = false
    /// Purchases that the store sent messages about, and when.
    package var reports: [(token: PurchaseToken, at: Timestamp)] = []
    /// What the store answered about each purchase that it was asked about.
    package var purchases: [(token: PurchaseToken, answer: GooglePlayPurchaseAnswer)] = []
    /// Purchases that were revoked, and when.
    package var revocations: [(token: PurchaseToken, at: Timestamp)] = []
    /// Purchases with a refund, and the refund.
    package var refunds: [(token: PurchaseToken, refund: Refund)] = []

    /// `observedAt` is when the store was asked: a later observation prevails.
    package init(observedAt: Timestamp) {
        self.observedAt = observedAt
    }
}

/// What the store says when it is asked about a purchase.
package enum GooglePlayPurchaseAnswer: Hashable, Sendable {
    case purchase(GooglePlayPurchase)
    /// The store has forgotten the purchase: it ended long ago, or another one replaced it (`isSuperseded`).
    case gone(isSuperseded: Bool)
    /// No purchase has that token.
    case notFound
    /// The purchase exists, but the store's answer about it cannot be read.
    case unreadable
}

extension GooglePlayEvidence {
    /// The keys of the purchases with these tokens, and of the purchases that they replaced, if the store knows them;
    /// each once.
    ///
    /// The store knew a purchase that it has forgotten. An unknown token proves nothing, and neither does a purchase
    /// that was begun and is not paid: any user can begin any number of them.
    package func keys(ofPurchasesFrom tokens: [PurchaseToken], _ keys: GooglePlayPseudonyms) -> [[UInt8]] {
        let answers = Dictionary(purchases.map { ($0.token, $0.answer) }, uniquingKeysWith: { first, _ in first })
        var found: [[UInt8]] = []
        for token in tokens {
            var next: PurchaseToken? = token
            while let token = next, let answer = answers[token], answer.isKnown {
                let key = keys.purchaseKey(of: token).bytes
                if found.contains(key) { break }
                if !answer.isBeforePurchase { found.append(key) }
                next = answer.earlierToken
            }
        }
        return found
    }

    /// The evidence filed under keys; to be merged with what is known already.
    package func history(_ keys: GooglePlayPseudonyms) -> GooglePlayHistory {
        var history = GooglePlayHistory()
        for (token, answer) in purchases {
            let key = keys.purchaseKey(of: token)
            switch answer {
            case .purchase(let purchase):
                // A value without the form of a mark may be the app's own name for a person, so it is not kept.
                let mark = purchase.profileID.flatMap(GrantMark.init)?.text
                var record = GooglePlayPurchaseRecord(purchase, observedAt: observedAt, mark: mark, keys: keys)
                record.isReported = isReported
                history.merge(record, key: key)
            case .gone(let isSuperseded):
                var record = GooglePlayPurchaseRecord()
                record.goneAt = observedAt
                record.isSuperseded = isSuperseded
                history.merge(record, key: key)
            case .notFound, .unreadable: break
            }
        }
        for (token, instant) in reports {
            var record = GooglePlayPurchaseRecord()
            record.reportedSince = instant
            history.merge(record, key: keys.purchaseKey(of: token))
        }
        for (token, instant) in revocations {
            var record = GooglePlayPurchaseRecord()
            record.revokedAt = instant
            history.merge(record, key: keys.purchaseKey(of: token))
        }
        for (token, refund) in refunds {
            var record = GooglePlayPurchaseRecord()
            record.refunds = [refund]
            history.merge(record, key: keys.purchaseKey(of: token))
        }
        return history
    }

    /// The accounts that purchases name in the form of a ``GooglePlayAccountID``.
    package func accounts(_ keys: GooglePlayPseudonyms) -> Set<SubscriptionLink> {
        var accounts: Set<SubscriptionLink> = []
        for case (let token, .purchase(let purchase)) in purchases {
            let key = keys.purchaseKey(of: token).bytes
            for accountID in [purchase.accountID, purchase.expiredAccountID] {
                guard let subject = accountID.flatMap(GooglePlayAccountID.init)?.key else { continue }
                accounts.insert(SubscriptionLink(subject: subject, subscription: key))
            }
        }
        return accounts
    }
}

extension GooglePlayPurchaseAnswer {
    /// Whether it shows that the purchase exists or existed.
    package var isKnown: Bool {
        switch self {
        case .purchase, .gone: true
        case .notFound, .unreadable: false
        }
    }

    /// Whether the purchase was begun and is not complete yet.
    package var isBeforePurchase: Bool {
        guard case .purchase(let purchase) = self else { return false }
        return purchase.state.known?.isBeforePurchase == true || purchase.startedAt == nil
    }

    /// The purchase that this one replaced.
    package var earlierToken: PurchaseToken? {
        guard case .purchase(let purchase) = self else { return nil }
        return purchase.linkedToken ?? purchase.expiredToken
    }
}
