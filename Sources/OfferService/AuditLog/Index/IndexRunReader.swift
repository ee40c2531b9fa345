// SPDX-License-Identifier: Apache-2.0
import JSON
import Storage

/// Makes runs of the index from the log.
struct IndexRunReader {
    private let reader: AuditReader
    private let tables: AuditIndexTables
    private let keys: IndexTermKeys?
    private let format: AuditIndexFormat
    /// How many whole runs the log had at first.
    let wholeRuns: Int64

    init(_ ledger: LedgerAccess, _ format: AuditIndexFormat) throws(AuditReadError) {
        do throws(StorageError) {
            let connection = try ledger.openForReading()
            reader = AuditReader(connection: connection)
            tables = AuditIndexTables(connection: connection)
            keys = try tables.keys(format)
        } catch {
            throw .database(error)
        }
        self.format = format
        wholeRuns = format.run(of: try reader.size())
    }

    /// Whether there is an index that this program can write.
    var hasKeys: Bool { keys != nil }

    /// The whole runs that are not stored, in order; `each` is given what those come to that are.
    func missing(_ each: (LogUsage) -> Void) throws(AuditReadError) -> [Int64] {
        var missing: [Int64] = []
        do throws(StorageError) {
            for run in 0..<wholeRuns {
                if let usage = try tables.usage(of: run).flatMap(LogUsage.init) {
                    each(usage)
                } else {
                    missing.append(run)
                }
            }
        } catch {
            throw .database(error)
        }
        return missing
    }

    /// Whether runs are stored that the log does not have.
    func areTooMany() throws(AuditReadError) -> Bool {
        do { return try tables.last().map { $0 >= wholeRuns } ?? false } catch { throw .database(error) }
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
        while !builder.isFull {
            let page = try objects(from: builder.nextEntry)
            guard !page.isEmpty else { return nil }
            for entry in page where !builder.isFull { builder.add(entry) }
        }
        return builder
    }

    /// Entries from an index on, without a gap.
    func objects(from first: Int64) throws(AuditReadError) -> [JSONObject] {
        var objects: [JSONObject] = []
        for (index, entry) in try reader.page(from: first) {
            let expected = first + Int64(objects.count)
            guard index == expected, let object = (try? JSONDocument(entry))?.root.object else {
                throw .damaged(index: expected)
            }
            objects.append(object)
        }
        return objects
    }
}
