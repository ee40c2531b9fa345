// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import OfferService

/// A real connection; what it reads first is out of date once it has been handed out.
private final class BeatingConnection: DatabaseConnection {
    private let real: any DatabaseConnection
    private var afterFirstRows: (() -> Void)?

    init(_ real: any DatabaseConnection, afterFirstRows: @escaping () -> Void) {
        (self.real, self.afterFirstRows) = (real, afterFirstRows)
    }

    func run(_ sql: SQL) throws(StorageError) -> Int { try real.run(sql) }
    func enqueue(_ sql: SQL) throws(StorageError) { try real.enqueue(sql) }

    func rows(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(StorageError) {
        try real.rows(sql, each)
        let body = afterFirstRows
        afterFirstRows = nil
        body?()
    }

    func begin() throws(StorageError) { try real.begin() }
    func commit() throws(StorageError) { try real.commit() }
    var isRemote: Bool { real.isRemote }
    func stampOfOthers() throws(StorageError) -> Int64? { try real.stampOfOthers() }
    func rollback() { real.rollback() }
}

/// Which of several instances delivers events.
@Suite(.overBothEngines) struct EventLeaseTests {
    /// Two instances at one database.
    private struct Pair {
        let place: LogPlace
        let (one, other): (EventLease, EventLease)
        let connection: any DatabaseConnection

        init() throws {
            place = try LogPlace()
            one = EventLease(.version7(at: place.clock.now, 1, 1), clock: place.clock.wallClock)
            other = EventLease(.version7(at: place.clock.now, 2, 2), clock: place.clock.wallClock)
            connection = try place.ledger.openPatiently()
        }

        /// Moves the clock, and has those instances beat.
        func pass(milliseconds: Int64, _ leases: EventLease...) throws {
            place.clock.advance(milliseconds: milliseconds)
            for lease in leases { try lease.beat(connection) }
        }
    }

    @Test func `the first delivers for as long as it beats, and no other meanwhile`() throws {
        let pair = try Pair()
        #expect(pair.one.term == nil && pair.other.term == nil)
        try pair.pass(milliseconds: 0, pair.one, pair.other)
        for _ in 0..<20 {
            #expect(pair.one.term == 1 && pair.other.term == nil)
            #expect(try pair.one.isHeld(pair.connection) && !pair.other.isHeld(pair.connection))
            try pair.pass(milliseconds: 1000, pair.one, pair.other)
        }
    }

    @Test func `one that falls silent stops by itself before another takes over`() throws {
        let pair = try Pair()
        try pair.pass(milliseconds: 0, pair.one, pair.other)
        try pair.pass(milliseconds: EventLease.lifetimeMilliseconds - 1, pair.other)
        #expect(pair.one.term == 1 && pair.other.term == nil)
        try pair.pass(milliseconds: 1, pair.other)
        #expect(pair.one.term == nil && pair.other.term == nil)
        try pair.pass(milliseconds: EventLease.patienceMilliseconds - EventLease.lifetimeMilliseconds - 1, pair.other)
        #expect(pair.other.term == nil)
        try pair.pass(milliseconds: 1, pair.other)
        #expect(pair.other.term == 1 && pair.one.term == nil)
        #expect(try pair.other.isHeld(pair.connection) && !pair.one.isHeld(pair.connection))
        // One that comes back finds out.
        try pair.one.beat(pair.connection)
        #expect(pair.one.term == nil && pair.other.term == 1)
    }

    @Test func `an instance that was silent and was not replaced delivers under another term`() throws {
        let pair = try Pair()
        try pair.pass(milliseconds: 0, pair.one)
        try pair.pass(milliseconds: EventLease.lifetimeMilliseconds, pair.one)
        #expect(pair.one.term == 2, "what it had in memory may be old")
    }

    @Test func `one that ends in order is followed at once`() throws {
        let pair = try Pair()
        try pair.pass(milliseconds: 0, pair.one, pair.other)
        try pair.one.release(pair.connection)
        #expect(pair.one.term == nil)
        try pair.other.beat(pair.connection)
        #expect(pair.other.term == 1)
        try pair.one.release(pair.connection)
        #expect(try pair.other.isHeld(pair.connection), "it takes nothing from its successor")
    }

    @Test func `an instance does not take a lease that its holder has just renewed`() throws {
        let pair = try Pair()
        try pair.pass(milliseconds: 0, pair.one, pair.other)
        // The holder beats between the reading and the taking of another one that has waited for long enough.
        pair.place.clock.advance(milliseconds: EventLease.patienceMilliseconds)
        let late = BeatingConnection(pair.connection) { [one = pair.one, connection = pair.connection] in
            do throws(StorageError) { try one.beat(connection) } catch { Issue.record("\(error)") }
        }
        try pair.other.beat(late)
        #expect(pair.other.term == nil && pair.one.term == 2)
    }
}
