// SPDX-License-Identifier: Apache-2.0

/// The package name of an Android app: a letter, then letters, digits, `_` and `.`; at most 255 in all.
///
/// Source: Android, [Set the application ID](https://developer.android.com/build/configure-app-module#set-application-id).
package typealias PackageName = Identifier<AndroidPackage>
/// Google Play's id of a subscription: a lowercase letter or a digit, then `[a-z0-9_.]`; at most 40 in all.
///
/// Source: Google, [monetization.subscriptions](https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.subscriptions).
package typealias GooglePlayProductID = Identifier<GooglePlayProduct>
/// The id of a base plan within a subscription: a lowercase letter or a digit, then `[a-z0-9-]`; at most 63 in all.
///
/// A hyphen alone means “all base plans” in a path of Google's, so none may lead.
///
/// Source: Google, [BasePlan](https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.subscriptions#baseplan).
package typealias BasePlanID = Identifier<GooglePlayBasePlanName>
/// The id of an offer within a base plan: a lowercase letter or a digit, then `[a-z0-9_-]`; at most 63 in all.
///
/// Google states no rule for the offers of subscriptions, and ids with `_` are in use.
///
/// Source: Google, [SubscriptionOffer](https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.subscriptions.basePlans.offers).
package typealias GooglePlayOfferID = Identifier<GooglePlayOfferName>
/// A tag of an offer or of a base plan, as `ignore-offer`: 1 to 20 of `[a-z0-9-]`.
///
/// Source: Google, [OfferTag](https://developers.google.com/android-publisher/api-ref/rest/v3/OfferTag).
package typealias OfferTag = Identifier<GooglePlayTag>

/// What a ``PackageName`` names.
package enum AndroidPackage: IdentifierKind {
    /// 1 to 255 of `[A-Za-z0-9._]`, a letter first.
    package static let shape = IdentifierShape(.lettersAndDigits.with("._"), leading: .letters)
}

/// What a ``GooglePlayProductID`` names.
package enum GooglePlayProduct: IdentifierKind {
    /// 1 to 40 of `[a-z0-9_.]`, a letter or a digit first.
    package static let shape = IdentifierShape(
        .lowercaseAndDigits.with("_."),
        length: 1...40,
        leading: .lowercaseAndDigits
    )
}

/// What a ``BasePlanID`` names.
package enum GooglePlayBasePlanName: IdentifierKind {
    /// 1 to 63 of `[a-z0-9-]`, a letter or a digit first.
    package static let shape = IdentifierShape(
        .lowercaseAndDigits.with("-"),
        length: 1...63,
        leading: .lowercaseAndDigits
    )
}

/// What a ``GooglePlayOfferID`` names.
package enum GooglePlayOfferName: IdentifierKind {
    /// 1 to 63 of `[a-z0-9_-]`, a letter or a digit first.
    package static let shape = IdentifierShape(
        .lowercaseAndDigits.with("_-"),
        length: 1...63,
        leading: .lowercaseAndDigits
    )
}

/// What an ``OfferTag`` names.
package enum GooglePlayTag: IdentifierKind {
    /// 1 to 20 of `[a-z0-9-]`.
    package static let shape = IdentifierShape(.lowercaseAndDigits.with("-"), length: 1...20)
}

/// Google Play's token for one purchase of one customer: 1 to 1500 bytes from 0x21 to 0x7E, letter case kept.
///
/// Its holder can act on the purchase, so neither a description nor `dump` shows any of it.
///
/// Source: Google, [purchases.subscriptionsv2.get](https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/get).
package struct PurchaseToken: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The token itself, for the store's ears only.
    package let text: String

    /// Takes what a caller, a notification or an answer of the store has.
    package init(_ text: String) throws(IdentifierError) {
        try PurchaseToken.shape.check(text.utf8.span)
        self.text = text
    }

    /// Takes bytes as a request has them; all but ASCII is refused.
    package init(utf8 bytes: [UInt8]) throws(IdentifierError) {
        try self.init(utf8: bytes[...])
    }

    /// Takes bytes as a request has them; all but ASCII is refused.
    package init(utf8 bytes: ArraySlice<UInt8>) throws(IdentifierError) {
        try PurchaseToken.shape.check(bytes.span)
        self.text = String(decoding: bytes, as: UTF8.self)
    }

    /// The same words for every token.
    package var description: String { "a purchase token" }

    /// The same words for every token.
    package var debugDescription: String { description }

    /// A mirror without children, so that `dump` shows no token.
    package var customMirror: Mirror { Mirror(self, children: []) }

    private static let shape = IdentifierShape(.visible, length: 1...1500)
}

extension AppName {
    /// The app of that package name, if it is at Google Play alone.
    package init(_ packageName: PackageName) {
        self.init(checked: packageName.text)
    }
}

extension OfferTag {
    /// What hides an offer from paywalls that show all, unless an app says otherwise: `ignore-offer`.
    ///
    /// Source: Purchasely, [Developer determined offers](https://docs.purchasely.com/docs/developer-determined-offers-configuration).
    package static var ignoreOffer: OfferTag { OfferTag(checked: "ignore-offer") }
}
