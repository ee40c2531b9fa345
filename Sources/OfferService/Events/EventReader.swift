// SPDX-License-Identifier: Apache-2.0
import Ledger
package import Storage
package import TransparencyLog

/// Reads events from the log, in its order; one thread uses it, through a connection that may be read-only.
package struct EventReader {
    private let reader: AuditReader

    package init(connection: any DatabaseConnection) {
        reader = AuditReader(connection: connection)
    }

    /// Some events, and where the next ones are.
    package struct Page: Sendable {
        /// In the order of the log.
        package var events: [ServiceEvent] = []
        /// The index of the first entry that was not examined.
        package var next: Int64
        /// Whether the log had more entries.
        package var hasMore = false
    }

    /// How many entries there are.
    package func size() throws(AuditReadError) -> Int64 { try reader.size() }

    /// Where to go on at that entry.
    package func cursor(at index: Int64) throws(AuditReadError) -> EventCursor {
        let before = try index > 0 ? reader.entry(index - 1) : nil
        return EventCursor(index: index, mark: before.map(EventCursor.mark(of:)))
    }

    /// Whether the log has the entry before that one, and it is the same that the caller has read.
    package func isOfThisLog(_ cursor: EventCursor) throws(AuditReadError) -> Bool {
        guard cursor.index > 0 else { return cursor.mark == nil }
        guard let before = try reader.entry(cursor.index - 1) else { return false }
        return cursor.mark == nil || cursor.mark == EventCursor.mark(of: before)
    }

    /// The events from an entry on.
    ///
    /// A page ends after `limit` events, with all events of the last entry, or after `mostEntries` entries.
    package func page(
        from first: Int64,
        limit: Int,
        mostEntries: Int = 8192,
        where isWanted: (ServiceEvent) -> Bool = { _ in true }
    ) throws(AuditReadError) -> Page {
        var derivation = EventDerivation()
        if first > 0, let before = try reader.entry(first - 1) { _ = try derivation.events(of: before, at: first - 1) }
        var page = Page(next: first)
        while page.next - first < mostEntries {
            let entries = try reader.page(from: page.next)
            for (index, entry) in entries {
                guard index == page.next else { throw .damaged(index: page.next) }
                guard page.events.count < limit else {
                    page.hasMore = true
                    return page
                }
                page.events += try derivation.events(of: entry, at: index).filter(isWanted)
                page.next = index + 1
            }
            if entries.count < AuditReader.pageEntries { return page }
        }
        page.hasMore = true
        return page
    }
}
