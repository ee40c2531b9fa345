// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import OfferDomain
import TestSupport
import Testing

@testable import Configuration
@testable import OfferService

/// What one endpoint is sent, in which order, and what becomes of what it does not take.
struct DeliveryQueueTests {
    private static let start = Timestamp(milliseconds: 1_780_000_000_000)

    /// An event of that entry, of one subscription.
    private static func delivery(_ index: Int64, of subscription: String) -> Delivery {
        var details = EventDetails()
        details.subscription = subscription
        return Delivery(
            ServiceEvent(
                type: .offerRedeemed,
                position: EventPosition(index: index),
                recordedAt: start,
                entryHash: "0",
                details: details
            )
        )
    }

    /// A queue with an event for each letter, in the order of the log; one letter is one customer.
    private static func queue(_ customers: String) -> DeliveryQueue {
        var queue = DeliveryQueue(next: 0)
        let deliveries = customers.enumerated().map { delivery(Int64($0.offset), of: String($0.element)) }
        queue.add(deliveries, upTo: EventPosition(index: Int64(customers.count)).number)
        return queue
    }

    private func started(_ queue: inout DeliveryQueue, at now: Timestamp = start) -> [Int64] {
        var indices: [Int64] = []
        while let delivery = queue.start(at: now) { indices.append(delivery.position.index) }
        return indices
    }

    private func fail(_ queue: inout DeliveryQueue, _ index: Int64, in seconds: Int? = 5) {
        _ = queue.failed(EventPosition(index: index).number, "no", at: Self.start) { _, _ in
            seconds.map { Self.start.adding(seconds: $0) }
        }
    }

    @Test func `sends what belongs to one customer one after the other, and all else at once`() {
        var queue = Self.queue("abaca")
        #expect(started(&queue) == [0, 1, 3])
        queue.succeeded(EventPosition(index: 0).number)
        #expect(started(&queue) == [2])
        queue.succeeded(EventPosition(index: 2).number)
        #expect(started(&queue) == [4])
    }

    @Test func `what failed holds up its customer alone`() {
        var queue = Self.queue("aba")
        #expect(started(&queue) == [0, 1])
        fail(&queue, 0)
        queue.succeeded(EventPosition(index: 1).number)
        #expect(started(&queue).isEmpty)
        #expect(started(&queue, at: Self.start.adding(seconds: 5)) == [0])
        queue.succeeded(EventPosition(index: 0).number)
        #expect(started(&queue) == [2])
    }

    @Test func `stores a position before which everything is delivered or kept`() {
        var queue = Self.queue("abab")
        #expect(queue.stored.position == 0 && queue.stored.items.isEmpty)
        #expect(started(&queue) == [0, 1])
        fail(&queue, 0)
        #expect(queue.stored.position == EventPosition(index: 1).number)
        #expect(queue.stored.items.map(\.delivery.position.index) == [0, 2], "what waits behind it is kept too")
        queue.succeeded(EventPosition(index: 1).number)
        #expect(queue.stored.position == EventPosition(index: 3).number)
    }

    @Test func `gives up what is not taken for three days, and goes on`() {
        var queue = Self.queue("aa")
        #expect(started(&queue) == [0])
        fail(&queue, 0, in: nil)
        #expect(queue.items.map(\.delivery.position.index) == [1])
        #expect(started(&queue) == [1])
    }

    @Test func `tries all that failed again when the endpoint is back`() {
        var queue = Self.queue("ab")
        #expect(started(&queue) == [0, 1])
        fail(&queue, 0, in: 3600)
        fail(&queue, 1, in: 3600)
        #expect(queue.start(at: Self.start, probes: true)?.position.index == 0)
        queue.succeeded(EventPosition(index: 0).number)
        queue.retryAll(at: Self.start)
        #expect(started(&queue) == [1])
    }

    @Test func `a message that the endpoint can't read does not keep others back, and a probe is no attempt`() {
        var queue = Self.queue("ab")
        #expect(queue.start(at: Self.start)?.position.index == 0)
        fail(&queue, 0, in: 3600)
        #expect(queue.start(at: Self.start, probes: true)?.position.index == 1)
        queue.succeeded(EventPosition(index: 1).number)
        #expect(queue.start(at: Self.start, probes: true)?.position.index == 0)
        fail(&queue, 0, in: nil)
        #expect(queue.items.map(\.attempts) == [1], "it is sent again when it is due")
        #expect(started(&queue, at: Self.start.adding(seconds: 3600)) == [0])
        fail(&queue, 0, in: nil)
        #expect(queue.items.isEmpty)
    }

    @Test func `what the endpoint rejected waits for its time, and new messages go first`() {
        var queue = Self.queue("ab")
        #expect(queue.start(at: Self.start)?.position.index == 0)
        _ = queue.failed(0, "400", at: Self.start, isRejected: true) { _, _ in Self.start.adding(seconds: 60) }
        queue.retryAll(at: Self.start)
        #expect(started(&queue, at: Self.start.adding(seconds: 60)) == [1, 0])
    }

    @Test func `what the endpoint rejected keeps nothing of its customer back, and stays stored`() {
        var queue = Self.queue("aa")
        #expect(queue.start(at: Self.start)?.position.index == 0)
        _ = queue.failed(0, "400", at: Self.start, isRejected: true) { _, _ in Self.start.adding(seconds: 60) }
        #expect(queue.stored.items.map(\.position) == [EventPosition(index: 0).number])
        #expect(queue.stored.position == EventPosition(index: 1).number)
        #expect(started(&queue, at: Self.start) == [1])
    }

