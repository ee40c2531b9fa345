// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import TransparencyLog

/// `GET /v1/events`: what happened to offers and to the service, in the order of the log.
///
/// A backend sees the events of its own apps. A poll is counted once a minute and is no entry of its own.
struct EventsCall: Sendable {
    let admission: Admission
    /// Has its own thread, so that polls do not delay auditors.
    let searches: LogSearches
    let reads: ReadRecorder

    func respond(to request: Request, under snapshot: Snapshot, at now: Timestamp) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireFollowing()
        try admission.admit(caller, 1)
        let places = try admission.enter(caller)
        defer { places.leave() }
        let asked = try Asked(request.query)
        reads.noteFetch(caller: caller.id, call: .events)
        let catalog = snapshot.catalog
        let answer = try await searches.read { connection, _ throws(AuditReadError) -> Answer? in
            let reader = EventReader(connection: connection)
            guard let page = try Self.page(asked, reader, where: { caller.maySee($0, catalog) }) else { return nil }
            return Answer(page: page, next: try reader.cursor(at: page.next))
        }
        guard let answer else { throw .request(.invalidParameters([Self.otherLog])) }
        return .json(Self.body(answer, catalog))
    }

    private struct Answer: Sendable {
        let page: EventReader.Page
        let next: EventCursor
    }

    private static let otherLog = ParameterFault(
        "after",
        "is of another log, such as before a backup was restored: read again from an earlier index, or begin with latest"
    )

    /// One page of events; `nil` if the caller's position is in another log.
    private static func page(
        _ asked: Asked,
        _ reader: EventReader,
        where maySee: (ServiceEvent) -> Bool
    ) throws(AuditReadError) -> EventReader.Page? {
        guard let start = asked.start else { return EventReader.Page(next: try reader.size()) }
        guard try reader.isOfThisLog(start) else { return nil }
        return try reader.page(from: start.index, limit: asked.limit) { asked.isWanted($0) && maySee($0) }
    }

    private static func body(_ answer: Answer, _ catalog: Catalog) -> [UInt8] {
        let page = answer.page
        var writer = JSONWriter(reserving: 512 * page.events.count + 128)
        writer.beginObject()
        writer.name("events")
        writer.beginArray()
        for event in page.events {
            writer.beginObject()
            writer.member("id", plain: event.id)
            EventBody.write(event, in: catalog, to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.name("hasMore")
        writer.boolean(page.hasMore)
        writer.member("next", plain: answer.next.description)
        writer.endObject()
        return writer.bytes
    }

    /// The parameters.
    private struct Asked: Sendable {
        /// The first entry to look at; `nil` is the end of the log.
        var start: EventCursor? = EventCursor(index: 0)
        var limit = 100
        var types: Set<EventType> = []

        init(_ query: [UInt8]?) throws(Refusal) {
            var parameters = QueryParameters(query)
            if let after = parameters.value("after", expecting: "next of the answer before, or latest", Self.start) {
                if case .entry(let cursor) = after { start = cursor } else { start = nil }
            }
            if let limit = parameters.value("limit", expecting: "a whole number from 1 to 500", Self.limit) {
                self.limit = limit
            }
            let names = EventType.allCases.map(\.rawValue).joined(separator: ", ")
            if let types = parameters.value("types", expecting: "names with commas between, of \(names)", Self.types) {
                self.types = types
            }
            try parameters.finish()
        }

        func isWanted(_ event: ServiceEvent) -> Bool { types.isEmpty || types.contains(event.type) }

        private enum Start {
            case entry(EventCursor), latest
        }

        private static func start(_ text: String) -> Start? {
            if text == "latest" { return .latest }
            return EventCursor(text).map(Start.entry)
        }

        private static func limit(_ text: String) -> Int? {
            guard text.utf8.count <= 3, let limit = Int(text), (1...500).contains(limit) else { return nil }
            return limit
        }

        private static func types(_ text: String) -> Set<EventType>? {
            let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            let types = names.compactMap(EventType.init(rawValue:))
            return types.count == names.count ? Set(types) : nil
        }
    }
}

extension Caller {
    /// Requires a caller that may follow what happens to offers: a backend, or a role that may read the records.
    func requireFollowing() throws(Refusal) -> Caller {
        guard role.mayAssertFacts || role.mayReadRecords else { throw .caller(.roleNotAllowed(role)) }
        return self
    }

    /// Whether an event is for it: one of its apps, or of the service if it may ask for every app.
    func maySee(_ event: ServiceEvent, _ catalog: Catalog) -> Bool {
        if apps.isEmpty || role.mayReadRecords { return true }
        guard !event.type.isOfService, let app = event.details.appName(in: catalog) else { return false }
        return mayAsk(for: app)
    }
}
