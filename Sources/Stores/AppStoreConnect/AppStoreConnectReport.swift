// SPDX-License-Identifier: Apache-2.0
package import Configuration
import JSON
import OfferDomain

/// The catalog next to what App Store Connect has of each app, for people.
package struct AppStoreConnectReport: Sendable {
    /// What was found of one app.
    package enum Outcome: Sendable {
        /// `nil`: the key sees no such app.
        case read(ConnectApp?)
        case notRead(AppStoreConnectError)
        /// The key's use could not be recorded, or the key is disabled.
        case notAsked(reason: String)
    }

    private let entries: [(app: AppStoreApp, outcome: Outcome, findings: [Finding])]
    private let offerCount: Int

    /// One difference.
    package struct Finding: Hashable, Sendable {
        /// A sentence that names the product or offer.
        package let text: String
        /// Whether what is signed can't be redeemed; else it is only worth knowing.
        package let isFault: Bool
    }

    /// Compares the catalog with what was read of each app.
    package init(_ catalog: Catalog, _ outcomes: [(app: AppStoreApp, outcome: Outcome)]) {
        entries = outcomes.map { app, outcome in
            guard case .read(let found) = outcome else { return (app, outcome, []) }
            return (app, outcome, Self.findings(of: app, in: catalog, comparedWith: found))
        }
        offerCount = catalog.offers.count { $0.appStore?.offerID != nil }
    }

    /// Wrong if there is a fault, or an app was not asked about; unreachable if App Store Connect did not answer.
    package var verdict: LiveVerdict {
        var isUnreachable = false
        for entry in entries {
            if entry.findings.contains(where: \.isFault) { return .wrong }
            switch entry.outcome {
            case .notRead(let error) where error.isWrong: return .wrong
            case .notAsked: return .wrong
            case .notRead: isUnreachable = true
            case .read: break
            }
        }
        return isUnreachable ? .unreachable : .good
    }

    /// The report, a line each.
    package var lines: [String] {
        var lines = ["App Store Connect, compared with the catalog:"]
        for (app, outcome, findings) in entries {
            switch outcome {
            case .notRead(let error):
                lines += ["", "\(app.bundleID)  not read"] + "\(error)".wrapped(first: "  → ", rest: "    ")
            case .notAsked(let reason): lines += ["", "\(app.bundleID)  not asked: \(reason)"]
            case .read(let found):
                lines += ["", Self.heading(app, found)]
                for finding in findings {
                    lines += finding.text.wrapped(first: finding.isFault ? "  → " : "  note: ", rest: "    ")
                }
            }
        }
        let faults = entries.flatMap { $0.findings }.count { $0.isFault }
        let summary = faults == 0 ? "no difference matters" : "\(faults) to be put right"
        return lines + ["", "\(Self.counted(offerCount, "promotional offer")) in the catalog; \(summary)."]
    }

    private static func heading(_ app: AppStoreApp, _ found: ConnectApp?) -> String {
        guard let found else { return "\(app.bundleID)  not found" }
        let offers = found.subscriptions.map(\.offerIDs.count).reduce(0, +)
        return "\(app.bundleID)  “\(found.name)”, Apple ID \(found.id): "
            + "\(counted(found.subscriptions.count, "subscription")), \(counted(offers, "promotional offer"))"
    }

    private static func counted(_ count: Int, _ what: String) -> String { "\(count) \(what)\(count == 1 ? "" : "s")" }

    // MARK: - Comparison

    private static func findings(
        of app: AppStoreApp,
        in catalog: Catalog,
        comparedWith found: ConnectApp?
    ) -> [Finding] {
        guard let found else {
            return [
                Finding(
                    text: "The key sees no app of this bundle id in App Store Connect. Its letter case counts.",
                    isFault: true
                )
            ]
        }
        var findings: [Finding] = []
        if let number = app.appAppleID, String(number) != found.id {
            findings.append(Finding(text: "appAppleId is \(number); the app's Apple ID is \(found.id).", isFault: true))
        }
        let listings = catalog.offers.compactMap(\.appStore).filter { $0.bundleID == app.bundleID }
        var seen: Set<ProductID> = []
        for listing in listings where seen.insert(listing.productID).inserted {
            let ofProduct = listings.filter { $0.productID == listing.productID }
            findings += self.findings(of: listing.productID, in: ofProduct, comparedWith: found)
        }
        return findings
    }

    private static func findings(
        of productID: ProductID,
        in listings: [AppStoreListing],
        comparedWith found: ConnectApp
    ) -> [Finding] {
        guard let subscription = found.subscriptions.first(where: { $0.productID == productID.text }) else {
            let near = suggestion(productID.text, found.subscriptions.map(\.productID))
            return [Finding(text: "\(productID): there is no subscription of this product id\(near)", isFault: true)]
        }
        var findings: [Finding] = []
        if subscription.state != "APPROVED" {
            let text = "\(productID): the subscription is \(subscription.state), not APPROVED: only the sandbox has it."
            findings.append(Finding(text: text, isFault: false))
        }
        if let group = listings.first?.subscriptionGroupID?.text, group != subscription.groupID {
            let name = subscription.groupName
            let text =
                "\(productID): subscriptionGroupId is \(group); it is in the group \(subscription.groupID) (“\(name)”)."
            findings.append(Finding(text: text, isFault: true))
        }
        let wanted = listings.compactMap { $0.offerID?.text }
        for offer in wanted where !subscription.offerIDs.contains(offer) {
            let near = suggestion(offer, subscription.offerIDs)
            let text = "\(productID), \(offer): the subscription has no promotional offer of this identifier\(near)"
            findings.append(Finding(text: text, isFault: true))
        }
        for offer in subscription.offerIDs where !wanted.contains(offer) {
            let text = "\(productID), \(offer): not in the catalog, so it is never signed."
            findings.append(Finding(text: text, isFault: false))
        }
        return findings
    }

    /// The end of a sentence.
    private static func suggestion(_ name: String, _ known: [String]) -> String {
        if let near = nearest(to: name, among: known) { return "; did you mean “\(near)”?" }
        return known.isEmpty ? "; there is none." : "; there is \(known.prefix(5).joined(separator: ", "))."
    }
}
