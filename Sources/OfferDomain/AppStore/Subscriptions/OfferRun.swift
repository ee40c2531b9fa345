// SPDX-License-Identifier: Apache-2.0

/// Transactions of one chain that came of one use of an offer: one for each discounted period.
struct OfferRun {
    let type: Reported<OfferType>
    let offerID: String?
    let chain: ChainKey
    /// In their order; at least one.
    fileprivate(set) var parts: [(key: TransactionKey, record: TransactionRecord)]
    /// What was bought in the same chain afterwards, in its order.
    fileprivate(set) var following: [TransactionRecord] = []

    var records: [TransactionRecord] { parts.map(\.record) }

    var use: OfferUse {
        OfferUse(
            type: type.known,
            offerID: offerID.flatMap { try? OfferID($0) },
            usedAt: records.first?.purchasedAt,
            subscriptionGroup: records.first?.subscriptionGroup
        )
    }
}

extension SubscriptionHistory {
    /// Every use of an offer by the customer, and not by their family.
    var offerRuns: [OfferRun] { chains.flatMap { $1.offerRuns(chain: $0) } }
}

extension SubscriptionChain {
    /// The uses of offers in their order.
    ///
    /// A discount paid as one goes makes a transaction for each period, and those are one use. A free trial or a
    /// discount paid up front makes one transaction, so each is a use of its own; and so is what a person bought, as
    /// against what the store renewed.
    func offerRuns(chain: ChainKey) -> [OfferRun] {
        var runs: [OfferRun] = []
        var isContinued = false
        for (key, record) in inOrder where record.ownership?.known != .familyShared {
            guard let type = record.offerType else {
                isContinued = false
                runs.follow(with: record)
                continue
            }
            if isContinued, let last = runs.indices.last, runs[last].isContinued(by: record) {
                runs[last].parts.append((key, record))
            } else {
                runs.follow(with: record)
                runs.append(OfferRun(type: type, offerID: record.offerID, chain: chain, parts: [(key, record)]))
            }
            isContinued = true
        }
        return runs
    }
}

extension OfferRun {
    fileprivate func isContinued(by record: TransactionRecord) -> Bool {
        guard record.offerType == type, record.offerID == offerID, record.reason?.known != .purchase else {
            return false
        }
        switch record.offerDiscountType?.known {
        case .freeTrial, .payUpFront, .oneTime: return false
        case .payAsYouGo, nil: return true
        }
    }
}

extension [OfferRun] {
    fileprivate mutating func follow(with record: TransactionRecord) {
        for index in indices { self[index].following.append(record) }
    }
}
