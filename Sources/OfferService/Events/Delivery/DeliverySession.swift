// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import Ledger
import OfferDomain
import ServiceRuntime
import Storage
import Stores
import TransparencyLog

/// Delivers to one endpoint, from what the database has of it until another instance takes over; used by one thread.
///
/// Its state in memory decides; the database follows a moment later. After a crash, messages of that moment are
/// delivered again: at least once.
final class DeliverySession {
    let term: Int
    private let endpoint: EventEndpoint
    private let context: DeliveryContext
    private let connection: any DatabaseConnection
    private let stopwatch: Stopwatch
    private var queue: DeliveryQueue
    private var row: EndpointTable.Row
    /// The maximum number of messages at once, so that a slow endpoint does not block others of its host.
    static let mostUnderWay = 8
    private static let newBreaker = CircuitBreaker(
        .init(firstOpenMilliseconds: 5000, longestOpenMilliseconds: 300_000, concurrent: mostUnderWay)
    )
    private var breaker = newBreaker
    private var permits: [Int64: CircuitBreaker.Permit] = [:]
    /// As the database has them.
    private var storedRow: EndpointTable.Row
    private var storedItems: [Int64: EndpointTable.HeldUp] = [:]
    private var givenUp: [DeliveryQueue.Item] = []
    private var pausedUntil = Timestamp(milliseconds: 0)
    private var failure: String?
    private var (lookedAt, storedAt): (Int64, Int64) = (-10_000, -10_000)
    private var logSize: Int64 = 0
    /// Whether a command wants messages sent again; this waits for those in flight.
    private var isRewinding = false
    /// Whether something was delivered or failed since the last storing.
    private var mustStore = false
    private(set) var hasMore = false

    init(_ endpoint: EventEndpoint, _ context: DeliveryContext, term: Int) throws(AuditReadError) {
        (self.endpoint, self.context, self.term) = (endpoint, context, term)
        stopwatch = context.runtime.clock.stopwatch()
        let opened = try reading(context.open())
        connection = opened
        let table = EndpointTable(connection: opened)
        let found = try reading((row: table.row(endpoint.id), held: table.heldUp(endpoint.id)))
        let size = try EventReader(connection: opened).size()
        // A new endpoint gets the events from now on.
        row = found.row ?? .init(id: endpoint.id, nextPosition: EventPosition(index: size).number)
        storedRow = row
        let source = DeliverySource(endpoint: endpoint, connection: opened, catalog: context.catalog())
        var items: [DeliveryQueue.Item] = []
        for held in found.held {
            storedItems[held.position] = held
            guard held.givenUpAt == nil, let delivery = try source.delivery(at: held.position) else { continue }
            items.append(DeliveryQueue.Item(delivery, held, at: context.runtime.clock.now()))
        }
        queue = DeliveryQueue(next: row.nextPosition, items: items)
        if found.row == nil { addRow() }
    }

    /// Whether nothing is under way.
    var isIdle: Bool { permits.isEmpty }

    private var now: Timestamp { context.runtime.clock.now() }
    private var milliseconds: Int64 { stopwatch.microseconds / 1000 }

    // MARK: - What comes of attempts

    func take(_ results: [(position: Int64, outcome: DeliveryOutcome)]) {
        for (position, outcome) in results {
            guard let permit = permits.removeValue(forKey: position) else { continue }
            mustStore = true
            switch outcome {
            case .answered(let response) where (200..<300).contains(response.status): accept(position, permit)
            case .answered(let response): refuse(position, permit, response: response)
            case .failed(.stopped), .failed(.cancelled), .failed(.waitedTooLong), .failed(.tooManyWaiting):
                breaker.settle(permit, .abandoned, at: milliseconds)
                queue.abandoned(position)
            case .failed(let error): fail(position, permit, reason: error.description, kind: error.label)
            }
        }
    }

    private func accept(_ position: Int64, _ permit: CircuitBreaker.Permit) {
        let isBack = breaker.settle(permit, .succeeded, at: milliseconds) == .closed
        queue.succeeded(position)
        if isBack { queue.retryAll(at: now) }
        row.delivered += 1
        row.deliveredAt = now
        context.runtime.metrics.count(.eventDeliveries(endpoint: endpoint.id, outcome: "delivered"))
        if failure != nil {
            context.runtime.log(.info, "an endpoint takes events again", with: ["endpoint": .text(endpoint.id)])
        }
        failure = nil
    }

    private func refuse(_ position: Int64, _ permit: CircuitBreaker.Permit, response: ClientResponse) {
        let retryAt = response.retryAfter(at: now, withinHours: 24)
        if response.status == 410 {
            breaker.settle(permit, .failed, at: milliseconds)
            queue.abandoned(position)
            row.disabledAt = now
            row.disabledReason = "it answered with status 410"
            context.runtime.metrics.count(.eventDeliveries(endpoint: endpoint.id, outcome: "failed"))
            context.runtime.log(
                .error,
                "an endpoint wants no more events; to deliver again: offer-signer events endpoints --enable ID",
                with: ["endpoint": .text(endpoint.id)]
            )
            return store()
        }
        // One message may have to wait for long, and all of them for an hour at most.
        if let retryAt, [429, 503].contains(response.status) {
            pausedUntil = max(pausedUntil, min(retryAt, now.adding(hours: 1)))
        }
        fail(
            position,
            permit,
            reason: "it answered with status \(response.status)" + (Self.refusals[response.status] ?? ""),
            kind: "\(response.status)",
            retryAt: retryAt
        )
    }

