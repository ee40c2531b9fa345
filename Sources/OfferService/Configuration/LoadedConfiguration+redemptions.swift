// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain

extension LoadedConfiguration {
    /// Caps that count redemptions of an app about which its store can report nothing: no grant is ever given back.
    var unreported: [ConfigurationIssue] {
        let offers = catalog.offers.filter(\.needs.redemptions)
        let inAppStore = offers.compactMap { offer -> String? in
            guard let bundleID = offer.appStore?.bundleID, let app = catalog.apps[bundleID],
                app.environments.contains(.production), app.appAppleID == nil
            else { return nil }
            return warning(offer, "\(bundleID) needs its appAppleId, or notifications about production are refused")
        }
        let atGooglePlay = offers.compactMap { offer -> String? in
            guard let packageName = offer.googlePlay?.packageName, !takesGooglePushes else { return nil }
            let settings = "\(Setting.googlePushAudience.flag) and \(Setting.googlePushEmail.flag)"
            return warning(offer, "notifications about \(packageName) need \(settings)")
        }
        return (inAppStore + atGooglePlay).map { ConfigurationIssue(.warning, place: offersPath, $0) }
    }

    private func warning(_ offer: CatalogOffer, _ reason: String) -> String {
        "the offer \(offer.id) has a cap with counting: \"redeemed\", and no grant of it is given back: \(reason)"
    }
}
