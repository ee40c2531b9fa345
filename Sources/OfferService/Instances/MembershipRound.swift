// SPDX-License-Identifier: Apache-2.0
import Ledger
import OfferDomain
import ServiceRuntime
import Storage

/// Looks at who shares the database, one after the other, of one thread alone.
final class MembershipRound {
    private let open: ConnectionOpener
    private let stopwatch: Stopwatch
    private var connection: (any DatabaseConnection)?
    /// By instance, what it said last, and when that was new here.
    private var heard: [UniqueID: (beats: Int64, at: Int64)] = [:]
    private var announced: Instance?
    /// Whether the others had taken this one for gone, and it has not obeyed since what they switched off without it.
    private(set) var mustObey = false

    /// What one look has found.
    struct Seen {
        /// Who else lives.
        var others: [Instance] = []
        /// This one has removed others.
        var hasRemoved = false
        /// How often somebody had all instances read their files anew.
        var reloads: Int64 = 0
    }

    init(open: @escaping ConnectionOpener, clock: WallClock) {
        self.open = open
        stopwatch = clock.stopwatch()
    }

    func join(_ instance: Instance) throws(MembershipError) {
        try use { table throws(StorageError) in try table.join(instance) }
        announced = instance
    }

    /// Notes that what the others switched off is obeyed.
    func hasObeyed() { mustObey = false }

    /// Says that `instance` lives, and looks who else does.
    func look(as instance: Instance) throws(MembershipError) -> Seen {
        var seen = Seen()
        try use { table throws(StorageError) in
            let isGone = try !table.beat(instance.id)
            // Kept until it has obeyed: what comes next may fail, and by then it is among the others again.
            if isGone { mustObey = true }
            if isGone || announced != instance { try table.join(instance) }
            announced = instance
            seen.reloads = try table.reloads()
            try listen(table, without: instance.id, &seen)
        }
        return seen
    }

    private func listen(_ table: InstanceTable, without id: UniqueID, _ seen: inout Seen) throws(StorageError) {
        let now = stopwatch.microseconds
        for row in try table.all() where row.instance.id != id {
            let other = row.instance.id
            if heard[other]?.beats != row.beats { heard[other] = (row.beats, now) }
            guard let last = heard[other], now - last.at >= InstanceTable.patienceMilliseconds * 1000 else {
                seen.others.append(row.instance)
                continue
            }
            try table.remove(row)
            heard[other] = nil
            seen.hasRemoved = true
        }
    }

    private func use(_ body: (InstanceTable) throws(StorageError) -> Void) throws(MembershipError) {
        do throws(StorageError) {
            let current: any DatabaseConnection = if let connection { connection } else { try open() }
            connection = current
            try body(InstanceTable(connection: current))
        } catch {
            // A connection that failed once may fail for ever.
            connection = nil
            throw .database(error)
        }
    }
}
