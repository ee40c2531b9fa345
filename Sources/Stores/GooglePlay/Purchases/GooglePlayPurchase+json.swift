// SPDX-License-Identifier: Apache-2.0
import JSON
package import OfferDomain

/// Why we can't read an answer as a purchase; it names the location, and contains no customer data.
package struct GooglePlayPurchaseFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence without its subject and without a value.
    package let description: String
}

extension GooglePlayPurchase {
    /// Reads an answer of `purchases.subscriptionsv2.get`, of at most 256 KiB.
    ///
    /// Unknown members and values are ignored, since Google adds some; what is read must have its type. An empty value
    /// has a meaning: Google omits what is false or zero, and an empty object says yes. The service does not read
    /// names, addresses and what customers wrote.
    package init(json: [UInt8]) throws(GooglePlayPurchaseFault) {
        let document: JSONDocument
        do {
            document = try JSONDocument(json, limits: Self.limits)
        } catch {
            throw GooglePlayPurchaseFault(description: error.kind.sentence)
        }
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        let purchase = GooglePlayPurchase(&reader, mismatches)
        guard let purchase, mismatches.all.isEmpty else {
            throw GooglePlayPurchaseFault(description: mismatches.place)
        }
        self = purchase
    }

    private static let limits = JSONLimits(
        maximumBytes: 256 * 1024,
        maximumDepth: 16,
        maximumNodes: 8192,
        maximumStringBytes: 64 * 1024
    )

    private init?(_ reader: inout ObjectReader, _ mismatches: Mismatches) {
        _ = reader.optional("kind", "“\(Self.kind)”") { $0.string(equals: Self.kind) ? true : nil }
        // Left out, it is the first of Google's list.
        let state = reader.code("subscriptionState") ?? Reported<GooglePlayPurchaseState>(Self.unspecifiedState)
        let lineItems = reader.elements("lineItems", atMost: Self.mostLineItems) { LineItem($0, mismatches) }
        if lineItems.isEmpty, state.known?.isBeforePurchase != true { reader.note("lineItems", "is empty") }
        self.init(state: state, lineItems: lineItems)
        startedAt = reader.time("startTime")
        region = reader.text("regionCode").flatMap { try? Region($0) }
        linkedToken = reader.optional("linkedPurchaseToken", text: PurchaseToken.init)
        isTest = reader.member("testPurchase") != nil
        readCancellation(&reader, mismatches)
        if let value = reader.member("pausedStateContext") {
            var context = ObjectReader(value, into: mismatches)
            resumesAt = context.time("autoResumeTime")
        }
        readAccounts(&reader, mismatches)
    }

    private static let kind = "androidpublisher#subscriptionPurchaseV2"
    private static let unspecifiedState = "SUBSCRIPTION_STATE_UNSPECIFIED"
    private static let mostLineItems = 64

    private mutating func readCancellation(_ reader: inout ObjectReader, _ mismatches: Mismatches) {
        guard let value = reader.member("canceledStateContext") else { return }
        var context = ObjectReader(value, into: mismatches)
        cancellation = value.oneMember()
        guard let byCustomer = context.member("userInitiatedCancellation") else { return }
        var details = ObjectReader(byCustomer, into: mismatches)
        cancelledAt = details.time("cancelTime")
    }

    private mutating func readAccounts(_ reader: inout ObjectReader, _ mismatches: Mismatches) {
        if let value = reader.member("externalAccountIdentifiers") {
            var accounts = ObjectReader(value, into: mismatches)
            accountID = accounts.text("obfuscatedExternalAccountId")
            profileID = accounts.text("obfuscatedExternalProfileId")
        }
        guard let value = reader.member("outOfAppPurchaseContext") else { return }
        var context = ObjectReader(value, into: mismatches)
        expiredToken = context.optional("expiredPurchaseToken", text: PurchaseToken.init)
        guard let expired = context.member("expiredExternalAccountIdentifiers") else { return }
        var accounts = ObjectReader(expired, into: mismatches)
        expiredAccountID = accounts.text("obfuscatedExternalAccountId")
    }
}

