// SPDX-License-Identifier: Apache-2.0
package import Configuration
import JSON
import OfferDomain
import TransparencyLog

// Values that are well formed, and that can hardly be meant.
extension LoadedConfiguration {
    /// Values that no purchase, key or request will ever match.
    var unmatchable: [ConfigurationIssue] {
        groupNames + keyApps + appsAlike + providerApps + unprovableApps + keys.identity.unknownOrigins(in: keysPath)
    }

    /// Values out of Apple's documentation or our examples that were left as they are.
    package var samples: [ConfigurationIssue] {
        keySamples + appSamples
    }

    // MARK: - Names in the place of ids

    private var groupNames: [ConfigurationIssue] {
        let products = Set(catalog.offers.compactMap(\.googlePlay?.productID.text))
        var named: Set<String> = []
        for offer in catalog.offers {
            let groups = [offer.appStore?.subscriptionGroupID].compactMap(\.self) + (offer.policy.rule?.groups ?? [])
            // In rules, Google Play's products stand in the place of groups.
            for group in groups where !group.isOfDigits && !products.contains(group.text) { named.insert(group.text) }
        }
        return named.sorted().map { group in
            ConfigurationIssue(
                .warning,
                place: offersPath,
                "subscriptionGroupId \(printable(group)) is not an id of Apple's: those are digits, such as 21234567, and this looks "
                    + "like the group's name. No purchase will match it; App Store Connect shows the id beside the name"
            )
        }
    }

    // MARK: - Names that differ

    /// Apps of keys that the offers file lacks but has a similar name for; a key may be for apps without offers.
    private var keyApps: [ConfigurationIssue] {
        let known = catalog.apps.keys.map(\.text).sorted()
        // These are reported with the offers that cannot be signed.
        let unfilled = Set(keys.ring.unfilled(catalog.keyNeeds).map(\.bundleID.text))
        return Set(keys.ring.keys.flatMap(\.bundleIDs).map(\.text)).subtracting(known).sorted().compactMap { app in
            guard let meant = similar(to: app, among: known), !unfilled.contains(meant) else { return nil }
            let suggestion = suggestion(for: app, among: [meant])
            let message = "a key is for \(app), and offers has no such app\(suggestion)"
            return ConfigurationIssue(.warning, place: keysPath, message)
        }
    }

    /// Apps of the offers file that differ only in letter case: the stores take them for two.
    private var appsAlike: [ConfigurationIssue] {
        Dictionary(grouping: catalog.apps.keys.map(\.text)) { $0.lowercased() }.values.filter { $0.count > 1 }
            .map { $0.sorted().joined(separator: " and ") }.sorted()
            .map { "\($0) differ only in letter case; one of them is wrong" }
            .map { ConfigurationIssue(.warning, place: offersPath, $0) }
    }

    /// Apps of identity providers that are not in the offers file: no request of their users can be for one.
    private var providerApps: [ConfigurationIssue] {
        let known = (catalog.apps.keys.map(\.text) + catalog.googlePlayApps.keys.map(\.text)).sorted()
        return keys.identity.all.flatMap { provider in
            provider.apps.map(\.text).sorted().filter { !known.contains($0) }.map { app in
                ConfigurationIssue(
                    .warning,
                    place: keysPath,
                    "the identity provider \(provider.name) is for \(app), and offers has no such app"
                        + suggestion(for: app, among: known)
                )
            }
        }
    }

    /// Rules that ask about the app, of apps that cannot prove that.
    private var unprovableApps: [ConfigurationIssue] {
        catalog.offers.compactMap { offer in
            let rules = offer.policy.rule?.asksAboutApp ?? []
            guard let rule = rules.first(where: { !catalog.canProve($0, of: offer.listing) }) else { return nil }
            let reason =
                switch offer.listing {
                case .appStore(let listing) where catalog.looksAtProofs(of: listing.bundleID):
                    "the App Store does not say it of \(listing.bundleID.text)"
                case .appStore(let listing): "\(listing.bundleID.text) has no appAttest, or its policy is off"
                case .googlePlay(let key): "\(key.packageName.text) has no playIntegrity, or its policy is off"
                }
            return ConfigurationIssue(
                .warning,
                place: offersPath,
                "the rule of \(offer.id) asks \(rule.name), and \(reason): only a backend can state "
                    + "facts.\(rule.name) then"
            )
        }
    }

