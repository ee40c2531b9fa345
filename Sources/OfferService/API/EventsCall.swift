// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
import OfferDomain

/// `GET /v1/events`: what happened to offers and to the service, in the order of the log.
///
/// A backend sees the events of its own apps. A poll is counted once a minute and is no entry of its own.
struct EventsCall: Sendable {
    let desk: AuditDesk
    let reads: AuditReads

    func respond(to request: Request, under snapshot: Snapshot, at now: Timestamp) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request.headers, at: now).requireFollowing()
        let asked = try Asked(request.query)
        reads.noteFetch(caller: caller.id, call: .events)
        let catalog = snapshot.catalog
        let page = try await desk.read { connection, _ throws(AuditReadError) -> EventReader.Page? in
            let reader = EventReader(connection: connection)
            let size = try reader.size()
            guard let first = asked.first else { return EventReader.Page(next: size) }
            guard first <= size else { return nil }
            return try reader.page(from: first, limit: asked.limit) { event in
                asked.isWanted(event) && caller.maySee(event, catalog)
            }
        }
        guard let page else {
            throw .request(.invalidParameters([ParameterFault("after", "is beyond the end of the log")]))
        }
        return .json(Self.body(page, catalog))
    }

    private static func body(_ page: EventReader.Page, _ catalog: Catalog) -> [UInt8] {
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
        writer.member("next", plain: String(page.next))
        writer.endObject()
        return writer.bytes
    }

    /// The parameters.
    private struct Asked: Sendable {
        /// The index of the first entry to look at; `nil` is the end of the log.
        var first: Int64? = 0
        var limit = 100
        var types: Set<EventType> = []

        init(_ query: [UInt8]?) throws(Refusal) {
            var parameters = QueryParameters(query)
            if let after = parameters.value("after", "next of the answer before, or latest", Self.start) {
                if case .entry(let index) = after { first = index } else { first = nil }
            }
            if let limit = parameters.value("limit", "a whole number from 1 to 500", Self.limit) { self.limit = limit }
            let names = EventType.allCases.map(\.rawValue).joined(separator: ", ")
            if let types = parameters.value("types", "names with commas between, of \(names)", Self.types) {
                self.types = types
            }
            try parameters.finish()
        }

        func isWanted(_ event: ServiceEvent) -> Bool { types.isEmpty || types.contains(event.type) }

        private enum Start {
            case entry(Int64), latest
        }

        private static func start(_ text: String) -> Start? {
            if text == "latest" { return .latest }
            guard text.utf8.count <= 18, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return Int64(text).map(Start.entry)
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
    /// Whether it may follow what happened to offers: a backend, and whoever may read the records.
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
