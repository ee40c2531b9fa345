// SPDX-License-Identifier: Apache-2.0

/// What a store answered, or what is known from it, that explains why too little is known to decide.
///
/// It decides nothing: it is added to the findings of an undecided decision, so that whoever asks learns what to mend.
package enum StoreFinding: Hashable, Sendable {
    /// The App Store was asked, and knows no such transaction.
    case transactionUnknown(TransactionMember)
    /// Google Play was asked, and knows no purchase of the token at that index of `purchaseTokens`.
    case purchaseUnknown(index: Int)
    /// Google Play no longer tells of the purchase, because it expired more than 60 days ago.
    case purchaseExpiredTooLong(index: Int)
    /// Google Play no longer tells of the purchase, because another one replaced it.
    case purchaseReplaced(index: Int)
    /// Google Play's answer about the purchase could not be read; the log says where.
    case purchaseUnreadable(index: Int)
    /// An entry of the App Store's answer could not be read and was left out; the log says which.
    case entryUnreadable
    /// Everything that is known is about a subscription in this group, which is not the offer's.
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
        // Apple's ids are digits; of another text the sentence names no group.
        case .otherGroup(let group): Int(group.text) ?? 0
        }
    }
}

/// The member of a request that names the transaction about which the App Store is asked.
package enum TransactionMember: Int, CaseIterable, Sendable {
    case transactionID
    case signedTransaction
    case signedAppTransaction

    /// Where it stands in a request.
    package var pointer: String {
        switch self {
        case .transactionID: "/transactionId"
        case .signedTransaction: "/signedTransactions/0"
        case .signedAppTransaction: "/signedAppTransaction"
        }
    }
}

extension Decision {
    /// The same decision with these reasons too, if it is undecided; they change no other.
    package func explained(by stores: [StoreFinding]) -> Decision {
        guard outcome == .undecided, !stores.isEmpty else { return self }
        let subject = Rule.subscribedBefore(true)
        let reasons = stores.map { Finding(subject, .undecided, $0.code, .count($0.number), isFloor: true) }
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
            "Google Play was asked and no longer tells of /purchaseTokens/\(counted): it expired more than 60 days ago"
        case .purchaseReplaced:
            "Google Play was asked and no longer tells of /purchaseTokens/\(counted): another purchase replaced it, or "
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
