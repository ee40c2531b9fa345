// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferService
import TestSupport
import Testing

@testable import Ledger
@testable import Stores

/// What people who are not Apple can cost us, and others, by sending what looks like notifications.
struct UnauthenticatedTrafficTests {
    @Test(arguments: Wire.allCases)
    func `Apple is heard while forgeries arrive, right after a start and later`(wire: Wire) async throws {
        try await withStoreService(wire) { world in
            let forged = Call.notification(try world.store.signNotification(.init("TEST", fault: .otherRoot)).body)
            for round in 1...3 {
                let genuine = Call.notification(try world.store.signNotification(.init("TEST")).body)
                let calls = Array(repeating: forged, count: 20) + [genuine] + Array(repeating: forged, count: 20)
                let replies = try await world.service.send(calls)
                #expect(replies[20].status == 200, "round \(round): \(replies[20])")
                #expect(replies.count { $0.status == 400 && $0.problem == "invalid-signed-data" } == 40)
            }
            #expect(try world.service.entries("store.notification").count == 3)
        }
    }

    @Test func `a flood from one address does not block other addresses`() async throws {
        try await withStoreService { world in
            let forged = Call.notification(try world.store.signNotification(.init("TEST", fault: .otherRoot)).body)
            let genuine = Call.notification(try world.store.signNotification(.init("TEST")).body)
            let flood = Array(repeating: forged.from("192.0.2.1"), count: 200)
            let replies = try await world.service.send(flood + [genuine.from("192.0.2.2")])
            #expect(replies[200].status == 200, "\(replies[200])")
            let notExamined = replies.count { $0.status == 503 && $0.problem == "overloaded" }
            #expect(notExamined > 0, "no more than 64 wait for one address")
            #expect(world.service.metrics[.notificationsRefused(reason: "not-examined")] == notExamined)
            // Under certificates that are known by now nothing waits.
            try await world.deliver(.init("TEST"))
        }
    }

    @Test func `a flood that is not looked at is one line of the log a minute`() async throws {
        try await withStoreService { world in
            let forged = Call.notification(try world.store.signNotification(.init("TEST", fault: .otherRoot)).body)
            for minute in 1...3 {
                let replies = try await world.service.send(Array(repeating: forged, count: 200))
                #expect(replies.contains { $0.status == 503 })
                #expect(world.service.log.warnedAnswers == minute)
                world.service.clock.advance(seconds: 60)
            }
            let refused = world.service.metrics[.requests(route: .stores(.appStoreNotification), status: 503)]
            let traffic = try #require(world.service.traffic.take(until: world.service.clock.now))
            let overloaded = UnauthenticatedTraffic(route: .stores(.appStoreNotification), problem: "overloaded")
            #expect(traffic.counts[overloaded] == refused)
        }
    }

    /// One place after the other in what is read: each of these has certificates decoded before it is refused.
    @Test(arguments: [
        #"["MAA=","MAA=","MAA="]"#, #"["MAA=","%","MAA="]"#, #"["MAA=","MAA=","%"]"#, #"["MAA=","MAA=",7]"#, "7",
    ])
    func `unreadable certificates do not affect genuine notifications`(certificates: String) async throws {
        try await withStoreService { world in
            let header = #"{"alg":"ES256","x5c":\#(certificates)}"#
            let parts = [Array(header.utf8), Array("{}".utf8), [UInt8](repeating: 1, count: 64)].map {
                String(decoding: Base64.encodeURL($0), as: UTF8.self)
            }
            let call = Call.notification(#"{"signedPayload": "\#(parts.joined(separator: "."))"}"#)
            let genuine = Call.notification(try world.store.signNotification(.init("TEST")).body)
            let replies = try await world.service.send(Array(repeating: call, count: 40) + [genuine])
            #expect(replies[40].status == 200, "\(replies[40])")
            #expect(replies.count { $0.status == 400 && $0.problem == "invalid-signed-data" } == 40)
        }
    }
}
