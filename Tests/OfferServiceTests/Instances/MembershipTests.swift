// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// Services that share a database, each with its committer and the thread that keeps it among the others.
@Suite(.overBothEngines) struct MembershipTests {
    /// One of them, without keys and callers.
    private struct Member {
        let instance: Instance
        let keyUseGuard: KeyUseGuard
        let committer: Committer
        let membership: Membership
        let reloads = Recorder()

        init(_ number: UInt64, in place: LogPlace, reloads known: Int64? = nil) throws {
            let clock = place.clock.wallClock
            let lease = Lease(clock: clock)
            instance = Instance(
                id: .version7(at: place.clock.now, number, number),
                name: "host-\(number):1",
                version: "1",
                policyName: "sha256:00",
                keysDigest: "00"
            )
            keyUseGuard = KeyUseGuard(lease: lease)
            committer = Committer(
                clock: clock,
                observer: Metrics(),
                keyUseGuard: keyUseGuard,
                options: CommitterOptions(acknowledges: true, instance: instance.id),
                open: place.ledger.open
            )
            committer.start(on: try place.ledger.openPatiently())
            membership = Membership(
                Membership.Member(instance, lease: lease),
                committer: committer,
                ledger: place.ledger,
                log: Log(level: .error, clock: clock),
                reloads: Membership.Reloads(after: known) { [reloads] in reloads.add() }
            )
            try membership.start()
        }

        func stop() {
            membership.stop()
            committer.stop()
        }
    }

    /// `hasLeft`: the body has let the first one leave.
    private func withTwo(hasLeft: Bool = false, _ body: (Member, Member, LogPlace) async throws -> Void) async throws {
        let place = try LogPlace()
        let one = try Member(1, in: place)
        let other = try Member(2, in: place)
        try await body(one, other, place)
        await mayBlock {
            if hasLeft { one.committer.stop() } else { one.stop() }
            other.stop()
        }
    }

    @Test func `makes the other instances reload their files, but not itself`() async throws {
        try await withTwo { one, other, _ async throws in
            // Each must have looked once, to know what was asked for before.
            #expect(try await eventually { one.membership.gauges.contains { $0.samples.first?.value == 2 } })
            #expect(try await eventually { other.membership.gauges.contains { $0.samples.first?.value == 2 } })
            one.membership.requestReloadOfOthers()
            #expect(try await eventually { other.reloads.count == 1 })
            other.membership.requestReloadOfOthers()
            #expect(try await eventually { one.reloads.count == 1 })
            #expect(other.reloads.count == 1)
        }
    }

    @Test func `follows what was asked for after it had read its files, though it was not among them yet`() async throws
    {
        let place = try LogPlace()
        let one = try Member(1, in: place)
        let connection = try place.ledger.openPatiently()
        let table = InstanceTable(connection: connection)
        let read = try table.reloads()
        try table.requestReload()
        let late = try Member(2, in: place, reloads: read)
        #expect(try await eventually { late.reloads.count == 1 })
        let later = try Member(3, in: place, reloads: try table.reloads())
        #expect(try await eventually { later.membership.gauges.contains { $0.samples.first?.value == 3 } })
        #expect(later.reloads.count == 0 && late.reloads.count == 1)
        await mayBlock { for member in [one, late, later] { member.stop() } }
    }

    @Test(arguments: [("sha256:01", "00"), ("sha256:00", "01")])
    func `warns while other offers or keys are in force elsewhere`(policyName: String, keysDigest: String) async throws
    {
        try await withTwo { one, other, _ async throws in
            #expect(try await eventually { one.membership.gauges.contains { $0.samples.first?.value == 2 } })
            #expect(one.membership.warnings.isEmpty)
            other.membership.note(policyName: policyName, keysDigest: keysDigest)
            #expect(try await eventually { one.membership.warnings.map(\.name) == ["instances-differ"] })
            #expect(one.membership.warnings.first?.detail.contains("host-2:1") == true)
            one.membership.note(policyName: policyName, keysDigest: keysDigest)
            #expect(try await eventually { one.membership.warnings.isEmpty })
        }
    }

    @Test func `uses no key after it has left, and is waited for no more`() async throws {
        try await withTwo(hasLeft: true) { one, other, place async throws in
            #expect(one.keyUseGuard.stop(of: nil) == nil && other.keyUseGuard.stop(of: nil) == nil)
            await mayBlock { one.membership.stop() }
            #expect(one.keyUseGuard.stop(of: nil) == .cutOff)
            let left = try InstanceTable(connection: place.ledger.openForReading()).all().map(\.instance)
            #expect(left == [other.instance])
            #expect(other.keyUseGuard.stop(of: nil) == nil)
        }
    }

    @Test func `a removed instance joins again and acknowledges what is sealed`() async throws {
        try await withTwo { one, other, place async throws in
            try DatabaseSeal(ledger: place.ledger, clock: place.clock.wallClock).seal(detail: "drill")
            #expect(
                one.keyUseGuard.stop(of: nil) == nil && other.keyUseGuard.stop(of: nil) == nil,
                "no instance has looked yet"
            )
            let table = InstanceTable(connection: try place.ledger.openPatiently())
            try table.remove(one.instance.id)
            #expect(try await eventually { one.keyUseGuard.stop(of: nil) != nil })
            #expect(try await eventually { try table.all().count == 2 })
        }
    }
}
