// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// What is still to be delivered to one endpoint, in the order of the log.
///
/// Pure: the caller passes times. Messages of one customer are sent one after the other; no others wait for them. A
/// failed message stays here with the messages that wait behind it, and all others go on.
package struct DeliveryQueue: Sendable {
    /// One message to be sent.
    package struct Item: Sendable {
        /// What is sent.
        package let delivery: Delivery
        /// How many attempts have failed; probes before the message was due don't count.
        package var attempts = 0
        /// When the first attempt began; `nil` before it.
        package var firstAttemptAt: Timestamp?
        /// The earliest time of the next attempt.
        package var nextAttemptAt: Timestamp
        /// When the last attempt failed; `nil` while there are more to come.
        package var givenUpAt: Timestamp?
        /// Why the last attempt failed, for people; `nil` before one did.
        package var failure: String?
        var isUnderWay = false
        /// Whether it is sent before it is due, to find out whether the endpoint is back.
        var isProbe = false
        /// Whether the endpoint is up and would not take this one.
        var isRejected = false

        /// A message that is due from `nextAttemptAt` on; by default at once.
        package init(_ delivery: Delivery, nextAttemptAt: Timestamp = Timestamp(milliseconds: 0)) {
            self.delivery = delivery
            self.nextAttemptAt = nextAttemptAt
        }

        /// The message's place in the log, which names it in this queue.
        package var position: Int64 { delivery.position.number }

        /// After a time without sending, leaves at least six hours for attempts.
        mutating func resume(at now: Timestamp) {
            firstAttemptAt = firstAttemptAt.map { max($0, now.adding(hours: 6 - RetrySchedule.hoursOfEvents)) }
        }

        /// A message that failed does not hold back new messages.
        fileprivate var order: (Int, Int64) { (min(attempts, 1), position) }
        fileprivate var probeOrder: (Int, Timestamp) { (min(attempts, 1), nextAttemptAt) }
    }

    /// The maximum number of messages that wait here; further ones stay in the log.
    package static let mostItems = 256
    /// The maximum number of failed messages; at this number, the queue takes nothing new.
    package static let mostHeldUp = 128

    /// By position.
    package private(set) var items: [Item] = []
    /// From this position on nothing was read yet.
    package private(set) var next: Int64

    /// `next` is where reading goes on; `items` are those before it that were not delivered.
    package init(next: Int64, items: [Item] = []) {
        self.next = next
        self.items = items.sorted { $0.position < $1.position }
    }

    /// How many more messages it takes.
    package var room: Int {
        items.count { $0.attempts > 0 } >= Self.mostHeldUp ? 0 : max(0, Self.mostItems - items.count)
    }

    /// Takes what was read of the log, up to `next`.
    package mutating func add(_ deliveries: [Delivery], upTo next: Int64) {
        let known = Set(items.map(\.position))
        for delivery in deliveries where !known.contains(delivery.position.number) { items.append(Item(delivery)) }
        items.sort { $0.position < $1.position }
        self.next = max(self.next, next)
    }

    /// Returns the first message that may be sent now; it is in flight from then on.
    ///
    /// With `probes`, it takes a message even if none is due, to find out whether the endpoint is back. A message that
    /// never failed goes first, because one that the endpoint can't read must not hold back all others.
    package mutating func start(at now: Timestamp, probes: Bool = false) -> Delivery? {
        let free = freeIndices
        let found =
            probes
            ? free.min { items[$0].probeOrder < items[$1].probeOrder }
            : free.filter { items[$0].nextAttemptAt <= now }.min { items[$0].order < items[$1].order }
        guard let index = found else { return nil }
        items[index].isUnderWay = true
        items[index].isProbe = items[index].nextAttemptAt > now
        items[index].firstAttemptAt = items[index].firstAttemptAt ?? now
        return items[index].delivery
    }

    /// Messages that are not in flight and wait for no earlier message.
    private var freeIndices: [Int] {
        var held: Set<String> = []
        return items.indices.filter { index in
            let item = items[index]
            let isFree = !item.isUnderWay && item.delivery.keys.isDisjoint(with: held)
            // A rejected message holds back no message that the endpoint would take.
            if !item.isRejected { held.formUnion(item.delivery.keys) }
            return isFree
        }
    }

    /// The endpoint has taken it.
    package mutating func succeeded(_ position: Int64) {
        items.removeAll { $0.position == position }
    }

    /// It was not sent after all.
    package mutating func abandoned(_ position: Int64) {
        change(position) { item in
            item.isUnderWay = false
            if item.attempts == 0 { item.firstAttemptAt = nil }
        }
    }

    /// The endpoint has not taken it; it is sent again at `next`, or never.
    ///
    /// - Returns: The message if it is given up.
    package mutating func failed(
        _ position: Int64,
        _ failure: String,
        at now: Timestamp,
        isRejected: Bool = false,
        next: (_ attempts: Int, _ first: Timestamp) -> Timestamp?
    ) -> Item? {
        guard let index = items.firstIndex(where: { $0.position == position }) else { return nil }
        items[index].isUnderWay = false
        items[index].failure = failure
        items[index].isRejected = isRejected
        // The attempt that is due is still to come.
        guard !items[index].isProbe else { return nil }
        items[index].attempts += 1
        if let time = next(items[index].attempts, items[index].firstAttemptAt ?? now) {
            items[index].nextAttemptAt = time
            return nil
        }
        items[index].givenUpAt = now
        return items.remove(at: index)
    }

    /// The endpoint is back: all that failed is due, but not what it rejected.
    package mutating func retryAll(at now: Timestamp) {
        for index in items.indices where items[index].attempts > 0 && !items[index].isRejected {
            items[index].nextAttemptAt = min(items[index].nextAttemptAt, now)
        }
    }

    /// The endpoint is enabled again.
    package mutating func resume(at now: Timestamp) {
        for index in items.indices {
            items[index].resume(at: now)
            items[index].nextAttemptAt = min(items[index].nextAttemptAt, now)
        }
    }

    /// What is to be stored: each event before the position is delivered or among the items.
    package var stored: (position: Int64, items: [Item]) {
        var (position, held, kept): (Int64, Set<String>, [Item]) = (next, [], [])
        for item in items {
            if item.attempts > 0 || !item.delivery.keys.isDisjoint(with: held) {
                kept.append(item)
                if !item.isRejected { held.formUnion(item.delivery.keys) }
            } else {
                position = min(position, item.position)
            }
        }
        return (position, kept)
    }

    private mutating func change(_ position: Int64, _ body: (inout Item) -> Void) {
        guard let index = items.firstIndex(where: { $0.position == position }) else { return }
        body(&items[index])
    }
}

/// One event or notification for one endpoint.
package struct Delivery: Sendable {
    /// Where it is in the log.
    package let position: EventPosition
    /// What the body is made of.
    package let content: Content
    /// What it shares with others of the same customer, which are sent in order.
    package let keys: Set<String>

    /// Something derived from the log, or what a store sent.
    package enum Content: Sendable {
        case event(ServiceEvent)
        /// The bytes that the store sent.
        case notification(Store, [UInt8])
    }

    /// An event waits for those of the same grant, subscription or customer; events of the service wait for each other.
    package init(_ event: ServiceEvent) {
        position = event.position
        content = .event(event)
        let details = event.details
        let grant = details.grantID.map { "g \($0)" }
        let subscription = details.subscription.map { "s \($0)" }
        let keys = [grant, subscription].compactMap(\.self) + details.customers.map { "c \($0)" }
        self.keys = keys.isEmpty ? ["service"] : Set(keys)
    }

    /// Stores send notifications in any order too, so none waits for another.
    package init(_ store: Store, _ body: [UInt8], at position: EventPosition) {
        self.position = position
        content = .notification(store, body)
        keys = []
    }
}
