// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime
import Storage
import TransparencyLog

/// `GET /v1/events/endpoints`: the receivers of events, how far each is, and what each has not taken.
struct EventEndpointsCall: Sendable {
    let readers: LogReaders
    let reads: ReadRecorder
    let settings: @Sendable () -> EventSettings?
    let deliveryStatuses: @Sendable () -> [String: EndpointThread.Status]

    func respond(to request: Request, under snapshot: Snapshot, at now: Timestamp) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireReading()
        var parameters = QueryParameters(request.query)
        try parameters.finish()
        reads.noteFetch(caller: caller.id, call: .eventEndpoints)
        let (settings, deliveryStatuses) = (settings(), deliveryStatuses())
        do throws(LogReadersError) {
            let found = try await readers.read { connection throws(AuditReadError) in
                try reading(EndpointReport.all(of: settings, deliveryStatuses, connection: connection))
            }
            return .json(Self.body(found.logSize, found.reports))
        } catch {
            throw Refusal(error)
        }
    }

    static func body(_ logSize: Int64, _ reports: [EndpointReport]) -> JSONTree {
        ["logSize": .integer(logSize), "endpoints": .array(reports.map(tree))]
    }

    private static func tree(_ report: EndpointReport) -> JSONTree {
        [
            "id": .text(report.id),
            "kind": .text(report.kind.rawValue),
            "format": report.format.map { .text($0.rawValue) },
            "target": .text(report.target),
            "state": .text(report.state.rawValue),
            "reason": report.reason.map { .text($0) },
            "disabledAt": (report.row?.disabledAt).map { .instant($0) },
            "nextIndex": report.row.map { .integer(EventPosition(number: $0.nextPosition).index) },
            "backlog": report.row.map { _ in .integer(report.backlog) },
            "lastDeliveredAt": (report.row?.deliveredAt).map { .instant($0) },
            "delivered": .integer(report.row?.delivered ?? 0),
            "open": .integer(report.open),
            "givenUp": .integer(report.givenUp),
            "deliveries": .array(report.deliveries.map(tree)),
        ]
    }

    private static func tree(_ delivery: EndpointTable.HeldUp) -> JSONTree {
        // What waits behind another message is sent once that one is.
        let isTried = delivery.givenUpAt == nil && delivery.attempts > 0
        return [
            "index": .integer(EventPosition(number: delivery.position).index),
            "attempts": .integer(delivery.attempts),
            "failure": delivery.failure.map { .text($0) },
            "nextAttemptAt": isTried ? .instant(delivery.nextAttemptAt) : nil,
            "givenUpAt": delivery.givenUpAt.map { .instant($0) },
        ]
    }
}
