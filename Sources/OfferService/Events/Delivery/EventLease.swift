// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime
import Storage

/// Decides which of the instances that share a database delivers events: the one with the current lease.
///
/// Used by one thread. The holder increments a number. Another instance takes over when it has seen the same number
/// for ``patienceMilliseconds`` on its clock. A holder that can't increment stops earlier. Any thread may use ``term``.
final class EventLease: Sendable {
    static let lifetimeMilliseconds: Int64 = 3_000
    static let patienceMilliseconds: Int64 = 6_000

    private struct State {
        var seen: (holder: [UInt8], beats: Int64, at: Int64)?
        var heldUntil: Int64 = 0
        var term = 0
    }

    private let id: UniqueID
    private let stopwatch: Stopwatch
    private let state = Guarded(State())

    init(_ id: UniqueID, clock: WallClock) {
        self.id = id
        stopwatch = clock.stopwatch()
    }

    private var now: Int64 { stopwatch.microseconds / 1000 }

    /// A number for each uninterrupted hold of the lease; `nil` while another instance delivers.
    var term: Int? { state.withLock { now < $0.heldUntil ? $0.term : nil } }

    /// Renews the lease, or takes it over once it has expired.
    func beat(_ connection: any DatabaseConnection) throws(StorageError) {
        let began = now
        guard let row = try Self.row(connection) else { return }
        let seen = state.withLock { $0.seen }
        let isOwn = row.holder == id.bytes
        let isSilent = seen.map { $0.holder == row.holder && $0.beats == row.beats } ?? false
        let isOver = row.holder.isEmpty || (isSilent && began - (seen?.at ?? began) >= Self.patienceMilliseconds)
        if !isSilent { state.withLock { $0.seen = (row.holder, row.beats, began) } }
        guard isOwn || isOver else { return state.withLock { $0.heldUntil = 0 } }
        let isTaken = try take(row, connection)
        state.withLock { state in
            guard isTaken else { return state.heldUntil = 0 }
            if began >= state.heldUntil { state.term += 1 }
            state.heldUntil = began + Self.lifetimeMilliseconds
        }
    }

    /// Lets another instance take over at once.
    func release(_ connection: any DatabaseConnection) throws(StorageError) {
        state.withLock { $0.heldUntil = 0 }
        try connection.run(
            SQL("UPDATE event_lease SET holder = ?, beats = beats + 1 WHERE holder = ?", .blob([]), .blob(id.bytes))
        )
    }

    /// Whether the database says that it is this instance, within a transaction that writes what only the holder may.
    func isHeld(_ connection: any DatabaseConnection) throws(StorageError) -> Bool {
        try Self.row(connection)?.holder == id.bytes
    }

    private func take(
        _ row: (holder: [UInt8], beats: Int64),
        _ connection: any DatabaseConnection
    ) throws(StorageError) -> Bool {
        try connection.run(
            SQL(
                "UPDATE event_lease SET holder = ?, beats = beats + 1 WHERE holder = ? AND beats = ?",
                .blob(id.bytes),
                .blob(row.holder),
                .integer(row.beats)
            )
        ) > 0
    }

    private static func row(
        _ connection: any DatabaseConnection
    ) throws(StorageError) -> (holder: [UInt8], beats: Int64)? {
        try connection.first(SQL("SELECT holder, beats FROM event_lease")) { ($0.blob(0), $0.integer(1)) }
    }
}
