// SPDX-License-Identifier: Apache-2.0

/// A store's answer, or what follows from it, that explains why a decision is undecided.
///
/// It decides nothing. The service adds it to an undecided decision's findings, so that the caller sees what to fix.
package enum StoreFinding: Hashable, Sendable {
    /// The App Store was asked, and knows no such transaction.
    case transactionUnknown(TransactionMember)
    /// Google Play was asked, and knows no purchase of the token at that index of `purchaseTokens`.
    case purchaseUnknown(index: Int)
    /// Google Play no longer reports the purchase, because it expired more than 60 days ago.
    case purchaseExpiredTooLong(index: Int)
    /// Google Play no longer reports the purchase, because another one replaced it or its account is gone.
    case purchaseReplaced(index: Int)
    /// Google Play's answer about the purchase could not be read; the log says where.
    case purchaseUnreadable(index: Int)
    /// An entry of the App Store's answer could not be read and was left out; the log says which.
    case entryUnreadable
    /// All known facts are about a subscription in this group, which is not the offer's group.
    case otherGroup(SubscriptionGroupID)

    static let codes: Set<FindingCode> = [
        .transactionUnknownToStore, .purchaseUnknownToStore, .purchaseExpiredTooLong, .purchaseReplaced,
        .purchaseUnreadable, .storeEntryUnreadable, .knownOfOtherGroup,
    ]

    fileprivate var code: FindingCode {
        switch self {
        case .transactionUnknown: .transactionUnknownToStore
        case .purchaseUnknown: .purchaseUnknownToStore
        case .purchaseExpiredTooLong: .purchaseExpiredTooLong
        case .purchaseReplaced: .purchaseReplaced
        case .purchaseUnreadable: .purchaseUnreadable
        case .entryUnreadable: .storeEntryUnreadable
        case .otherGroup: .knownOfOtherGroup
        }
    }

    fileprivate var number: Int {
        switch self {
        case .transactionUnknown(let member): member.rawValue
        case .purchaseUnknown(let index), .purchaseExpiredTooLong(let index), .purchaseReplaced(let index),
            .purchaseUnreadable(let index):
            index
        case .entryUnreadable: 0
        // Apple's IDs are digits; for any other text, the sentence names no group.
        case .otherGroup(let group): Int(group.text) ?? 0
        }
    }
}

/// The member of a request that names the transaction about which the App Store is asked.
package enum TransactionMember: Int, CaseIterable, Sendable {
    case transactionID
    case signedTransaction
    case signedAppTransaction

    /// Where it is in a request.
    package var pointer: String {
        switch self {
        case .transactionID: "/transactionId"
        case .signedTransaction: "/signedTransactions/0"
        case .signedAppTransaction: "/signedAppTransaction"
        }
    }
}

extension Decision {
    /// The decision with these reasons added, if it is undecided; any other decision is unchanged.
    package func explained(by stores: [StoreFinding]) -> Decision {
        guard outcome == .undecided, !stores.isEmpty else { return self }
        let subject = Rule.subscribedBefore(true)
        let reasons = stores.map {
            Finding(subject, .undecided, because: $0.code, reporting: .count($0.number)).ofFloor
        }
        return Decision(outcome: outcome, findings: findings + reasons, nextEligibleAt: nextEligibleAt)
    }
}

extension Finding {
    var storeSentence: String {
        switch code {
        case .transactionUnknownToStore:
            "the App Store was asked and does not know \(TransactionMember(rawValue: counted)?.pointer ?? "it")"
        case .purchaseUnknownToStore: "Google Play was asked and does not know /purchaseTokens/\(counted)"
        case .purchaseExpiredTooLong:
            "Google Play was asked and no longer reports /purchaseTokens/\(counted): it expired more than 60 days ago"
        case .purchaseReplaced:
            "Google Play was asked and no longer reports /purchaseTokens/\(counted): another purchase replaced it, or "
                + "its account is gone"
        case .purchaseUnreadable:
            "Google Play's answer about /purchaseTokens/\(counted) cannot be read; the service's log names its member"
        case .storeEntryUnreadable:
            "the App Store's answer has an entry that cannot be read and was left out; the service's log names its member"
        default:
            "what is known is about a subscription in "
                + (counted == 0 ? "another group" : "the group \(counted)")
                + ", not in the subscriptionGroupId of the offer's plan"
        }
    }
}