extension GooglePlayPurchase.LineItem {
    fileprivate init?(_ value: JSONValue, _ mismatches: Mismatches) {
        var reader = ObjectReader(value, into: mismatches)
        guard let productID = reader.text("productId") else {
            reader.note("productId", "is missing")
            return nil
        }
        self.init(productID: productID)
        expiresAt = reader.time("expiryTime")
        plan = GooglePlayPurchase.Plan(&reader, mismatches)
        priceStepUp = GooglePlayPurchase.PriceStepUp(&reader, mismatches)
        phase = reader.member("offerPhase")?.oneMember()
        hasPromotionCode = reader.member("signupPromotion") != nil
        isRemovedLater = reader.member("deferredItemRemoval") != nil
        isReplacedLater = reader.member("deferredItemReplacement") != nil
        if let value = reader.member("offerDetails") {
            var details = ObjectReader(value, into: mismatches)
            (basePlanID, offerID) = (details.text("basePlanId"), details.text("offerId"))
        }
        guard let value = reader.member("itemReplacement") else { return }
        var details = ObjectReader(value, into: mismatches)
        let (basePlanID, offerID) = (details.text("basePlanId"), details.text("offerId"))
        replaced = details.text("productId").map { productID in
            GooglePlayPurchase.ReplacedItem(productID: productID, basePlanID: basePlanID, offerID: offerID)
        }
    }
}

extension GooglePlayPurchase.Plan {
    fileprivate init?(_ reader: inout ObjectReader, _ mismatches: Mismatches) {
        let isPrepaid = reader.member("prepaidPlan") != nil
        guard let value = reader.member("autoRenewingPlan") else {
            guard isPrepaid else { return nil }
            self = .prepaid
            return
        }
        if isPrepaid { reader.note("prepaidPlan", "cannot be combined with another plan") }
        var plan = ObjectReader(value, into: mismatches)
        let isEnabled = plan.optional("autoRenewEnabled", "true or false", as: \.bool) ?? false
        let installments = plan.member("installmentDetails")?.object
        self = .autoRenewing(
            isEnabled: isEnabled,
            isCancellationPending: installments?["pendingCancellation"].map { !$0.isNull } ?? false
        )
    }
}

extension GooglePlayPurchase.PriceStepUp {
    fileprivate init?(_ item: inout ObjectReader, _ mismatches: Mismatches) {
        guard let value = item.member("autoRenewingPlan"), value.object != nil else { return nil }
        var plan = ObjectReader(value, into: mismatches)
        guard let details = plan.member("priceStepUpConsentDetails") else { return nil }
        var reader = ObjectReader(details, into: mismatches)
        // Left out, it is the first of Google's list.
        self.init(
            consent: reader.code("state") ?? Reported("CONSENT_STATE_UNSPECIFIED"),
            deadline: reader.time("consentDeadlineTime")
        )
    }
}

// MARK: - Types

extension ObjectReader {
    /// A text of 1 to 255 bytes.
    fileprivate mutating func text(_ name: StaticString) -> String? {
        optional(name, "a text of at most 255 bytes") { value in
            value.string.flatMap { (1...255).contains($0.utf8.count) ? $0 : nil }
        }
    }

    /// One of a list of texts that Google may lengthen.
    fileprivate mutating func code<Known>(_ name: StaticString) -> Reported<Known>? { text(name).map { Reported($0) } }

    /// A time as RFC 3339 writes it, with decimals of any number.
    fileprivate mutating func time(_ name: StaticString) -> Timestamp? {
        optional(name, "a time as RFC 3339 writes it") { $0.stringSlice.flatMap(Timestamp.init(rfc3339:)) }
    }
}

extension JSONValue {
    /// Which one of several mutually exclusive members an object has; `nil` if it has no members.
    ///
    /// A known member comes before an unknown one.
    fileprivate func oneMember<Known>() -> Reported<Known>? {
        let names = (object.map(Array.init) ?? []).filter { !$0.value.isNull }.map(\.name).filter {
            $0.utf8.count <= 64
        }
        let members = names.sorted().map { Reported<Known>($0) }
        return members.first { $0.known != nil } ?? members.first
    }
}

extension Mismatches {
    /// The location of the first mismatch, without the value, which may be customer data.
    fileprivate var place: String {
        guard let pointer = all.first?.pointer else { return "the answer contradicts itself" }
        return "\(pointer.isEmpty ? "the answer" : pointer) is missing or not as expected"
    }
}
