// SPDX-License-Identifier: Apache-2.0

/// What `check --live` has to tell of the stores.
package struct LiveReports: Sendable {
    /// `nil` if the catalogue has no app in the App Store.
    package let appStore: LiveReport?
    /// `nil` if the catalogue has no app at Google Play.
    package let googlePlay: GooglePlayLintReport?

    /// What both come to: wrong if one is, else unreachable if one is.
    package var verdict: LiveReport.Verdict {
        let verdicts = [appStore?.verdict, googlePlay?.verdict]
        if verdicts.contains(.wrong) { return .wrong }
        return verdicts.contains(.unreachable) ? .unreachable : .good
    }

    /// The reports one after the other, a line each.
    package var lines: [String] {
        let reports = [appStore?.lines, googlePlay?.lines].compactMap { $0 }
        return Array(reports.joined(separator: [""]))
    }
}