    // MARK: - Samples

    private var keySamples: [ConfigurationIssue] {
        var issues: [ConfigurationIssue] = []
        func note(_ pointer: String, _ message: String) {
            issues.append(ConfigurationIssue(.warning, place: keysPath, pointer: pointer, message))
        }
        let host = keys.log.origin.text.prefix { $0 != "/" }.lowercased()
        if isSample(host: host) {
            note(
                "/auditLog/origin",
                "\(keys.log.origin.text) is the example's: name the log after a domain of yours before the first start, "
                    + "because the name cannot change later"
            )
        }
        for (index, key) in keys.ring.keys.enumerated() {
            if key.issuerID == SampleValues.issuerID {
                let message = "is the sample of Apple's documentation; copy yours from App Store Connect"
                note("/keys/\(index)/issuerId", message)
            }
            if SampleValues.keyIDs.contains(key.id.text) {
                note("/keys/\(index)/id", "\(key.id) is a sample; copy the id of your key from App Store Connect")
            }
        }
        return issues
    }

    private var appSamples: [ConfigurationIssue] {
        catalog.apps.values.sorted { $0.bundleID.text < $1.bundleID.text }.flatMap { app in
            var samples: [String] = []
            if let id = app.appAppleID, SampleValues.appAppleIDs.contains(id) { samples.append("appAppleId \(id)") }
            if app.bundleID.text.lowercased().hasPrefix("com.example.") { samples.append("bundleId \(app.bundleID)") }
            return samples.map { sample in
                let message = "\(sample) is a sample; no purchase of yours will match it"
                return ConfigurationIssue(.warning, place: offersPath, message)
            }
        }
    }

    private func isSample(host: String) -> Bool {
        let labels = host.split(separator: ".")
        return labels.last == "example" || labels.suffix(2).first == "example" && labels.count > 1
    }
}

extension Catalog {
    /// What is doubtful about the scopes of callers: they name an app that the offers file does not have.
    package func issues(of callers: [Caller]) -> [ConfigurationIssue] {
        let known = (apps.keys.map(\.text) + googlePlayApps.keys.map(\.text)).sorted()
        return callers.flatMap { caller in
            caller.apps.map(\.text).sorted().filter { !known.contains($0) }.map { app in
                ConfigurationIssue(
                    .warning,
                    place: "caller \(caller.id)",
                    "may ask for \(app), and offers has no such app, so each of its requests for it is refused"
                        + suggestion(for: app, among: known)
                )
            }
        }
    }
}

/// What documentation and examples show.
private enum SampleValues {
    /// Source: Apple, [Generating JSON Web Tokens](https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests).
    static let issuerID = UniqueID("57246542-96fe-1a63-e053-0824d011072a")
    static let keyIDs: Set<String> = ["2X9R4HXF34", "ABC123DEFG"]
    static let appAppleIDs: Set<Int64> = [1234, 41_234, 531_412, 123_456_789, 1_234_567_890]
}

/// A question whether a name was meant that is like another; empty if none is.
func suggestion(for name: String, among names: [String]) -> String {
    guard let similar = similar(to: name, among: names) else { return "" }
    return similar.lowercased() == name.lowercased()
        ? "; there is \(similar), which differs only in letter case: did you mean that?" : "; did you mean \(similar)?"
}

/// A name that differs in letter case alone, or else the nearest; `nil` if the name itself is among them.
private func similar(to name: String, among names: [String]) -> String? {
    guard !names.contains(name) else { return nil }
    return names.first { $0.lowercased() == name.lowercased() } ?? nearest(to: name, among: names)
}

extension SubscriptionGroupID {
    fileprivate var isOfDigits: Bool { text.utf8.allSatisfy { (0x30...0x39).contains($0) } }
}

extension Catalog {
    /// Whether an app of that store can prove what the rule asks about it.
    fileprivate func canProve(_ rule: Rule, of listing: StoreListing) -> Bool {
        switch listing {
        case .appStore(let listing):
            if case .appOrigin = rule { looksAtProofs(of: listing.bundleID) } else { false }
        case .googlePlay(let key): looksAtProofs(of: key.packageName)
        }
    }
}
