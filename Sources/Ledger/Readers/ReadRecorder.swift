// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain
package import ServiceRuntime

/// Records who reads the audit log: an entry for each question, and one a minute for fetched parts of the log itself.
package final class ReadRecorder: Sendable {
    private let committer: Committer
    private let clock: WallClock
    private let log: Log
    /// What was fetched and is not on record yet.
    package let fetches = MinuteCounter<AuditFetch>()

    package init(committer: Committer, clock: WallClock, log: Log) {
        self.committer = committer
        self.clock = clock
        self.log = log
    }

    /// Records a question, with how many entries answer it; to be called before the answer leaves.
    ///
    /// The log must stay readable while nothing can be recorded: the question is then counted, and recorded as fetched
    /// once that is possible.
    package func note(caller: CallerID, call: AuditCall, conditions: [AuditCondition], count: Int = 0) async {
        let read = RecordedRead(caller: caller, call: call, conditions: conditions, count: count)
        do throws(LedgerError) {
            try await committer.append([.records(.read(read))])
        } catch {
            log(.warning, "a read of the audit log could not be recorded", with: ["call": .text(call.rawValue)])
            noteFetch(caller: caller, call: call)
        }
    }

    /// Records who looked a customer up; the pseudonyms may be returned only after this succeeds.
    package func record(lookupOf users: [Pseudonym], in app: AppName, by caller: CallerID) async throws(LedgerError) {
        try await committer.append([.customerLookedUp(app, users: users, by: caller)])
    }

    /// Counts a fetched part of the log; `caller` is `nil` if the log is public.
    package func noteFetch(caller: CallerID?, call: AuditCall) {
        fetches.count(AuditFetch(caller: caller, call: call), at: clock.now())
    }
}
