// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain

extension LoadedConfiguration {
    /// Valid settings that may not be intended, for each app in the App Store.
    package var notes: [String] {
        catalog.apps.values.sorted { $0.bundleID.text < $1.bundleID.text }.flatMap(notes)
    }

    private func notes(_ app: AppStoreApp) -> [String] {
        let bundleID = app.bundleID
        let asking = catalog.offers.filter { !$0.factNeeds.isEmpty && $0.appStore?.bundleID == bundleID }.map(\.id.text)
        var notes: [String] = []
        if !asking.isEmpty, keys.ring.activeKey(for: bundleID, purpose: .appStoreServerAPI) == nil {
            notes.append(
                "\(bundleID): no active key has the purpose app-store-server-api, so the App Store is not asked; what "
                    + "is not sent along stays unknown for \(asking.joined(separator: ", "))"
            )
        }
        if app.environments.contains(.production), app.appAppleID == nil {
            notes.append("\(bundleID): without appAppleId what the App Store signs in production is not accepted")
        }
        if app.environments == [.production] {
            notes.append("\(bundleID): only production is accepted; TestFlight and App Review buy in the sandbox")
        }
        return notes
    }
}
