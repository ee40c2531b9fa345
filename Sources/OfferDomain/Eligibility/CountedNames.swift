// SPDX-License-Identifier: Apache-2.0

/// The kinds of a customer's names under which a cap found grants; never the names themselves.
package struct CountedNames: OptionSet, Hashable, Sendable {
    /// One bit for each kind of name; ``names`` represents them outside of the process.
    package let rawValue: UInt8

    /// Required by `OptionSet`; there are eight kinds.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// What the team's backend calls the customer.
    package static let customerID = CountedNames(rawValue: 1)
    /// The app's name of a customer before login.
    package static let anonymousID = CountedNames(rawValue: 1 << 1)
    /// The UUID that StoreKit 2 attaches to purchases, also if only an app claims it.
    package static let appAccountToken = CountedNames(rawValue: 1 << 2)
    /// The text that StoreKit 1 attaches to purchases, also if only an app claims it.
    package static let applicationUsername = CountedNames(rawValue: 1 << 3)
    /// A subscription in the App Store.
    package static let originalTransactionID = CountedNames(rawValue: 1 << 4)
    /// An account of the App Store within the app.
    package static let appTransactionID = CountedNames(rawValue: 1 << 5)
    /// A purchase at Google Play.
    package static let purchaseToken = CountedNames(rawValue: 1 << 6)
    /// Another customer that was transferred to this one.
    package static let transferredCustomer = CountedNames(rawValue: 1 << 7)

    /// The kind of one name.
    package init(_ identity: CustomerIdentity) {
        self =
            switch identity {
            case .customer: .customerID
            case .anonymous: .anonymousID
            case .appAccountToken, .claimedAppAccountToken: .appAccountToken
            case .applicationUsername, .claimedApplicationUsername: .applicationUsername
            case .originalTransaction: .originalTransactionID
            case .appTransaction: .appTransactionID
            }
    }

    /// As requests call them, in the order of the bits.
    package var names: [String] {
        let all: [(CountedNames, String)] = [
            (.customerID, "customerId"), (.anonymousID, "anonymousId"), (.appAccountToken, "appAccountToken"),
            (.applicationUsername, "applicationUsername"), (.originalTransactionID, "originalTransactionId"),
            (.appTransactionID, "appTransactionId"), (.purchaseToken, "purchaseToken"),
            (.transferredCustomer, "transferredCustomer"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}

extension Finding {
    /// Whether this is a cap of the customer's that is reached, or a cooldown that runs.
    package var isReachedCap: Bool { code == .grantsCapReached || code == .cooldownRunning }

    /// The same finding; each reached cap of the customer, here or inside, lists the names that it counted by.
    func counted(by names: CountedNames, redeemed: CountedNames) -> Finding {
        var finding = self
        if isReachedCap { finding.countedBy = (countsRedemptions ? redeemed : names).intersection(countableNames) }
        if !children.isEmpty { finding.children = children.map { $0.counted(by: names, redeemed: redeemed) } }
        return finding
    }

    private var countsRedemptions: Bool {
        switch subject {
        case .grants(_, _, _, _, .redeemed), .cooldown(_, _, _, .redeemed): true
        default: false
        }
    }

    /// A cap on an original transaction counts by purchases alone.
    private var countableNames: CountedNames {
        switch subject {
        case .grants(_, _, .originalTransaction, _, _), .cooldown(_, .originalTransaction, _, _):
            [.originalTransactionID, .purchaseToken]
        default: CountedNames(rawValue: .max)
        }
    }

    fileprivate var hasReachedCap: Bool { isReachedCap || children.contains(where: \.hasReachedCap) }
}

extension Decision {
    /// Whether a cap of the customer's is reached.
    package var hasReachedCap: Bool { findings.contains(where: \.hasReachedCap) }

    /// The same decision; each reached cap of the customer lists the names that it counted by, if there are any.
    ///
    /// A cap that counts redemptions uses `redeemed`.
    package func counted(by names: CountedNames, redeemed: CountedNames = []) -> Decision {
        Decision(
            outcome: outcome,
            findings: findings.map { $0.counted(by: names, redeemed: redeemed) },
            nextEligibleAt: nextEligibleAt
        )
    }
}
