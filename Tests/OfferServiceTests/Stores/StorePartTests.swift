// SPDX-License-Identifier: Apache-2.0
import HTTP
import ServiceRuntime
import Testing

@testable import Configuration
@testable import OfferService
@testable import Stores

@Suite("Breaker, budget, retries, memory")
struct StorePartTests {
    private typealias Permit = CircuitBreaker.Permit

    private func permit(_ breaker: inout CircuitBreaker, at now: Int64) throws -> Permit {
        guard case .admitted(let permit) = breaker.admit(at: now) else {
            throw Refused()
        }
        return permit
    }

    private struct Refused: Error {}

    @Test
    func `a breaker opens after failures in a row only`() throws {
        var breaker = CircuitBreaker()
        for _ in 0..<20 {
            for _ in 0..<4 { try breaker.settle(permit(&breaker, at: 0), .failed, at: 0) }
            try breaker.settle(permit(&breaker, at: 0), .succeeded, at: 0)
        }
        #expect(breaker.state(at: 0) == .closed)
        for _ in 0..<5 { try breaker.settle(permit(&breaker, at: 0), .failed, at: 0) }
        #expect(breaker.admit(at: 1999) == .refused(until: 2000))
        #expect(breaker.state(at: 1999) == .open && breaker.state(at: 2000) == .halfOpen)
    }

    @Test
    func `an open breaker lets one through at a time, and another if that one was abandoned`() throws {
        var breaker = CircuitBreaker()
        for _ in 0..<5 { try breaker.settle(permit(&breaker, at: 0), .failed, at: 0) }
        let probe = try permit(&breaker, at: 2000)
        #expect(throws: Refused.self) { try permit(&breaker, at: 2000) }
        #expect(breaker.settle(probe, .abandoned, at: 2000) == nil)
        let second = try permit(&breaker, at: 2000)
        #expect(breaker.settle(second, .succeeded, at: 2001) == .closed)
        _ = try permit(&breaker, at: 2001)
    }

    @Test
    func `a breaker waits twice as long after each failed try, up to a minute`() throws {
        var breaker = CircuitBreaker()
        for _ in 0..<5 { try breaker.settle(permit(&breaker, at: 0), .failed, at: 0) }
        var now: Int64 = 2000
        for wait: Int64 in [4000, 8000, 16_000, 32_000, 60_000, 60_000] {
            try breaker.settle(permit(&breaker, at: now), .failed, at: now)
            #expect(breaker.admit(at: now) == .refused(until: now + wait))
            now += wait
        }
    }

