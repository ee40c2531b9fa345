// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime

/// The apps that production answers questions about, as far as its answers show.
///
/// Until an app's first release, production refuses each question about it with 401, as it does for a wrong key. The
/// sandbox takes the same key.
final class AppReleases: Sendable {
    private enum Release: Sendable {
        case released
        case unreleased(since: Timestamp)
    }

    /// How long an app counts as unreleased, in minutes; it may be released at any time.
    private static let mostMinutes = 10

    private let known = Guarded<[BundleID: Release]>([:])
    private let log: Log
    private let clock: WallClock

    init(log: Log, clock: WallClock) {
        self.log = log
        self.clock = clock
    }

    /// Whether production has answered a question about the app; a later 401 is then no sign of an unreleased app.
    func isReleased(_ bundleID: BundleID) -> Bool {
        if case .released = known.withLock({ $0[bundleID] }) { true } else { false }
    }

    /// Whether production has refused the app a short while ago, although the sandbox takes the key.
    func isUnreleased(_ bundleID: BundleID) -> Bool {
        guard case .unreleased(let since) = known.withLock({ $0[bundleID] }) else { return false }
        return clock.now() < since.adding(minutes: Self.mostMinutes)
    }

    func noteReleased(_ bundleID: BundleID) {
        known.withLock { $0[bundleID] = .released }
    }

    func noteUnreleased(_ bundleID: BundleID) {
        if !isUnreleased(bundleID) {
            let now = clock.now()
            known.withLock { $0[bundleID] = .unreleased(since: now) }
        }
        log.onceAMinute(
            .warning,
            "production refuses the app, as it does until the first release; the sandbox takes the key",
            reason: "never-released",
            app: bundleID.text,
            with: [
                "hint": "set environments: [\"sandbox\"] for the app in offers until it is approved; see check --live"
            ]
        )
    }
}
