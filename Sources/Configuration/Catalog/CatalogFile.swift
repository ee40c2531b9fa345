// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// Reads the `offers` file: apps, their plans, and the offers of each plan.
package enum CatalogFile {
    /// The catalog.
    ///
    /// - Throws: Everything that is wrong, all at once.
    package static func read(_ path: String) throws(ConfigurationError) -> Catalog {
        let file = try ConfigurationFile(path: path, of: .offers)
        let (apps, issues) = file.read { root, mismatches in
            var names = AppNames()
            let apps = root.elements("apps") { readApp($0, into: mismatches, names: &names) }
            if apps.allSatisfy(\.offers.isEmpty) && mismatches.all.isEmpty {
                root.note("apps", "names no offer; nothing could be signed")
            }
            return apps
        }
        guard issues.isEmpty else { throw ConfigurationError(issues) }
        return Catalog(
            apps: apps.compactMap(\.appStore),
            googlePlayApps: apps.compactMap(\.googlePlay),
            offers: apps.flatMap(\.offers),
            policies: AppPolicies(
                customers: apps.compactMap(\.customerPolicy),
                appAttest: apps.compactMap(\.appAttest),
                playIntegrity: apps.compactMap(\.playIntegrity),
                retention: apps.compactMap(\.retention)
            ),
            digest: file.digest
        )
    }

    /// The members of one app; invalid ones are `nil`.
    private struct ReadApp {
        let appStore: AppStoreApp?
        let googlePlay: GooglePlayApp?
        let customerPolicy: (AppName, CustomerPolicy)?
        let proofs: AppProofSettings
        let retention: (BundleID, AppRetention)?
        let offers: [CatalogOffer]

        var appAttest: (BundleID, AppAttestSettings)? {
            appStore.flatMap { app in proofs.appAttest.map { (app.bundleID, $0) } }
        }
        var playIntegrity: (PackageName, PlayIntegritySettings)? {
            googlePlay.flatMap { app in proofs.playIntegrity.map { (app.packageName, $0) } }
        }
    }

    /// Names that stand for one app each.
    private struct AppNames {
        private var bundleIDs: Set<BundleID> = []
        private var packageNames: Set<PackageName> = []
        /// Under which the ledger knows apps; a package name must not be another app's bundle id.
        private var ledgerNames: Set<AppName> = []

        /// Adds the names of an app, and reports an app that the file lists already.
        mutating func add(_ bundleID: BundleID?, _ packageName: PackageName?, of app: ObjectReader) {
            if let bundleID, !bundleIDs.insert(bundleID).inserted {
                return app.note("bundleId", "\(bundleID) is listed already; put its plans into that one")
            }
            if let packageName, !packageNames.insert(packageName).inserted {
                return app.note("packageName", "\(packageName) is listed already; put its plans into that one")
            }
            guard let name = bundleID.map(AppName.init) ?? packageName.map(AppName.init) else { return }
            if !ledgerNames.insert(name).inserted {
                app.note(
                    bundleID == nil ? "packageName" : "bundleId",
                    "\(name) names another app too, and customers of one are counted as the other's; if it is the same "
                        + "app, put both into one entry"
                )
            }
        }
    }

    private static func readApp(
        _ value: JSONValue,
        into mismatches: Mismatches,
        names: inout AppNames
    ) -> ReadApp {
        var app = ObjectReader(value, into: mismatches)
        let bundleID = app.optional("bundleId", text: BundleID.init)
        let packageName = app.optional("packageName", text: PackageName.init)
        let isInAppStore = app.member("bundleId") != nil
        let isAtGooglePlay = app.member("packageName") != nil
        if value.object != nil, !isInAppStore, !isAtGooglePlay {
            app.note("bundleId", "is missing, and so is packageName; an app is in one store at least")
        }
        names.add(bundleID, packageName, of: app)
        let appleID = app.optional("appAppleId", "a whole number above 0") { $0.integer.flatMap { $0 > 0 ? $0 : nil } }
        let environments = readEnvironments(&app, mismatches)
        let hideTags = readHideTags(&app, isAtGooglePlay: isAtGooglePlay, mismatches)
        let customerPolicy = CustomerPolicy(&app, mismatches)
        let plans = PlanReader(
            mismatches,
            bundleID: bundleID,
            packageName: packageName,
            isOnlyIn: isInAppStore == isAtGooglePlay ? nil : isInAppStore ? .appStore : .googlePlay,
            proofs: AppProofSettings(&app, isIn: (isInAppStore, isAtGooglePlay), mismatches)
        )
        let offers = app.elements("plans") { plans.read($0) }
        let retention = plans.retention.readApp(&app, namesApp: appleID != nil || !environments.contains(.production))
        app.finish()
        let name = bundleID.map(AppName.init) ?? packageName.map(AppName.init)
        return ReadApp(
            appStore: bundleID.map { AppStoreApp(bundleID: $0, appAppleID: appleID, environments: environments) },
            googlePlay: packageName.flatMap { packageName in
                name.map { GooglePlayApp(packageName: packageName, name: $0, hideTags: hideTags) }
            },
            customerPolicy: name.map { ($0, customerPolicy) },
            proofs: plans.proofs,
            retention: bundleID.flatMap { id in retention.map { (id, $0) } },
            offers: offers.flatMap(\.self)
        )
    }

    private static func readHideTags(
        _ app: inout ObjectReader,
        isAtGooglePlay: Bool,
        _ mismatches: Mismatches
    ) -> [OfferTag] {
        guard let value = app.member("googlePlay") else { return [.ignoreOffer] }
        if !isAtGooglePlay { app.note("googlePlay", "needs the app's packageName") }
        var reader = ObjectReader(value, into: mismatches)
        defer { reader.finish() }
        guard let list = reader.member("hideTags") else { return [.ignoreOffer] }
        let tags: [OfferTag] = reader.elements("hideTags", atMost: 20) { element in
            guard let text = element.string else {
                return mismatches.none(element, "expected a tag, found \(element.summary)")
            }
            do { return try OfferTag(text) } catch { return mismatches.none(element, "\(error)") }
        }
        if list.array?.isEmpty == true {
            mismatches.add(list, "is empty; then nothing would keep an offer from being shown to everyone")
        }
        return tags
    }

    private static func readEnvironments(
        _ app: inout ObjectReader,
        _ mismatches: Mismatches
    ) -> Set<StoreEnvironment> {
        guard let value = app.member("environments") else { return Set(StoreEnvironment.allCases) }
        let listed: [StoreEnvironment] = app.elements("environments") { element in
            element.string.flatMap(StoreEnvironment.init)
                ?? mismatches.none(element, "expected “production” or “sandbox”, found \(element.summary)")
        }
        if value.array?.isEmpty == true { mismatches.add(value, "is empty; then no purchase would count") }
        return Set(listed)
    }
}
