// SPDX-License-Identifier: Apache-2.0
import Dispatch
package import Ledger
import OfferDomain
package import ServiceRuntime
import Storage

/// The thread that records grants that were never redeemed: each once, 72 hours after it was given.
///
/// It also settles retention messages, and deletes expired attributes and proofs of apps. It looks every five minutes
/// over a read-only connection. The committer records a few results at a time, with rests: a backlog delays no request.
/// If instances share the database, all of them look, and the transaction that records lets only one be first.
package final class UnredeemedRecorder: Sendable {
    private static let microsecondsBetweenLooks: Int64 = 300_000_000
    private static let microsecondsBetweenBatches: Int64 = 50_000
    /// The maximum in one transaction, because requests wait for it.
    private static let mostAtOnce = 64
    private let ledger: LedgerAccess
    private let committer: Committer
    private let clock: WallClock
    private let log: Log
    private let isStopping = Guarded(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    package init(ledger: LedgerAccess, committer: Committer, clock: WallClock, log: Log) {
        self.ledger = ledger
        self.committer = committer
        self.clock = clock
        self.log = log
    }

    /// Starts the thread, which yields to those that answer requests.
    package func start() {
        NamedThread.start(named: "unredeemed") { [self] in
            NamedThread.yieldToOthers()
            repeat { look() } while goesOn(after: Self.microsecondsBetweenLooks)
            hasEnded.signal()
        }
    }

    /// Rests; false at once when the thread is to end.
    private func goesOn(after microseconds: Int64) -> Bool {
        isStopping.wait(atMost: microseconds) { $0 }
        return !isStopping.withLock { $0 }
    }

    /// Ends the thread, and returns once it has ended.
    package func stop() {
        isStopping.withLock { $0 = true }
        isStopping.wakeAll()
        hasEnded.wait()
    }

    /// Records what is due now; blocks the thread, which must not be one of Swift's shared pool.
    package func look() {
        do throws(LedgerError) {
            let connection = try database(ledger.openForReading())
            let scans = try database(UnredeemedGrantTable(connection: connection).scans())
            for scan in scans {
                var scan = scan
                while let next = try record(scan, connection) {
                    guard goesOn(after: Self.microsecondsBetweenBatches) else { return }
                    scan = next
                }
            }
            try settleRetention(connection)
            try deleteExpiredAttributes(connection)
            try forgetProofs(connection)
        } catch {
            log(
                .warning,
                "grants that were never redeemed could not be recorded",
                with: ["reason": .text(error.description)]
            )
        }
    }

    /// Settles all that is due, a few at a time.
    private func settleRetention(_ connection: any DatabaseConnection) throws(LedgerError) {
        let now = clock.now()
        let table = RetentionAnswerTable(connection: connection)
        while try database(table.isDue(at: now)) {
            try change { writer throws(LedgerError) in try writer.settleRetention(at: now) }
            guard goesOn(after: Self.microsecondsBetweenBatches) else { return }
        }
    }

    private func deleteExpiredAttributes(_ connection: any DatabaseConnection) throws(LedgerError) {
        let now = clock.now()
        let table = StoredAttributeTable(connection: connection)
        while try database(table.hasExpired(at: now)) {
            try change { writer throws(LedgerError) in try writer.deleteExpiredAttributes(at: now) }
            guard goesOn(after: Self.microsecondsBetweenBatches) else { return }
        }
    }

    /// Deletes keys of apps that were idle for long, and requests with tokens that no longer count.
    private func forgetProofs(_ connection: any DatabaseConnection) throws(LedgerError) {
        let now = clock.now()
        let (keys, spent) = (AttestedKeyTable(connection: connection), SpentTokenTable(connection: connection))
        while try database(keys.hasIdle(at: now) ? true : spent.hasOld(at: now)) {
            try change { writer throws(LedgerError) in
                let connection = writer.connection
                try database(AttestedKeyTable(connection: connection).forgetIdle(at: now, atMost: Self.mostAtOnce))
                try database(SpentTokenTable(connection: connection).forget(at: now, atMost: Self.mostAtOnce))
            }
            guard goesOn(after: Self.microsecondsBetweenBatches) else { return }
        }
    }

    /// Records the next grants of an app.
    ///
    /// - Returns: Where to continue; `nil` if nothing is left for now.
    private func record(
        _ scan: UnredeemedGrantTable.Scan,
        _ connection: any DatabaseConnection
    ) throws(LedgerError) -> UnredeemedGrantTable.Scan? {
        let now = clock.now()
        let due = min(now.adding(hours: -ReconciliationReport.settlingHours), scan.lastReportAt)
        let first = Self.first(of: scan, at: now)
        let end = UniqueID.version7(at: due, 0, 0).bytes
        guard first.lexicographicallyPrecedes(end) else { return nil }
        let grants = try database(
            UnredeemedGrantTable(connection: connection)
                .grants(of: scan.place, after: first, before: end, limit: Self.mostAtOnce)
        )
        let isLast = grants.count < Self.mostAtOnce
        let last = isLast ? end : grants.last?.grantID.bytes ?? end
        let isRecorded = try commit(grants, scan, upTo: last)
        guard !isLast, isRecorded else { return nil }
        var next = scan
        next.after = last
        return next
    }

    /// The ID after which grants are examined.
    private static func first(of scan: UnredeemedGrantTable.Scan, at now: Timestamp) -> [UInt8] {
        let usual = now.adding(days: -ReconciliationQuery.usualDays)
        let earliest = scan.after == nil ? max(usual, scan.earliest) : scan.earliest
        let first = UniqueID.version7(at: earliest, 0, 0).bytes
        guard let after = scan.after, first.lexicographicallyPrecedes(after) else { return first }
        return after
    }

    /// - Returns: False if another instance was first; then nothing is recorded.
    private func commit(
        _ grants: [UnredeemedGrant],
        _ scan: UnredeemedGrantTable.Scan,
        upTo last: [UInt8]
    ) throws(LedgerError) -> Bool {
        let isFirst = Guarded(false)
        try change { writer throws(LedgerError) in
            let table = UnredeemedGrantTable(connection: writer.connection)
            let isUnchanged = try database(table.scans().contains { $0.place == scan.place && $0.after == scan.after })
            guard isUnchanged else { return }
            isFirst.withLock { $0 = true }
            for grant in grants {
                let isUsed = try database(table.isUsed(grant.grantID))
                if !isUsed { try writer.append(.grantUnredeemed(grant)) }
            }
            try database(table.note(scan, upTo: last))
        }
        return isFirst.withLock { $0 }
    }

    /// Has the committer change something, and waits until that is durable.
    private func change(_ body: @escaping Committer.Change) throws(LedgerError) {
        let outcome = Guarded<Result<Void, LedgerError>?>(nil)
        committer.change(body) { result in
            outcome.withLock { $0 = result }
            outcome.wakeOne()
        }
        try outcome.wait { $0 }.get()
    }
}