    /// Statuses of an endpoint that would take no other message either, with what to do.
    private static let refusals = [
        401: "; check the endpoint's secrets and its clock",
        403: "; check the endpoint's secrets, and whether it admits this service",
        404: "; check the endpoint's url",
    ]
    /// Statuses of an endpoint that is up and can't read one message.
    private static let rejections: Set = ["400", "413", "415", "422"]
    /// A message is given up after this number of rejections: after about 7.6 hours.
    private static let mostRejections = 6

    private func fail(
        _ position: Int64,
        _ permit: CircuitBreaker.Permit,
        reason: String,
        kind: String,
        retryAt: Timestamp? = nil
    ) {
        let instant = now
        let isRejected = Self.rejections.contains(kind)
        let refusesAll = Int(kind).map { Self.refusals[$0] != nil } ?? false
        breaker.settle(permit, isRejected ? .succeeded : refusesAll ? .refusedAll : .failed, at: milliseconds)
        let lost = queue.failed(position, reason, at: instant, isRejected: isRejected) { attempts, first in
            if isRejected, attempts >= Self.mostRejections { return nil }
            let hours = endpoint.isRelay ? RetrySchedule.hoursOfRelays : RetrySchedule.hoursOfEvents
            let random = context.runtime.random
            return RetrySchedule.next(after: attempts, firstAt: first, now: instant, lastingHours: hours, random)
                .map { max($0, retryAt ?? $0) }
        }
        context.runtime.metrics.count(.eventDeliveries(endpoint: endpoint.id, outcome: "failed"))
        if failure == nil {
            context.runtime.log(
                .warning,
                "an endpoint has not taken an event",
                with: ["endpoint": .text(endpoint.id), "reason": .text(reason), "kind": .text(kind)]
            )
        }
        failure = reason
        guard let lost else { return }
        givenUp.append(lost)
        context.runtime.metrics.count(.eventDeliveries(endpoint: endpoint.id, outcome: "given-up"))
        context.runtime.log(
            .error,
            "a message was given up; to send it again: offer-signer events replay",
            with: ["endpoint": .text(endpoint.id), "index": .integer(lost.delivery.position.index)]
        )
    }

    // MARK: - What comes next

    /// Checks once a second what commands have changed, and reads further in the log.
    func follow() throws(AuditReadError) {
        if milliseconds - lookedAt >= (isRewinding ? 20 : 1000) {
            lookedAt = milliseconds
            try applyCommands()
        }
        guard row.disabledAt == nil else { return hasMore = false }
        logSize = try newestSize()
        let end = EventPosition(index: logSize).number
        let room = queue.room
        hasMore = queue.next < end && room > 0
        guard hasMore else { return }
        let source = DeliverySource(endpoint: endpoint, connection: connection, catalog: context.catalog())
        let (found, next) = try source.deliveries(from: queue.next, limit: room)
        // What was given up, or is among the items already, is not sent a second time.
        queue.add(found.filter { storedItems[$0.position.number]?.givenUpAt == nil }, upTo: next)
        hasMore = queue.next < end && queue.room > 0
    }

    private func newestSize() throws(AuditReadError) -> Int64 {
        if let logSize = context.logSize { return logSize() }
        return try EventReader(connection: connection).size()
    }

    /// Applies what commands have written.
    private func applyCommands() throws(AuditReadError) {
        guard let found = try reading(EndpointTable(connection: connection).row(endpoint.id)) else { return addRow() }
        if row.disabledAt != nil, storedRow.disabledAt != nil, found.disabledAt == nil {
            (row.disabledAt, row.disabledReason, storedRow.disabledAt) = (nil, nil, nil)
            storedRow.disabledReason = nil
            queue.resume(at: now)
        }
        isRewinding = found.rewindTo != nil
        guard let asked = found.rewindTo, permits.isEmpty else { return }
        // A later position would lose what was not delivered yet.
        let position = min(asked, queue.stored.position)
        let (id, lease) = (endpoint.id, context.lease)
        let isDone = derive { connection throws(StorageError) in
            guard try lease?.isHeld(connection) ?? true else { return }
            try EndpointTable(connection: connection).rewound(id, to: position, asked: asked)
        }
        guard isDone else { return }
        storedItems = storedItems.filter { $0.key < position }
        givenUp.removeAll { $0.position >= position }
        queue = DeliveryQueue(next: position, items: queue.items.filter { $0.position < position })
        (row.nextPosition, storedRow.nextPosition, isRewinding) = (position, position, false)
        // An operator enables an endpoint to have it tried now, so its Retry-After no longer counts.
        (pausedUntil, breaker) = (Timestamp(milliseconds: 0), Self.newBreaker)
        queue.resume(at: now)
    }