    @Test
    func `a breaker does not count what was let through before it changed`() throws {
        var breaker = CircuitBreaker()
        let old = try (0..<12).map { _ in try permit(&breaker, at: 0) }
        for permit in old.prefix(5) { breaker.settle(permit, .failed, at: 0) }
        let probe = try permit(&breaker, at: 2000)
        for permit in old.dropFirst(5).prefix(2) { #expect(breaker.settle(permit, .succeeded, at: 2000) == nil) }
        #expect(breaker.settle(probe, .succeeded, at: 2000) == .closed)
        for permit in old.dropFirst(7) { #expect(breaker.settle(permit, .failed, at: 2000) == nil) }
        #expect(breaker.state(at: 2000) == .closed)
    }

    @Test
    func `a breaker bounds what is under way`() throws {
        var breaker = CircuitBreaker(.init(concurrent: 2))
        let first = try permit(&breaker, at: 0)
        _ = try permit(&breaker, at: 0)
        #expect(breaker.admit(at: 0) == .tooManyAtOnce)
        breaker.settle(first, .abandoned, at: 0)
        _ = try permit(&breaker, at: 0)
    }

    @Test(arguments: [10, 360, 3600, 180_000])
    func `no hour sees more than its limit, wherever it begins`(perHour: Int) {
        var budget = FairBudget<String>(.perHour(perHour), at: 0)
        var granted: [Int64] = []
        // Idle for two hours, then as many as it grants.
        let step = Int64(max(5, 360_000 / perHour / 4))
        for now in stride(from: Int64(7_200_000), to: 7_200_000 + 5_400_000, by: Int64.Stride(step)) {
            var tries = 0
            while tries < perHour, case .granted = budget.take(for: "one", at: now) {
                granted.append(now)
                tries += 1
            }
        }
        var start = 0
        for end in granted.indices {
            while granted[end] - granted[start] >= 3_600_000 { start += 1 }
            #expect(end - start + 1 <= perHour)
        }
        #expect(granted.count >= perHour)
    }

    @Test
    func `no minute sees more than its limit, and what is left over comes back within it`() {
        var budget = FairBudget<String>(.perMinute(3000), at: 0)
        var granted: [Int64] = []
        for now in stride(from: Int64(600_000), to: 800_000, by: 5) {
            while case .granted = budget.take(for: "one", at: now) { granted.append(now) }
        }
        var start = 0
        for end in granted.indices {
            while granted[end] - granted[start] >= 60_000 { start += 1 }
            #expect(end - start + 1 <= 3000)
        }
        #expect(granted.count > 9000)
    }

    @Test func `one device has so much of a minute's questions, and its neighbors have theirs`() {
        var budget = FairBudget<String>(.perHour(3600), at: 0)
        func granted(_ member: String, of group: String? = nil, at now: Int64) -> Int {
            (0..<400).count { _ in budget.take(for: member, of: group, at: now) == .granted }
        }
        #expect(granted("flood", of: "app", at: 0) == 4, "a minute has 54, and a twentieth of it is less than 4")
        #expect(granted("neighbor", of: "app", at: 0) == 4)
        #expect(granted("flood", of: "app", at: 59_000) == 0)
        #expect(granted("flood", of: "app", at: 60_000) == 4)
        #expect(granted("backend", at: 60_000) > 100, "who needs no group has what is left")
    }

    @Test func `one IPv6 subscriber asks the stores as one device, from however many networks`() throws {
        let caller = try #require(CallerID("app"))
        let parties = try ["2001:db8::1", "2001:db8:0:1::1", "2001:db8:0:ffff::1", "2001:db8:1::1"].map { text in
            Party.device(Device(caller: caller, address: try #require(PeerAddress(text, port: 1)).group))
        }
        #expect(Set(parties).count == 4 && Set(parties.map(\.subscriber)).count == 2)
        #expect(parties[0].subscriber == parties[2].subscriber && Party.service.subscriber == .service)
    }

    @Test
    func `a held budget waits until the latest time given`() {
        var budget = FairBudget<String>(.perHour(3600), at: 0)
        budget.hold(until: 5000)
        budget.hold(until: 3000)
        #expect(budget.held(at: 4999) == 5000)
        #expect(budget.held(at: 5000) == nil)
    }

    @Test
    func `pauses lie anywhere between nothing and a bound that doubles`() {
        let policy = RetryPolicy(firstPauseMilliseconds: 100, longestPauseMilliseconds: 350)
        let random = ScriptedRandom()
        for (attempt, longest) in [(1, 100), (2, 200), (3, 350), (4, 350), (100, 350)] as [(Int, Int64)] {
            let pauses = (0..<500).map { _ in policy.pauseMilliseconds(after: attempt, random) }
            #expect(pauses.allSatisfy { (0...longest).contains($0) })
            #expect(pauses.contains { $0 < longest / 5 } && pauses.contains { $0 > longest * 4 / 5 })
        }
    }

    @Test
    func `memory keeps what is in use and stays within its bound`() {
        var values = RecentValues<Int, Int>(capacity: 100)
        for number in 0..<10_000 {
            values[number] = number
            #expect(values[0] == 0)
            #expect(values.count <= 100)
        }
        #expect(values[9_999] == 9_999 && values[5_000] == nil)
        values[0] = nil
        #expect(values[0] == nil)
    }
}