    @Test func `an endpoint that is enabled late has hours of attempts left`() {
        var queue = Self.queue("a")
        #expect(started(&queue) == [0])
        fail(&queue, 0, in: 60)
        let late = Self.start.adding(days: 30)
        queue.resume(at: late)
        #expect(started(&queue, at: late) == [0])
        #expect(queue.items[0].firstAttemptAt == late.adding(hours: 6 - RetrySchedule.hoursOfEvents))
    }

    @Test func `reads no more while too much was not taken`() {
        var queue = Self.queue(String(repeating: "x", count: 1))
        let most = DeliveryQueue.mostHeldUp
        queue.add((1...Int64(most)).map { Self.delivery($0, of: "\($0)") }, upTo: 4_000)
        for index in started(&queue) { fail(&queue, index) }
        #expect(queue.room == 0)
    }

    @Test(arguments: [RetrySchedule.hoursOfEvents, RetrySchedule.hoursOfRelays])
    func `retries for days with longer and longer pauses`(lastingHours: Int) throws {
        let random = try SystemRandom()
        var (now, attempts, pauses) = (Self.start, 0, [Int64]())
        while true {
            attempts += 1
            let next = RetrySchedule.next(
                after: attempts,
                firstAt: Self.start,
                now: now,
                lastingHours: lastingHours,
                random
            )
            guard let next else { break }
            pauses.append((next.milliseconds - now.milliseconds) / 1000)
            now = next
        }
        #expect((4...6).contains(pauses[0]) && (270...330).contains(pauses[1]) && (1620...1980).contains(pauses[2]))
        #expect(now == Self.start.adding(hours: lastingHours), "the last attempt is at the end")
        #expect((8...16).contains(attempts), "\(pauses)")
    }
}

/// What is signed, and by which keys.
struct WebhookMessageTests {
    private static let message = WebhookMessage(
        id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
        contentType: "application/json",
        body: Array(#"{"test": 2432232314}"#.utf8)
    )

    private static func secret(_ text: String) throws -> HMACKey {
        try startSecureMemory()
        return try HMACKey.ofWebhook(SecureBytes(copying: Array(text.utf8)))
    }

    private func signatures(_ secrets: [HMACKey], _ keys: [Ed25519PrivateKey] = []) throws -> [String] {
        let headers = try Self.message.headers(
            at: Timestamp(milliseconds: 1_614_265_330_000),
            secrets: secrets,
            signingKeys: keys
        )
        #expect(headers.first("webhook-id") == Array("msg_p5jXN8AQM9LWM0D4loKWxJek".utf8))
        #expect(headers.first("webhook-timestamp") == Array("1614265330".utf8))
        let field = String(decoding: headers.first("webhook-signature") ?? [], as: UTF8.self)
        return field.split(separator: " ").map(String.init)
    }

    /// Source: the test vector of the libraries of Standard Webhooks.
    @Test func `signs the vector of Standard Webhooks`() throws {
        let secret = try Self.secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
        #expect(try signatures([secret]) == ["v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="])
    }

    @Test func `signs with every key, so that a receiver may know the old or the new one`() throws {
        let old = try Self.secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        let new = try Self.secret("whsec_" + String(decoding: Base64.encode(Array(0..<32)), as: UTF8.self))
        let key = try Ed25519PrivateKey.generate()
        let found = try signatures([new, old], [key])
        #expect(found.map { $0.prefix { $0 != "," } } == ["v1", "v1", "v1a"])
        #expect(found[1] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        let signature = try #require(Base64.decode(Array(found[2].dropFirst(4).utf8)))
        let content = #"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}"#
        #expect(key.publicKey.verifies(signature, of: Array(content.utf8)))
    }

    @Test(arguments: [
        "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAA", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS!",
        "whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_" + String(repeating: "A", count: 90),
    ])
    func `refuses what is no secret of Standard Webhooks`(text: String) throws {
        #expect(throws: WebhookSecretError.self) { try Self.secret(text) }
    }
}

/// Which servers are connected to.
struct AddressFilterTests {
    @Test(arguments: [
        ("1.1.1.1", true), ("8.8.8.8", true), ("2606:4700::1111", true), ("64:ff9b::808:808", true),
        ("127.0.0.1", false), ("10.1.2.3", false), ("172.31.255.255", false), ("172.32.0.1", true),
        ("192.168.0.1", false), ("169.254.169.254", false), ("100.64.0.1", false), ("0.0.0.0", false),
        ("224.0.0.1", false), ("255.255.255.255", false), ("::1", false), ("::", false), ("fe80::1", false),
        ("fd00::1", false), ("ff02::1", false), ("::ffff:10.0.0.1", false), ("::ffff:1.1.1.1", true),
        ("64:ff9b::a00:1", false), ("2002:a00:1::", false), ("2001:db8::1", false), ("fec0::1", false),
        ("10.20.0.9", true), ("10.21.0.9", false), ("fd12::7", true),
    ])
    func `admits public addresses and listed networks`(text: String, isAdmitted: Bool) throws {
        let listed = ["10.20.0.0/16", "fd12::/16"].compactMap { AddressNetwork($0) }
        let address = try #require(PeerAddress(text, port: 0)).address
        #expect(AddressFilter(listed: listed).admits(address) == isAdmitted)
    }
}