    /// The next message that is due, with the request that carries it.
    func start() -> (Delivery, ClientRequest)? {
        guard row.disabledAt == nil, !isRewinding, now >= pausedUntil else { return nil }
        let isProbe = breaker.state(at: milliseconds) == .halfOpen
        guard case .admitted(let permit) = breaker.admit(at: milliseconds) else { return nil }
        guard let delivery = queue.start(at: now, probes: isProbe) else {
            breaker.settle(permit, .abandoned, at: milliseconds)
            return nil
        }
        do {
            let request = try request(delivery)
            permits[delivery.position.number] = permit
            return (delivery, request)
        } catch {
            permits[delivery.position.number] = permit
            take([(delivery.position.number, .failed(.requestInvalid("\(error)")))])
            return nil
        }
    }

    private func request(_ delivery: Delivery) throws -> ClientRequest {
        var headers = HeaderFields()
        let body: [UInt8]
        switch (delivery.content, endpoint.source) {
        case (.event(let event), .events(_, let format)):
            let message = WebhookMessage(event, as: format, in: context.catalog(), origin: context.origin)
            headers = try message.headers(at: now, secrets: endpoint.secrets, signingKeys: endpoint.signingKeys)
            body = message.body
        case (.notification(_, let bytes), .notifications(_, let token)):
            headers.append("Content-Type", "application/json")
            if let token { headers.append("Authorization", "Bearer \(token.text)") }
            body = bytes
        case (.event, .notifications), (.notification, .events):
            throw ClientError.requestInvalid("the delivery is of another kind than the endpoint")
        }
        var request = try ClientRequest(.post, url: endpoint.url, headers: headers, body: body)
        request.timeoutMilliseconds = 20_000
        return request
    }

    // MARK: - The database

    /// Stores what has changed, once a second at most.
    func storeIfDue() {
        // A position that moves over entries without events costs little to find again.
        let interval: Int64 = mustStore ? 1000 : 5000
        guard milliseconds - storedAt >= interval else { return }
        store()
    }

    /// Stores what has changed.
    func store() {
        (storedAt, mustStore) = (milliseconds, false)
        let stored = queue.stored
        row.nextPosition = stored.position
        let oldest = now.adding(hours: -24 * Self.givenUpDays)
        var wanted = storedItems.filter { $0.value.givenUpAt.map { $0 > oldest } ?? false }
        for item in stored.items + givenUp { wanted[item.position] = EndpointTable.HeldUp(item) }
        let changed = wanted.values.filter { storedItems[$0.position] != $0 }
        let gone = storedItems.keys.filter { wanted[$0] == nil }
        guard row != storedRow || !changed.isEmpty || !gone.isEmpty else { return }
        let (row, id, lease) = (row, endpoint.id, context.lease)
        let isDone = derive { connection throws(StorageError) in
            guard try lease?.isHeld(connection) ?? true else { return }
            let table = EndpointTable(connection: connection)
            try table.update(row)
            for item in changed { try table.put(item, of: id) }
            for position in gone { try table.remove(position, of: id) }
        }
        guard isDone else { return }
        (storedRow, storedItems, givenUp) = (row, wanted, [])
    }

    /// How long given-up messages stay on record.
    private static let givenUpDays = 90

    private func addRow() {
        let row = row
        _ = derive { connection throws(StorageError) in try EndpointTable(connection: connection).add(row) }
    }

    private func derive(_ body: @escaping Committer.Derivation) -> Bool { context.store(body, of: endpoint.id) }

    var deliveryStatus: EndpointThread.Status {
        let position = queue.stored.position
        return EndpointThread.Status(
            backlog: max(0, logSize - EventPosition(number: position).index),
            retrying: queue.items.count { $0.attempts > 0 },
            oldestFirstAttemptAt: queue.items.compactMap { $0.attempts > 0 ? $0.firstAttemptAt : nil }.min(),
            disabledReason: row.disabledReason,
            failure: failure,
            isCircuitOpen: breaker.state(at: milliseconds) != .closed || now < pausedUntil,
            deliveredAt: row.deliveredAt
        )
    }
}

extension DeliveryQueue.Item {
    fileprivate init(_ delivery: Delivery, _ held: EndpointTable.HeldUp, at now: Timestamp) {
        self.init(delivery, nextAttemptAt: held.nextAttemptAt)
        (attempts, firstAttemptAt, failure) = (Int(held.attempts), held.firstAttemptAt, held.failure)
        if held.nextAttemptAt < now.adding(hours: -1) { resume(at: now) }
    }
}

extension EndpointTable.HeldUp {
    fileprivate init(_ item: DeliveryQueue.Item) {
        self.init(
            position: item.position,
            attempts: Int64(item.attempts),
            firstAttemptAt: item.attempts > 0 ? item.firstAttemptAt : nil,
            nextAttemptAt: item.nextAttemptAt,
            givenUpAt: item.givenUpAt,
            failure: item.failure
        )
    }
}
