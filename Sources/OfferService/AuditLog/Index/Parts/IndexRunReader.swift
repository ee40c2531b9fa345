// SPDX-License-Identifier: Apache-2.0
import Ledger
import Storage
import TransparencyLog

/// Makes runs of the index from the log.
struct IndexRunReader {
    private let reader: AuditReader
    private let tables: AuditIndexTables
    private let keys: IndexTermKeys?
    private let format: AuditIndexFormat
    /// How many whole runs the log had at first.
    let wholeRuns: Int64

    init(_ connection: any DatabaseConnection, _ format: AuditIndexFormat) throws(AuditReadError) {
        reader = AuditReader(connection: connection)
        tables = AuditIndexTables(connection: connection)
        keys = try reading(tables.keys(format))
        self.format = format
        wholeRuns = format.run(of: try reader.size())
    }

    init(_ ledger: LedgerAccess, _ format: AuditIndexFormat) throws(AuditReadError) {
        try self.init(format, open: ledger.openForReading)
    }

    init(_ format: AuditIndexFormat, open: ConnectionOpener) throws(AuditReadError) {
        try self.init(reading(open()), format)
    }

    /// Whether there is an index that this program can write.
    var hasKeys: Bool { keys != nil }

    /// The whole runs that are not stored, in order; `each` is given what those come to that are.
    func missing(_ each: (LogUsage) -> Void) throws(AuditReadError) -> [Int64] {
        var missing: [Int64] = []
        for run in 0..<wholeRuns {
            if let usage = try stored(run) { each(usage) } else { missing.append(run) }
        }
        return missing
    }

    /// Whether runs are stored that the log does not have.
    func areTooMany() throws(AuditReadError) -> Bool {
        try reading(tables.last().map { $0 >= wholeRuns } ?? false)
    }

    /// What a run comes to, if that is stored.
    func stored(_ run: Int64) throws(AuditReadError) -> LogUsage? {
        do throws(StorageError) {
            return try tables.usage(of: run).flatMap(LogUsage.init)
        } catch {
            if error.requiresReopening { throw .database(error) }
            return nil
        }
    }

    /// The usage of a run, counted from the log after the end of `begun`; the run may be incomplete.
    func counted(_ run: Int64, from begun: IndexRunBuilder?) throws(AuditReadError) -> LogUsage? {
        var builder = begun
        if builder == nil { builder = try self.begun(run) }
        guard var builder else { return nil }
        while !builder.isFull, try read(into: &builder) {}
        return builder.usage
    }

    /// A run without entries as yet.
    func begun(_ run: Int64) throws(AuditReadError) -> IndexRunBuilder? {
        guard let keys else { return nil }
        let first = format.entries(ofRun: run).lowerBound
        return IndexRunBuilder(run: run, keys: keys, previous: first > 0 ? try reader.entry(first - 1) : nil)
    }

    /// A whole run; nil if the log does not have it.
    func built(_ run: Int64) throws(AuditReadError) -> IndexRunBuilder? {
        guard var builder = try begun(run) else { return nil }
        while !builder.isFull { guard try read(into: &builder) else { return nil } }
        return builder
    }

    /// Adds a page of the entries that come next, as many as there is room for; false if there are none.
    func read(into builder: inout IndexRunBuilder) throws(AuditReadError) -> Bool {
        let page = try page(from: builder.nextEntry)
        for (index, entry) in page where !builder.isFull {
            let expected = builder.nextEntry
            guard index == expected, builder.add(entry.span) else { throw .damaged(index: expected) }
        }
        return !page.isEmpty
    }

    /// Some of the entries from an index on, with their indices; none if the log ends there.
    func page(from index: Int64) throws(AuditReadError) -> [(index: Int64, entry: [UInt8])] {
        try reader.page(from: index)
    }
}
