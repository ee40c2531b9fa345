// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// Services that share a database know of each other, and a seal or a disabled key counts for all of them.
@Suite(.overBothEngines) struct InstanceTests {
    fileprivate static func instance(_ number: UInt64, policyName: String = "sha256:00") -> Instance {
        Instance(
            id: .version7(at: Timestamp(milliseconds: 1_782_907_200_000 + Int64(number)), number, number),
            name: "host-\(number):1",
            version: "1",
            policyName: policyName,
            keysDigest: "00"
        )
    }

    /// A ledger with two writers, each of an instance of its own, both listed.
    private struct Pair {
        let place: LogPlace
        let (one, other): (LedgerWriter, LedgerWriter)

        init() throws {
            place = try LogPlace()
            one = LedgerWriter(connection: try place.ledger.openPatiently(), instance: InstanceTests.instance(1).id)
            other = LedgerWriter(connection: try place.ledger.openPatiently(), instance: InstanceTests.instance(2).id)
            let table = InstanceTable(connection: try place.ledger.openPatiently())
            for number in 1...2 {
                try table.join(InstanceTests.instance(UInt64(number)))
                try table.acknowledge(of: InstanceTests.instance(UInt64(number)).id)
            }
        }

        func stops() throws -> SigningStops { try SealStore(connection: place.ledger.openForReading()).stops() }

        func names() throws -> [String] {
            try place.entries().map { String(decoding: $0, as: UTF8.self) }.map { entry in
                ["service.seal", "service.sealed", "key.disable", "key.disabled"].last { entry.contains("\"\($0)\"") }
                    ?? entry
            }
        }

        /// As a committer does at the beginning of a batch.
        func applyStops(_ writer: LedgerWriter) throws {
            try writer.begin(at: place.clock.now)
            if writer.stops.awaitsAcknowledgement { try writer.acknowledgeStops() }
            try writer.commit()
        }
    }

    @Test func `a seal by command is recorded as acknowledged once the last instance acknowledges it`() throws {
        let pair = try Pair()
        try DatabaseSeal(ledger: pair.place.ledger, clock: pair.place.clock.wallClock).seal(detail: "drill")
        #expect(try pair.stops().awaitsAcknowledgement)
        try pair.applyStops(pair.one)
        #expect(try pair.stops().awaitsAcknowledgement, "the other may still be signing")
        try pair.applyStops(pair.one)
        #expect(try pair.stops().awaitsAcknowledgement, "one instance that acknowledges twice counts once")
        try pair.applyStops(pair.other)
        #expect(try !pair.stops().awaitsAcknowledgement)
        #expect(try pair.names() == ["service.seal", "service.sealed"])
    }

    @Test func `a key that one instance disables waits for the other instance too`() throws {
        let pair = try Pair()
        let key = try KeyID("ACTIVE0001")
        try pair.one.begin(at: pair.place.clock.now)
        try pair.one.set(key, isDisabled: true, by: .command)
        try pair.one.commit()
        #expect(try pair.stops().keys == [key: false])
        try pair.applyStops(pair.other)
        #expect(try pair.stops().keys == [key: true])
        #expect(try pair.names() == ["key.disable", "key.disabled"])
    }

