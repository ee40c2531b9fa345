// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// A message of Retention Messaging, by the identifiers that App Store Connect has for it: one for all languages, or one for
/// each.
package struct RetentionMessage: Hashable, Sendable {
    /// For languages that have none of their own.
    package let standard: UniqueID
    /// By tags such as `de-at`, as ``key(_:)`` writes them.
    private let byLanguage: [String: UniqueID]

    /// `byLanguage` has messages by tags in lowercase, such as `de-at`; `standard` is for all others.
    package init(_ standard: UniqueID, byLanguage: [String: UniqueID] = [:]) {
        self.standard = standard
        self.byLanguage = byLanguage
    }

    /// The message for a locale such as `de-AT`: the one for `de-AT`, the one for `de`, or the standard one.
    package func id(for locale: String) -> UniqueID {
        guard !byLanguage.isEmpty else { return standard }
        var tag = Self.key(locale)[...]
        while !tag.isEmpty {
            if let id = byLanguage[String(tag)] { return id }
            tag = tag.lastIndex(of: "-").map { tag[..<$0] } ?? ""
        }
        return standard
    }

    /// Each of its messages with the locale as Apple writes it; `nil` is for those that have none of their own.
    var all: [(locale: String?, id: UniqueID)] {
        [(nil, standard)] + byLanguage.sorted { $0.key < $1.key }.map { (Self.locale($0.key), $0.value) }
    }

    /// `pt-BR` of `pt-br`, and `zh-Hans` of `zh-hans`.
    private static func locale(_ key: String) -> String {
        let words = key.split(separator: "-").enumerated().map { place, word in
            if place == 0 { return String(word) }
            return word.count == 4 ? word.prefix(1).uppercased() + word.dropFirst() : word.uppercased()
        }
        return words.joined(separator: "-")
    }

    /// A locale as messages are kept by it.
    static func key(_ locale: String) -> String { locale.lowercased().replacing("_", with: "-") }
}

/// Another product that a subscriber may change to instead of canceling.
package struct RetentionSwitch: Hashable, Sendable {
    /// The product to change to.
    package let productID: ProductID
    /// The message that goes with it.
    package let message: RetentionMessage
    /// `nil` of a product that has one plan.
    package let billingPlan: BillingPlan?

    /// As Apple spells it.
    package enum BillingPlan: String, CaseIterable, Sendable {
        case monthly = "MONTHLY"
        case billedUpfront = "BILLED_UPFRONT"
    }
}

/// An offer that may be shown to a subscriber who is about to cancel, and the message that goes with it.
package struct RetentionOffer: Sendable {
    /// A promotional offer of the catalog.
    package let offer: CatalogOffer
    /// The message that goes with it.
    package let message: RetentionMessage
}

/// What the App Store may show to those of an app's subscribers who are about to cancel.
package struct AppRetention: Sendable {
    /// What is said of the subscribers of one product.
    package struct Plan: Sendable {
        /// The subscription group of the product, if the file names it.
        package let groupID: SubscriptionGroupID?
        var message: RetentionMessage?
        var alternative: RetentionSwitch?
    }

    /// Shown where nothing else can be.
    package let message: RetentionMessage
    /// By product.
    package let plans: [String: Plan]
    /// In the order of the file.
    let offers: [RetentionOffer]

    /// The message without an offer for subscribers of a product.
    package func message(for productID: String) -> RetentionMessage { plans[productID]?.message ?? message }

    /// What subscribers of a product may change to.
    package func alternative(to productID: String) -> RetentionSwitch? { plans[productID]?.alternative }

    /// The offers for subscribers of a product, the first one to try first: those of the product, then those of other
    /// products in its group.
    package func offers(for productID: String) -> [RetentionOffer] {
        let own = offers.filter { $0.offer.appStore?.productID.text == productID }
        guard let groupID = plans[productID]?.groupID else { return own }
        return own
            + offers.filter { candidate in
                guard let listing = candidate.offer.appStore else { return false }
                return listing.productID.text != productID && listing.subscriptionGroupID == groupID
            }
    }
}

/// A message with the member of the catalog that names it.
package struct NamedRetentionMessage: Hashable, Sendable {
    /// What the offers file calls the place, such as `retention.message`.
    package let member: String
    /// `nil` of a message for locales that have none of their own.
    package let locale: String?
    /// The identifier in App Store Connect.
    package let id: UniqueID
    /// Whether it is shown beside an offer or a product; then it must have no image.
    package let isBeside: Bool
}

extension AppRetention {
    /// Every message that the catalog names, from the app to its offers.
    package var messages: [NamedRetentionMessage] {
        let sorted = plans.sorted { $0.key < $1.key }
        return Self.named("retention.message", message)
            + sorted.flatMap { product, plan in
                Self.named("plan \(product), retention.message", plan.message)
                    + Self.named(
                        "plan \(product), retention.switchTo.message",
                        plan.alternative?.message,
                        isBeside: true
                    )
            }
            + offers.flatMap { Self.named("offer \($0.offer.id.text), retention.message", $0.message, isBeside: true) }
    }

    private static func named(
        _ member: String,
        _ message: RetentionMessage?,
        isBeside: Bool = false
    ) -> [NamedRetentionMessage] {
        message?.all.map { locale, id in
            let name = message?.all.count == 1 ? member : "\(member).\(locale ?? "default")"
            return NamedRetentionMessage(member: name, locale: locale, id: id, isBeside: isBeside)
        } ?? []
    }
}
