// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import JSON
package import Ledger
package import Storage
package import TransparencyLog

/// Answers queries over the log page by page, with the help of the index where there is one.
///
/// The index only says where to look: every entry is held against the query itself. Where the index has nothing to say,
/// be it that a run is missing, damaged, or not yet written, each entry is looked at, so a gap costs time and no answer.
/// Used by one thread, through a connection that only reads.
package struct AuditSearch {
    /// The maximum cost of one page, so that no query delays others for long: an entry that is looked at costs one
    /// step, and a run in which postings are looked up costs four.
    package static let standardSteps = 20_000

    private let reader: AuditReader
    private let tables: AuditIndexTables
    private let keys: IndexTermKeys?
    private let format: AuditIndexFormat
    private let tail: IndexRunBuilder?
    private let steps: Int
    /// What cursors are bound with.
    package let cursorKey: SipHashKey

    /// Looks into the log behind a connection.
    ///
    /// `tail` is what is known of the newest entries, which no stored run has; for `steps` see ``standardSteps``.
    package init(
        connection: any DatabaseConnection,
        format: AuditIndexFormat = .init(),
        tail: IndexRunBuilder? = nil,
        steps: Int = standardSteps
    ) throws(AuditReadError) {
        reader = AuditReader(connection: connection)
        tables = AuditIndexTables(connection: connection)
        self.format = format
        self.tail = tail
        self.steps = steps
        keys = try reading(tables.keys(format))
        cursorKey = try reading(tables.state()?.hashKey ?? .zero)
    }

    /// One page.
    ///
    /// `position` is where an earlier page of the same query ended, as its ``AuditPage/next`` says.
    package func page(_ query: AuditQuery, from position: Int64? = nil) throws(AuditReadError) -> AuditPage {
        var search = Progress(page: AuditPage(size: try reader.size()), steps: steps)
        var rest = try span(query, search.page.size)
        if let position {
            rest =
                query.order == .oldest
                ? max(position, rest.lowerBound)..<max(position, rest.upperBound)
                : min(position, rest.lowerBound)..<min(position, rest.upperBound)
        }
        while !rest.isEmpty {
            let run = format.run(of: query.order == .oldest ? rest.lowerBound : rest.upperBound - 1)
            let part = format.entries(ofRun: run).clamped(to: rest)
            guard try look(query, at: part, ofRun: run, &search) else { break }
            rest = query.order == .oldest ? part.upperBound..<rest.upperBound : rest.lowerBound..<part.lowerBound
        }
        return search.page
    }

    /// What a page has come to so far.
    private struct Progress {
        var page: AuditPage
        var steps: Int
    }

    /// The entries that the times of a query leave.
    private func span(_ query: AuditQuery, _ size: Int64) throws(AuditReadError) -> Range<Int64> {
        var (lower, upper) = (Int64(0), size)
        if let from = query.from { lower = try reader.firstIndex(at: from) }
        if let until = query.until { upper = min(size, try reader.firstIndex(at: until)) }
        return lower..<max(lower, upper)
    }

    /// Looks at what one run has; false when the page is to end.
    private func look(
        _ query: AuditQuery,
        at part: Range<Int64>,
        ofRun run: Int64,
        _ search: inout Progress
    ) throws(AuditReadError) -> Bool {
        let isOldest = query.order == .oldest
        guard search.steps > 0 else {
            search.page.next = isOldest ? part.lowerBound : part.upperBound
            return false
        }
        search.steps -= 4
        let first = format.entries(ofRun: run).lowerBound
        let offsets = try candidates(query, run).offsets(
            in: Int(part.lowerBound - first)..<Int(part.upperBound - first)
        )
        for offset in isOldest ? offsets : offsets.reversed() {
            let index = first + Int64(offset)
            guard search.steps > 0 else {
                search.page.next = isOldest ? index : index + 1
                return false
            }
            search.steps -= 1
            guard let entry = try reader.entry(index), let object = (try? JSONDocument(entry))?.root.object else {
                throw .damaged(index: index)
            }
            guard query.matches(object) else { continue }
            guard search.page.entries.count < query.limit else {
                search.page.next = isOldest ? index : index + 1
                return false
            }
            search.page.entries.append((index, entry))
        }
        return true
    }

    /// The entries of a run that may match, and perhaps others.
    private func candidates(_ query: AuditQuery, _ run: Int64) throws(AuditReadError) -> EntrySet {
        var candidates = EntrySet(from: 0, entriesPerRun: format.entriesPerRun)
        guard let keys else { return candidates }
        for (field, wanted) in query.fields {
            var found = EntrySet(none: format.entriesPerRun)
            for key in keys.keys(of: field, wanted) { found.formUnion(try entries(of: run, with: key, keys)) }
            candidates.formIntersection(found)
            if candidates.isEmpty { break }
        }
        return candidates
    }

    private func entries(
        of run: Int64,
        with key: UInt64,
        _ keys: IndexTermKeys
    ) throws(AuditReadError) -> EntrySet {
        do throws(StorageError) {
            if let set = try tables.part(of: run, for: key)?.entries(with: key, keys) { return set }
        } catch {
            if error.requiresReopening { throw .database(error) }
            // Damaged tables of the index are as good as none.
        }
        if let tail, tail.run == run, tail.keys == keys {
            var set = tail.entries(with: key)
            set.formUnion(EntrySet(from: tail.count, entriesPerRun: format.entriesPerRun))
            return set
        }
        return EntrySet(from: 0, entriesPerRun: format.entriesPerRun)
    }
}

extension AuditSearch {
    /// The conditions with a value that no entry has, of a query that found nothing: it may be mistyped.
    ///
    /// `page` is the last of the query's answer. A condition that takes more than a page to look for is left out.
    package func unknownConditions(
        of query: AuditQuery,
        after page: AuditPage
    ) throws(AuditReadError) -> [AuditQuery.Field] {
        guard page.entries.isEmpty, page.next == nil else { return [] }
        var unknown: [AuditQuery.Field] = []
        for field in AuditQuery.Field.named {
            guard let value = query.fields[field] else { continue }
            let found = try self.page(AuditQuery(fields: [field: value], limit: 1))
            if found.entries.isEmpty, found.next == nil { unknown.append(field) }
        }
        return unknown
    }
}

extension AuditQuery.Field {
    /// The fields with configured names: a search for a name that no entry has is probably a typo.
    package static let named: [AuditQuery.Field] = [.key, .caller, .bundle, .package, .product, .offer, .rule]
}

/// Some of the entries that match a query.
package struct AuditPage: Sendable {
    /// In the order of the query.
    package var entries: [(index: Int64, entry: [UInt8])] = []
    /// Where to go on: there may be more, even if this page has few or none.
    package var next: Int64?
    /// How many entries the log had.
    package let size: Int64

    init(size: Int64) {
        self.size = size
    }
}
