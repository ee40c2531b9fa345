// SPDX-License-Identifier: Apache-2.0
package import Stores

/// What `check --live` reports about the stores and the identity providers.
package struct LiveReports: Sendable {
    /// `nil` if the catalog has no app in the App Store.
    package let appStore: LiveReport?
    /// `nil` if no app that a key asked for has retention messages.
    package let retention: RetentionMessagingReport?
    /// `nil` without a key for App Store Connect.
    package let connect: AppStoreConnectReport?
    /// `nil` if the catalog has no app at Google Play.
    package let googlePlay: GooglePlayLintReport?

    /// `nil` without an identity provider.
    package let identity: IdentityProviderReport?

    package init(
        appStore: LiveReport?,
        retention: RetentionMessagingReport? = nil,
        connect: AppStoreConnectReport? = nil,
        googlePlay: GooglePlayLintReport?,
        identity: IdentityProviderReport? = nil
    ) {
        (self.appStore, self.retention, self.connect) = (appStore, retention, connect)
        (self.googlePlay, self.identity) = (googlePlay, identity)
    }

    /// The overall verdict: wrong if any report is, otherwise unreachable if any is.
    package var verdict: LiveVerdict {
        // Without a key for the App Store Server API, that is not a fault if another service was asked.
        let isAppStoreSilent = appStore?.entries.allSatisfy { $0.key == nil } ?? true
        let appStoreVerdict = isAppStoreSilent && (connect != nil || identity != nil) ? nil : appStore?.verdict
        let verdicts = [
            appStoreVerdict, retention?.verdict, connect?.verdict, googlePlay?.verdict, identity?.verdict,
        ]
        if verdicts.contains(.wrong) { return .wrong }
        return verdicts.contains(.unreachable) ? .unreachable : .good
    }

    /// The reports one after the other, a line each.
    package var lines: [String] {
        let reports = [
            appStore?.lines, retention?.lines, connect?.lines, googlePlay?.lines, identity?.lines,
        ].compactMap { $0 }
        return Array(reports.joined(separator: [""]))
    }
}
