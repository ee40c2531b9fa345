// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
import Ledger
import OfferDomain
import Storage
import TransparencyLog

/// Reads the deliveries of an endpoint out of the log; used by one thread.
struct DeliverySource {
    let endpoint: EventEndpoint
    let connection: any DatabaseConnection
    let catalog: Catalog

    /// Some deliveries from a position on, and the position after what was looked at.
    func deliveries(from position: Int64, limit: Int) throws(AuditReadError) -> (found: [Delivery], next: Int64) {
        let first = EventPosition(number: position)
        switch endpoint.source {
        case .events:
            let page = try EventReader(connection: connection).page(from: first.index, limit: limit) { event in
                event.position >= first && endpoint.wants(event, catalog)
            }
            return (page.events.map { Delivery($0) }, EventPosition(index: page.next).number)
        case .notifications(let store, _):
            return try notifications(of: store, from: first.index, limit: limit)
        }
    }

    /// The delivery of a position; `nil` if the endpoint does not get it, or no longer gets it.
    func delivery(at position: Int64) throws(AuditReadError) -> Delivery? {
        let place = EventPosition(number: position)
        switch endpoint.source {
        case .events:
            let page = try EventReader(connection: connection).page(from: place.index, limit: 1, mostEntries: 1)
            return page.events.first { $0.position == place && endpoint.wants($0, catalog) }.map { Delivery($0) }
        case .notifications(let store, _):
            return try notifications(of: store, from: place.index, limit: 1).found.first { $0.position == place }
        }
    }

    /// Notifications recorded while the events file had relays; the log has each receipt, and a table each body.
    private func notifications(
        of store: Store,
        from first: Int64,
        limit: Int
    ) throws(AuditReadError) -> (found: [Delivery], next: Int64) {
        let reader = AuditReader(connection: connection)
        let size = try reader.size()
        let table = RelayTable(connection: connection)
        var found: [Delivery] = []
        let rows = try reading(table.rows(of: store, from: first, limit: limit))
        for row in rows {
            guard let entry = try reader.entry(row.entryIndex), wants(entry) else { continue }
            found.append(Delivery(store, row.body, at: EventPosition(index: row.entryIndex)))
        }
        let afterLast = (rows.last?.entryIndex ?? first - 1) + 1
        let end = rows.count < limit ? max(size, afterLast) : afterLast
        return (found, EventPosition(index: end).number)
    }

    private func wants(_ entry: [UInt8]) -> Bool {
        guard !endpoint.apps.isEmpty else { return true }
        let app = (try? JSONDocument(entry))?.root.object?["bundle"]?.string
        return app.flatMap { try? AppName($0) }.map(endpoint.apps.contains) ?? false
    }
}

extension EventEndpoint {
    /// Whether it gets an event.
    func wants(_ event: ServiceEvent, _ catalog: Catalog) -> Bool {
        guard case .events(let types, let format) = source else { return false }
        guard types.isEmpty || types.contains(event.type), format.has(event.type) else { return false }
        guard !apps.isEmpty else { return true }
        return event.details.appName(in: catalog).map(apps.contains) ?? false
    }
}
