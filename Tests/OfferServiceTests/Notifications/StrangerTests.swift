// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferService
import TestSupport
import Testing

/// What people who are not Apple can cost us by sending what looks like notifications.
struct StrangerTests {
    @Test func `an allowance lets a burst through, then so many a second, and never saves up more than a burst`() {
        let clock = SettableClock()
        let allowance = StrangerAllowance(clock: clock.wallClock, burst: 3, perSecond: 2)
        func taken() -> Int { (0..<10).count { _ in allowance.take() } }
        #expect(taken() == 3)
        clock.advance(milliseconds: 499)
        #expect(taken() == 0)
        clock.advance(milliseconds: 1)
        #expect(taken() == 1)
        clock.advance(days: 1)
        #expect(taken() == 3)
        allowance.giveBack()
        #expect(taken() == 1)
        for _ in 0..<9 { allowance.giveBack() }
        #expect(taken() == 3)
    }

    @Test(arguments: Wire.allCases)
    func `a flood under certificates that nobody knows is not looked at, and Apple is heard all the same`(
        wire: Wire
    ) async throws {
        try await withStoreService(wire) { world in
            // Apple's certificates are known from here on.
            try await world.deliver(.init("TEST"))
            let forged = Call.notification(try world.store.signNotification(.init("TEST", fault: .otherRoot)).body)
            let replies = try await world.service.send(Array(repeating: forged, count: 60))
            #expect(replies.count { $0.status == 400 && $0.problem == "invalid-signed-data" } == 50)
            #expect(replies.count { $0.status == 503 && $0.problem == "overloaded" } == 10)
            #expect(world.service.metrics[.notificationsRefused(reason: "not-examined")] == 10)
            try await world.deliver(.init("TEST"))

            // What is wrong under known certificates costs little, and uses nothing up.
            let spoilt = Call.notification(
                try world.store.signNotification(.init("TEST", fault: .otherBundle)).body
            )
            #expect(try await world.service.send(spoilt).status == 400)
            world.service.clock.advance(seconds: 1)
            let later = try await world.service.send(Array(repeating: forged, count: 12))
            #expect(later.count { $0.status == 400 } == 10)
            #expect(try world.service.entries("store.notification").count == 2)
        }
    }

    @Test func `a flood that is not looked at is one line of the log a minute`() async throws {
        try await withStoreService { world in
            let forged = Call.notification(try world.store.signNotification(.init("TEST", fault: .otherRoot)).body)
            for minute in 1...3 {
                let replies = try await world.service.send(Array(repeating: forged, count: 200))
                #expect(replies.count { $0.status == 503 } >= 150)
                #expect(world.service.log.warnedAnswers == minute)
                world.service.clock.advance(seconds: 60)
            }
            let refused = world.service.metrics[.requests(route: .appStoreNotification, status: 503)]
            let noise = try #require(world.service.noise.take(until: world.service.clock.now))
            #expect(noise.counts[Noise(route: .appStoreNotification, problem: "overloaded")] == refused)
        }
    }

    @Test func `what is not even in form uses nothing of the allowance up`() async throws {
        try await withStoreService { world in
            let genuine = try world.store.signNotification(.init("TEST"))
            let segments = genuine.jws.split(separator: ".").map(String.init)
            let bodies =
                ["a", "a.b.c", "\(segments[1]).\(segments[1]).\(segments[2])", genuine.jws + "="]
                .map { #"{"signedPayload": "\#($0)"}"# }
            for _ in 0..<20 {
                let replies = try await world.service.send(bodies.map { Call.notification($0) })
                #expect(replies.allSatisfy { $0.status == 400 && $0.problem == "invalid-signed-data" }, "\(replies)")
            }
            #expect(world.service.metrics[.notificationsRefused(reason: "not-examined")] == 0)
            try await world.deliver(.init("TEST"))
        }
    }

    @Test func `certificates use the allowance up, though they can't even be read`() async throws {
        try await withStoreService { world in
            let header = #"{"alg":"ES256","x5c":["MAA=","MAA=","MAA="]}"#
            let parts = [Array(header.utf8), Array("{}".utf8), [UInt8](repeating: 1, count: 64)].map {
                String(decoding: Base64.encodeURL($0), as: UTF8.self)
            }
            let call = Call.notification(#"{"signedPayload": "\#(parts.joined(separator: "."))"}"#)
            let replies = try await world.service.send(Array(repeating: call, count: 60))
            #expect(replies.count { $0.status == 400 && $0.problem == "invalid-signed-data" } == 50)
            #expect(replies.count { $0.status == 503 && $0.problem == "overloaded" } == 10)
        }
    }

    @Test func `Apple's certificates are no stranger's, however long ago they were verified`() async throws {
        try await withStoreService { world in
            try await world.deliver(.init("TEST"))
            world.service.clock.advance(hours: 1)
            let forged = Call.notification(try world.store.signNotification(.init("TEST", fault: .otherRoot)).body)
            let replies = try await world.service.send(Array(repeating: forged, count: 60))
            #expect(replies.contains { $0.status == 503 && $0.problem == "overloaded" })
            try await world.deliver(.init("TEST"))
        }
    }

    @Test func `what is genuine uses nothing of the allowance up, though its certificates are never remembered`()
        async throws
    {
        try await withStoreService { world in
            let anchors = try TrustAnchors(pem: Array(textOfFile(world.store.rootPEMPath).utf8))
            let receiver = NotificationReceiver(
                store: AppStore(
                    authenticator: SignedDataVerifier(anchors: anchors, cacheCapacity: 0),
                    api: TestStore(ScriptedTransport(.unknownTransaction)).api
                ),
                committer: world.service.committer,
                allowance: StrangerAllowance(clock: world.service.clock.wallClock, burst: 2),
                metrics: Metrics(),
                log: Log(level: .error, clock: world.service.clock.wallClock)
            )
            func receive(_ fault: FakeAppStore.Fault? = nil) async throws {
                let jws = try world.store.signNotification(.init("TEST", fault: fault)).jws
                let snapshot = world.service.current.value
                _ = try await receiver.receive(Array(jws.utf8), under: snapshot, at: world.service.clock.now)
            }
            for _ in 0..<5 { try await receive() }
            // Nor does what Apple signed for somebody else.
            for _ in 0..<5 {
                await #expect(throws: NotificationRefusal.self) { try await receive(.otherBundle) }
            }
            try await receive()
        }
    }
}
