// SPDX-License-Identifier: Apache-2.0
import Ledger
import OfferDomain
import ServiceRuntime

/// Records the counts of events that are too frequent, or too cheap for unauthenticated callers, for one entry each.
final class CountRecorder: Sendable {
    private let committer: Committer
    private let fetches: MinuteCounter<AuditFetch>
    private let traffic: MinuteCounter<UnauthenticatedTraffic>
    private let refusals: MinuteCounter<CountedRefusal>
    private let clock: WallClock

    init(
        committer: Committer,
        fetches: MinuteCounter<AuditFetch>,
        traffic: MinuteCounter<UnauthenticatedTraffic>,
        refusals: MinuteCounter<CountedRefusal>,
        clock: WallClock
    ) {
        self.committer = committer
        self.fetches = fetches
        self.traffic = traffic
        self.refusals = refusals
        self.clock = clock
    }

    /// Records the counts since the last time; counts that cannot be recorded are kept for the next time.
    func record() {
        let now = clock.now()
        if let counted = fetches.take(until: now) {
            do { try committer.appendBlocking([.records(.fetched(counted))]) } catch { fetches.restore(counted) }
        }
        if let counted = traffic.take(until: now) {
            do { try committer.appendBlocking([.noise(counted)]) } catch { traffic.restore(counted) }
        }
        if let counted = refusals.take(until: now) {
            do { try committer.appendBlocking([.refusalsCounted(counted)]) } catch { refusals.restore(counted) }
        }
    }
}