    @Test func `an instance that leaves is waited for no more`() throws {
        let pair = try Pair()
        try DatabaseSeal(ledger: pair.place.ledger, clock: pair.place.clock.wallClock).seal(detail: "drill")
        try pair.applyStops(pair.one)
        try pair.other.begin(at: pair.place.clock.now)
        try pair.other.leave(Self.instance(2).id)
        try pair.other.commit()
        #expect(try !pair.stops().awaitsAcknowledgement)
        #expect(
            try InstanceTable(connection: pair.place.ledger.openPatiently()).all().map(\.instance) == [Self.instance(1)]
        )
    }

    @Test func `a command that can't read the list of instances waits all the same`() async throws {
        // No server listens there.
        let location = try #require(DatabaseLocation("postgres://nobody@127.0.0.1:1/none"))
        let ledger = LedgerAccess(location: location, clock: SettableClock().wallClock)
        let wait = AcknowledgementWait(ledger: ledger, clock: .system, patienceSeconds: 0)
        #expect(await mayBlock { wait.outcome() } == .silent(seconds: 0))
    }

    @Test func `an instance alone acknowledges at once`() throws {
        let place = try LogPlace()
        let writer = LedgerWriter(connection: try place.ledger.openPatiently(), instance: Self.instance(1).id)
        try InstanceTable(connection: place.ledger.openPatiently()).join(Self.instance(1))
        try writer.begin(at: place.clock.now)
        try writer.set(try KeyID("ACTIVE0001"), isDisabled: true, by: .command)
        try writer.commit()
        #expect(try !SealStore(connection: place.ledger.openForReading()).stops().awaitsAcknowledgement)
    }

    // MARK: - Who lives

    private static func rounds(_ place: LogPlace) -> (MembershipRound, MembershipRound) {
        let clock = place.clock.wallClock
        return (
            MembershipRound(open: place.ledger.open, clock: clock),
            MembershipRound(open: place.ledger.open, clock: clock)
        )
    }

    @Test func `an instance that is silent for three seconds is removed, and notices when it is back`() throws {
        let place = try LogPlace()
        let (one, other) = Self.rounds(place)
        let (first, second) = (Self.instance(1), Self.instance(2))
        try one.join(first)
        try other.join(second)
        for _ in 0..<8 {
            place.clock.advance(milliseconds: 500)
            #expect(try one.look(as: first).others == [second])
            #expect(try other.look(as: second).others == [first])
        }
        #expect(try one.look(as: first).others == [second], "heard of just now")
        place.clock.advance(milliseconds: 2_999)
        #expect(try one.look(as: first).others == [second], "not yet")
        place.clock.advance(milliseconds: 1)
        let seen = try one.look(as: first)
        #expect(seen.others.isEmpty && seen.hasRemoved && !one.mustAcknowledge)
        #expect(try !one.look(as: first).hasRemoved, "only once")
        for _ in 1...2 {
            _ = try other.look(as: second)
            #expect(other.mustAcknowledge, "also when it has joined again, until it has")
        }
        other.hasAcknowledged()
        _ = try other.look(as: second)
        #expect(!other.mustAcknowledge)
        #expect(try one.look(as: first).others == [second])
    }

    @Test func `an instance that beats while it is being removed stays listed`() throws {
        let place = try LogPlace()
        let table = InstanceTable(connection: try place.ledger.openPatiently())
        try table.join(Self.instance(1))
        let row = try #require(try table.all().first)
        #expect(try table.beat(Self.instance(1).id))
        try table.remove(row)
        #expect(try table.all().count == 1)
        #expect(try !table.beat(Self.instance(2).id), "an unlisted instance gets false")
    }

    @Test func `tells what the others decide by as soon as that changes`() throws {
        let place = try LogPlace()
        let (one, other) = Self.rounds(place)
        try one.join(Self.instance(1))
        try other.join(Self.instance(2))
        let changed = Self.instance(2, policyName: "sha256:01")
        _ = try other.look(as: changed)
        #expect(try one.look(as: Self.instance(1)).others == [changed])
    }

    @Test func `counts reloads for every instance`() throws {
        let place = try LogPlace()
        let writer = try place.writer()
        let (one, _) = Self.rounds(place)
        try one.join(Self.instance(1))
        #expect(try one.look(as: Self.instance(1)).reloads == 0)
        try writer.begin(at: place.clock.now)
        #expect(try writer.requestReload() == 1)
        try writer.commit()
        #expect(try one.look(as: Self.instance(1)).reloads == 1)
    }

    // MARK: - The lease

    @Test func `uses no key once others may take it for gone`() throws {
        let clock = SettableClock()
        let lease = Lease(clock: clock.wallClock)
        let keyUseGuard = KeyUseGuard(lease: lease)
        let key = try KeyID("ACTIVE0001")
        func use() -> Bool {
            if case .success = keyUseGuard.use(key, { true }) { true } else { false }
        }
        #expect(keyUseGuard.stop(of: key) == .cutOff && !use(), "not before it has joined")
        lease.renew(from: lease.now)
        #expect(keyUseGuard.stop(of: key) == nil && use())
        clock.advance(milliseconds: Lease.lifetimeMilliseconds - 1)
        #expect(keyUseGuard.stop(of: nil) == nil && use())
        clock.advance(milliseconds: 1)
        #expect(keyUseGuard.stop(of: nil) == .cutOff && !use())
        lease.renew(from: lease.now)
        #expect(use())
        lease.end()
        #expect(!use())
        #expect(Lease.lifetimeMilliseconds + 500 < InstanceTable.patienceMilliseconds)
    }
}
