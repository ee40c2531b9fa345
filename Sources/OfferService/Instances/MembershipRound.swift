// SPDX-License-Identifier: Apache-2.0
import Ledger
import OfferDomain
import ServiceRuntime
import Storage

/// Looks at the instances that share the database; used by one thread.
final class MembershipRound {
    private let open: ConnectionOpener
    private let stopwatch: Stopwatch
    private var connection: (any DatabaseConnection)?
    /// By instance, its last heartbeat count, and when this instance first saw that count.
    private var heard: [UniqueID: (beats: Int64, at: Int64)] = [:]
    private var announced: Instance?
    /// Whether others removed this instance, and it has yet to acknowledge what they sealed or disabled meanwhile.
    private(set) var mustAcknowledge = false

    /// What one look has found.
    struct Seen {
        /// The other live instances.
        var others: [Instance] = []
        /// This one has removed others.
        var hasRemoved = false
        /// The number of requests so far to all instances to reload their files.
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

    /// Notes that this instance has acknowledged what the others sealed or disabled.
    func hasAcknowledged() { mustAcknowledge = false }

    /// Records a heartbeat of `instance`, and reads those of the others.
    func look(as instance: Instance) throws(MembershipError) -> Seen {
        var seen = Seen()
        try use { table throws(StorageError) in
            let isGone = try !table.beat(instance.id)
            // Kept until it has acknowledged: the next steps may fail, and by then it has joined the others again.
            if isGone { mustAcknowledge = true }
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
