// SPDX-License-Identifier: Apache-2.0

/// A bundle identifier: 1 to 255 of `[A-Za-z0-9.-]`.
///
/// Source: Apple, [CFBundleIdentifier](https://developer.apple.com/documentation/bundleresources/information-property-list/cfbundleidentifier).
package typealias BundleID = Identifier<AppBundle>
/// The name under which the ledger knows an app: 1 to 255 of `[A-Za-z0-9._-]`.
///
/// It is the bundle identifier or, of an app that is at Google Play alone, the package name.
package typealias AppName = Identifier<App>
/// A store's product id: 1 to 255 of `[A-Za-z0-9._-]` and single spaces inside.
package typealias ProductID = Identifier<StoreProduct>
/// A store's id of an offer: 1 to 255 of `[A-Za-z0-9._-]` and single spaces inside, as in `pay_as_you_go.3 months`.
package typealias OfferID = Identifier<StoreOffer>
/// The catalog's own id of an offer: 1 to 255 of `[A-Za-z0-9._-]` and single spaces inside.
package typealias CatalogOfferID = Identifier<CatalogOfferName>
/// The id that App Store Connect gave to a key: 10 of A-Z 0-9.
package typealias KeyID = Identifier<StoreKey>
/// The id of an App Store transaction, original transaction or app transaction: 1 to 20 digits, not all of them 0.
///
/// StoreKit gives 0 to purchases in Xcode's local tests, which the App Store does not know.
package typealias TransactionID = Identifier<StoreTransaction>
/// The ID of a subscription group, in which a customer has one subscription at a time: 1 to 64 of `[A-Za-z0-9._-]`.
package typealias SubscriptionGroupID = Identifier<SubscriptionGroup>
/// A storefront, as a country in three capital letters (ISO 3166-1 alpha-3).
///
/// Source: Apple, [storefront](https://developer.apple.com/documentation/appstoreserverapi/storefront).
package typealias Storefront = Identifier<StorefrontCountry>
/// A region, as a country in two capital letters (ISO 3166-1 alpha-2), the form that Google Play uses.
package typealias Region = Identifier<RegionCountry>
/// The id of who owns the keys of an App Store Connect account.
package typealias IssuerID = UniqueID

/// What a ``BundleID`` names.
package enum AppBundle: IdentifierKind {
    /// 1 to 255 of `[A-Za-z0-9.-]`.
    package static let shape = IdentifierShape(.lettersAndDigits.with(".-"))
}

/// What an ``AppName`` names.
package enum App: IdentifierKind {
    /// 1 to 255 of `[A-Za-z0-9._-]`.
    package static let shape = IdentifierShape(.lettersAndDigits.with("._-"))
}

/// What a ``ProductID`` names.
package enum StoreProduct: IdentifierKind {
    /// 1 to 255 of `[A-Za-z0-9._-]` and single spaces inside.
    package static let shape = IdentifierShape(.lettersAndDigits.with("._-"), admitsInnerSpaces: true)
}

/// What an ``OfferID`` names.
package enum StoreOffer: IdentifierKind {
    /// 1 to 255 of `[A-Za-z0-9._-]` and single spaces inside.
    package static let shape = IdentifierShape(.lettersAndDigits.with("._-"), admitsInnerSpaces: true)
}

/// What a ``CatalogOfferID`` names.
package enum CatalogOfferName: IdentifierKind {
    /// 1 to 255 of `[A-Za-z0-9._-]` and single spaces inside.
    package static let shape = IdentifierShape(.lettersAndDigits.with("._-"), admitsInnerSpaces: true)
}

/// What a ``KeyID`` names.
package enum StoreKey: IdentifierKind {
    /// 10 of `[A-Z0-9]`.
    package static let shape = IdentifierShape(
        .uppercaseAndDigits,
        length: 10...10,
        expectation: "10 characters, each one of A to Z and 0 to 9"
    )
}

/// What a ``TransactionID`` names.
package enum StoreTransaction: IdentifierKind {
    /// 1 to 20 digits, not all of them 0; the error says what was sent instead, if the service recognizes it.
    package static let shape = IdentifierShape(
        .digits,
        length: 1...20,
        expectation: "1 to 20 digits, and not the 0 of Xcode's local tests"
    ).excludingZero().recognizing(lookalike)

    /// What is sent now and then in its place.
    private static func lookalike(_ bytes: Span<UInt8>) -> StaticString? {
        var start: [UInt8] = []
        for index in 0..<min(9, bytes.count) { start.append(bytes[index]) }
        if start.starts(with: "eyJ".utf8) { return "this is signed data, which belongs in signedTransactions" }
        if start.starts(with: "MII".utf8) || start.starts(with: "ewo".utf8) {
            return "this is a receipt of StoreKit 1: send the transactionIdentifier of its transaction"
        }
        if start.starts(with: "GPA.".utf8) {
            return "this is an order id of Google Play: send the purchase's token to the calls of Google Play"
        }
        if bytes.count == 36, start.last == UInt8(ascii: "-") { return "this is a UUID, as an appAccountToken is" }
        return nil
    }
}

/// What a ``SubscriptionGroupID`` names.
package enum SubscriptionGroup: IdentifierKind {
    /// 1 to 64 of `[A-Za-z0-9._-]`.
    package static let shape = IdentifierShape(
        .lettersAndDigits.with("._-"),
        length: 1...64,
        expectation: "the id of a subscription group, which is digits as 21234567, and not the group's name"
    )
}

/// What a ``Storefront`` names.
package enum StorefrontCountry: IdentifierKind {
    /// Three of `[A-Z]`.
    package static let shape = IdentifierShape(
        .uppercase,
        length: 3...3,
        expectation: "a country in three capital letters, such as USA"
    )
}

/// What a ``Region`` names.
package enum RegionCountry: IdentifierKind {
    /// Two of `[A-Z]`.
    package static let shape = IdentifierShape(
        .uppercase,
        length: 2...2,
        expectation: "a country in two capital letters, such as US"
    )
}

extension AppName {
    /// The app of that bundle identifier.
    package init(_ bundleID: BundleID) {
        self.init(checked: bundleID.text)
    }
}
