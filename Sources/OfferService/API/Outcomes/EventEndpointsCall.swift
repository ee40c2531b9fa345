// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
import OfferDomain
import Storage

/// `GET /v1/events/endpoints`: the receivers of events, how far each is, and what each has not taken.
struct EventEndpointsCall: Sendable {
    let readers: LogReaders
    let reads: AuditReads
    let settings: @Sendable () -> EventSettings?
    let standings: @Sendable () -> [String: EndpointWorker.Standing]

    func respond(to request: Request, under snapshot: Snapshot, at now: Timestamp) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireReading()
        var parameters = QueryParameters(request.query)
        try parameters.finish()
        reads.noteFetch(caller: caller.id, call: .eventEndpoints)
        let (settings, standings) = (settings(), standings())
        do throws(LogReadersError) {
            let found = try await readers.read { connection throws(AuditReadError) in
                do throws(StorageError) {
                    return try EndpointReport.all(of: settings, standings, connection: connection)
                } catch {
                    throw .database(error)
                }
            }
            return .json(Self.body(found.logSize, found.reports))
        } catch {
            throw Refusal(error)
        }
    }

    static func body(_ logSize: Int64, _ reports: [EndpointReport]) -> [UInt8] {
        var writer = JSONWriter(reserving: 512 * reports.count + 64)
        writer.beginObject()
        writer.member("logSize", integer: logSize)
        writer.name("endpoints")
        writer.beginArray()
        for report in reports { write(report, &writer) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    private static func write(_ report: EndpointReport, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", plain: report.id)
        writer.member("kind", plain: report.kind.rawValue)
        writer.optional("format", report.format?.rawValue)
        writer.optional("target", report.target)
        writer.member("state", plain: report.state.rawValue)
        writer.optional("reason", report.reason)
        writer.optional("disabledAt", report.row?.disabledAt)
        if let row = report.row {
            writer.member("nextIndex", integer: EventPosition(number: row.nextPosition).index)
            writer.member("backlog", integer: report.backlog)
            writer.optional("lastDeliveredAt", row.deliveredAt)
        }
        writer.member("delivered", integer: report.row?.delivered ?? 0)
        writer.member("open", integer: report.open)
        writer.member("givenUp", integer: report.givenUp)
        writer.name("deliveries")
        writer.beginArray()
        for delivery in report.deliveries { write(delivery, &writer) }
        writer.endArray()
        writer.endObject()
    }

    private static func write(_ delivery: EndpointTable.HeldUp, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("index", integer: EventPosition(number: delivery.position).index)
        writer.member("attempts", integer: delivery.attempts)
        writer.optional("failure", delivery.failure)
        // What waits behind another message is sent once that one is.
        writer.optional(
            "nextAttemptAt",
            delivery.givenUpAt == nil && delivery.attempts > 0 ? delivery.nextAttemptAt : nil
        )
        writer.optional("givenUpAt", delivery.givenUpAt)
        writer.endObject()
    }
}
