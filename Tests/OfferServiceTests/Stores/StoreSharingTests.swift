// SPDX-License-Identifier: Apache-2.0
import HTTP
import OfferDomain
import OfferService
import Synchronization
import Testing

@testable import Ledger
@testable import Stores

@Suite("App Store Server API: sharing", .timeLimit(.minutes(1)))
struct StoreSharingTests {
    let id: TransactionID
    let asking: AppStoreAsking

    init() throws {
        id = try TransactionID("1")
        asking = try .by()
    }

    @Test
    func `asks once what many ask at once, and again what is asked later`() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _, _ in
            await gate.pass()
            return .statuses()
        }
        let store = TestStore(transport)
        try await withThrowingTaskGroup(of: Answered<SubscriptionStatuses>.self) { group in
            for _ in 0..<10 { group.addTask { try await store.api.subscriptionStatuses(of: id, asking) } }
            let joined = StoreMetric.storeJoined(store: "app-store", endpoint: "subscription-statuses")
            try await #require(eventually { store.metrics[joined] == 9 })
            gate.open()
            for try await answered in group { #expect(answered.answer.groups.count == 2) }
        }
        #expect(transport.requests.count == 1)
        _ = try await store.api.subscriptionStatuses(of: id, asking)
        #expect(transport.requests.count == 2)
    }

    @Test
    func `asks apart what differs in the transaction, the filter or the environment`() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _, _ in
            await gate.pass()
            return .page("", revision: "r", hasMore: false)
        }
        let store = TestStore(transport)
        let inProduction = try AppStoreAsking.by(in: .production)
        let other = try TransactionID("2")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await store.api.transactionHistory(of: id, asking) }
            group.addTask { _ = try await store.api.transactionHistory(of: other, asking) }
            group.addTask { _ = try await store.api.transactionHistory(of: id, asking, .subscriptions) }
            group.addTask { _ = try await store.api.transactionHistory(of: id, inProduction) }
            try await #require(eventually { transport.requests.count == 4 })
            gate.open()
            try await group.waitForAll()
        }
    }

    @Test
    func `lets one who no longer waits go, and asks on for the others`() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _, _ in
            await gate.pass()
            return Task.isCancelled ? .failure(.cancelled) : .statuses()
        }
        let store = TestStore(transport)
        let first = Task { await failure { try await store.api.subscriptionStatuses(of: id, asking) } }
        try await #require(eventually { transport.requests.count == 1 })
        let second = Task { await failure { try await store.api.subscriptionStatuses(of: id, asking) } }
        let joined = StoreMetric.storeJoined(store: "app-store", endpoint: "subscription-statuses")
        try await #require(eventually { store.metrics[joined] == 1 })
        first.cancel()
        #expect(await first.value == .cancelled)
        gate.open()
        #expect(await second.value == nil)
        #expect(transport.requests.count == 1)
    }

    @Test
    func `stops asking when no caller waits any longer`() async throws {
        let cancelled = Flag(false)
        let transport = ScriptedTransport { _, index in
            guard index == 0 else { return .statuses() }
            while !Task.isCancelled { await Task.yield() }
            cancelled.set(true)
            return .failure(.cancelled)
        }
        let store = TestStore(transport)
        let tasks = (0..<3).map { _ in
            Task { await failure { try await store.api.subscriptionStatuses(of: id, asking) } }
        }
        try await #require(eventually { transport.requests.count == 1 })
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.value == .cancelled) }
        try await #require(eventually { cancelled.isOn })
        _ = try await store.api.subscriptionStatuses(of: id, asking)
        #expect(transport.requests.count == 2)
    }

    @Test
    func `keeps within a share of Apple's hourly limits, a tenth in the sandbox`() async throws {
        let transport = ScriptedTransport(.json(#"{"testNotificationToken":"t"}"#))
        let store = TestStore(transport, budgetShare: 0.5)
        for environment in StoreEnvironment.allCases {
            let start = transport.requests.count
            let hourEnd = store.clock.now.adding(hours: 1)
            var isSpent = false
            while store.clock.now < hourEnd {
                let error = await failure { try await store.api.requestTestNotification(in: environment, asking) }
                if case .budgetSpent(let time) = error {
                    isSpent = true
                    #expect(time > store.clock.now)
                } else {
                    #expect(error == nil)
                }
                store.clock.advance(milliseconds: 500)
            }
            #expect(isSpent)
            let limit = environment == .sandbox ? 180 : 1800
            #expect(((limit * 9 / 10)...limit).contains(transport.requests.count - start))
        }
    }

    @Test
    func `leaves something for who comes later`() async throws {
        let transport = ScriptedTransport(.json(#"{"testNotificationToken":"t"}"#))
        let store = TestStore(transport)
        let greedy = try AppStoreAsking.by("greedy")
        let modest = try AppStoreAsking.by("modest")
        var granted = ["greedy": 0, "modest": 0]
        for second in 0..<3600 {
            for _ in 0..<3
            where await failure({ try await store.api.requestTestNotification(in: .production, greedy) }) == nil {
                granted["greedy", default: 0] += 1
            }
            if second >= 1800, second.isMultiple(of: 10) {
                let error = await failure { try await store.api.requestTestNotification(in: .production, modest) }
                #expect(error == nil)
                granted["modest", default: 0] += 1
            }
            store.clock.advance(seconds: 1)
        }
        #expect(granted["modest"] == 180)
        #expect(granted["greedy", default: 0] > 2000 && granted["greedy", default: 0] <= 3240)
    }
}

/// A gate that tasks wait at until it is opened.
final class Gate: Sendable {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// On or off.
final class Flag: Sendable {
    private let state: Mutex<Bool>

    init(_ isOn: Bool) { state = Mutex(isOn) }

    var isOn: Bool { state.withLock { $0 } }

    func set(_ isOn: Bool) { state.withLock { $0 = isOn } }
}
