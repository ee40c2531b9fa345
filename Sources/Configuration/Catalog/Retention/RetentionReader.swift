// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// Reads the members `retention` of one app, its plans and its offers.
///
/// A class, because what a plan names may stand further down in the file.
final class RetentionReader {
    private let mismatches: Mismatches
    private var plans: [String: AppRetention.Plan] = [:]
    private var offers: [RetentionOffer] = []
    private var alternatives: [Alternative] = []
    /// Whether any plan or offer has the member.
    private var isUsed = false

    /// A change of product, to be compared with the plans once all are read.
    private struct Alternative {
        let reader: ObjectReader
        let from: ProductID
        let to: ProductID
    }

    init(_ mismatches: Mismatches) { self.mismatches = mismatches }

    // MARK: - Plans and offers

    /// Reads what a plan says, and notes the group of its product; a `productID` of `nil` could not be read, or is of no
    /// product in the App Store.
    func readPlan(_ plan: inout ObjectReader, of productID: ProductID?, in groupID: SubscriptionGroupID?) {
        var found = AppRetention.Plan(groupID: groupID)
        if let value = plan.member("retention") {
            isUsed = true
            if plan.member("appStore") == nil { plan.note("retention", "needs the plan's appStore, with the product") }
            var reader = ObjectReader(value, into: mismatches)
            found.message = reader.member("message").flatMap(readMessage)
            found.alternative = reader.member("switchTo").flatMap { readAlternative($0, from: productID) }
            if reader.member("message") == nil, reader.member("switchTo") == nil {
                reader.note("message", "is missing, and so is switchTo")
            }
            reader.finish()
        }
        if let productID { plans[productID.text] = found }
    }

    private func readAlternative(_ value: JSONValue, from productID: ProductID?) -> RetentionSwitch? {
        var reader = ObjectReader(value, into: mismatches)
        let other = reader.required("productId", text: ProductID.init)
        let message = readRequiredMessage(&reader)
        let billingPlan: RetentionSwitch.BillingPlan? = reader.optional(
            "billingPlanType",
            "“MONTHLY” or “BILLED_UPFRONT”"
        ) { $0.choice() }
        reader.finish()
        guard let other, let productID else { return nil }
        alternatives.append(Alternative(reader: reader, from: productID, to: other))
        return message.map { RetentionSwitch(productID: other, message: $0, billingPlan: billingPlan) }
    }

    /// Reads what an entry of a plan's `offers` says; `listed` are the offers that the entry makes.
    func readOffer(_ value: JSONValue, _ listed: [CatalogOffer]?) -> [CatalogOffer]? {
        guard let member = value.object?["retention"], !member.isNull else { return listed }
        isUsed = true
        var reader = ObjectReader(member, into: mismatches)
        let message = readRequiredMessage(&reader)
        reader.finish()
        if value.object?["appStore"] == nil {
            mismatches.add(member, "needs appStore beside it; the App Store shows only its own offers")
        }
        if let message, let offer = listed?.first(where: { $0.appStore != nil }) {
            offers.append(RetentionOffer(offer: offer, message: message))
        }
        return listed
    }

    // MARK: - The app

    /// Reads what the app says, once its plans are read; `nil` if it has nothing for the App Store to show.
    ///
    /// `namesApp` says whether requests can name the app: in production they do that by its number alone.
    func readApp(_ app: inout ObjectReader, namesApp: Bool) -> AppRetention? {
        guard let value = app.member("retention") else {
            if isUsed {
                app.note(
                    "retention",
                    "is missing; its message is shown where no offer can be, so plans and offers with retention need it"
                )
            }
            return nil
        }
        if app.member("bundleId") == nil {
            app.note("retention", "needs the app's bundleId")
        } else if !namesApp {
            app.note("retention", "needs the app's appAppleId; in production, requests name the app by it alone")
        }
        var reader = ObjectReader(value, into: mismatches)
        let message = readRequiredMessage(&reader)
        reader.finish()
        checkAlternatives()
        return message.map { AppRetention(message: $0, plans: plans, offers: offers) }
    }

    /// The App Store changes products within a group alone.
    private func checkAlternatives() {
        for alternative in alternatives {
            let (from, to) = (plans[alternative.from.text], plans[alternative.to.text])
            if alternative.from == alternative.to {
                alternative.reader.note("productId", "is the product of this plan; name another one")
            } else if to == nil {
                alternative.reader.note("productId", "is of no plan of this app; add its plan, which needs no offers")
            } else if from?.groupID == nil || from?.groupID != to?.groupID {
                alternative.reader.note(
                    "productId",
                    "must be in the same subscriptionGroupId as the plan's own product"
                )
            }
        }
    }

    // MARK: - Messages

    private func readRequiredMessage(_ reader: inout ObjectReader) -> RetentionMessage? {
        guard let value = reader.member("message") else {
            reader.note("message", "is missing; expected \(Self.expected)")
            return nil
        }
        return readMessage(value)
    }

    private static let expected = "the UUID of a message, or an object with one for default and for each locale"

    private func readMessage(_ value: JSONValue) -> RetentionMessage? {
        guard let object = value.object else { return readID(value).map { RetentionMessage($0) } }
        var standard: UniqueID?
        var byLanguage: [String: UniqueID] = [:]
        for member in object {
            let id = readID(member.value)
            if member.isNamed("default") {
                standard = id
            } else if !Self.isLocale(member.name) {
                mismatches.add(member.value, "is of no locale; expected default, or one such as de or pt-BR")
            } else if let id, byLanguage.updateValue(id, forKey: RetentionMessage.key(member.name)) != nil {
                mismatches.add(member.value, "is of a locale that is listed already")
            }
        }
        if object["default"] == nil { mismatches.add(value, "has no default, for locales that are not listed") }
        return standard.map { RetentionMessage($0, byLanguage: byLanguage) }
    }

    private func readID(_ value: JSONValue) -> UniqueID? {
        value.stringSlice.flatMap { UniqueID(utf8: $0) }
            ?? mismatches.none(value, "expected \(Self.expected), found \(value.summary)")
    }

    /// Whether it is made like a locale of the App Store: words of letters and digits, the first of two or three letters.
    private static func isLocale(_ name: String) -> Bool {
        let words = RetentionMessage.key(name).utf8.split(
            separator: UInt8(ascii: "-"),
            omittingEmptySubsequences: false
        )
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let language = words.first, (2...3).contains(language.count), language.allSatisfy(letters.contains) else {
            return false
        }
        return words.dropFirst().allSatisfy { word in
            (2...8).contains(word.count) && word.allSatisfy { letters.contains($0) || digits.contains($0) }
        }
    }
}
