// SPDX-License-Identifier: Apache-2.0
package import Ledger
package import ServiceRuntime
import Storage
package import TransparencyLog

/// Rebuilds the index from the log, or compares it with the log, whether or not the service runs.
package struct AuditIndexMaintenance {
    private let connection: any DatabaseConnection
    private let format: AuditIndexFormat
    private let progress: ProgressReport

    /// `progress` gets the number of runs done, and of all runs.
    package init(
        _ ledger: LedgerAccess,
        format: AuditIndexFormat = .init(),
        progress: @escaping ProgressReport = { _, _ in }
    ) throws(AuditReadError) {
        connection = try reading(ledger.open())
        self.format = format
        self.progress = progress
    }

    /// A difference between the stored index and the log.
    package enum Difference: Hashable, Sendable, CustomStringConvertible {
        case unreadable
        case missing(run: Int64, entries: Range<Int64>)
        case damaged(run: Int64, entries: Range<Int64>)
        case tooMany(run: Int64)

        /// A sentence that names the run and its entries.
        package var description: String {
            switch self {
            case .unreadable: "The index is missing or of another version."
            case .missing(let run, let entries): "Run \(run) is missing (entries \(Self.text(entries)))."
            case .damaged(let run, let entries): "Run \(run) is not what the log says (entries \(Self.text(entries)))."
            case .tooMany(let run): "Run \(run) is stored, and the log does not have its entries."
            }
        }

        private static func text(_ entries: Range<Int64>) -> String {
            "\(entries.lowerBound) to \(entries.upperBound - 1)"
        }
    }

    /// Recomputes every run and compares it with the stored one; returns the number of runs, and each difference.
    package func compare() throws(AuditReadError) -> (runs: Int64, differences: [Difference]) {
        let runs = try IndexRunReader(connection, format)
        guard runs.hasKeys else { return (runs.wholeRuns, [.unreadable]) }
        let tables = AuditIndexTables(connection: connection)
        var differences: [Difference] = []
        for run in 0..<runs.wholeRuns {
            progress(run, runs.wholeRuns)
            guard let stored = try reading(tables.stored(run)) else {
                differences.append(.missing(run: run, entries: format.entries(ofRun: run)))
                continue
            }
            if try runs.built(run)?.sealed() != stored {
                differences.append(.damaged(run: run, entries: format.entries(ofRun: run)))
            }
        }
        if let last = try reading(tables.last()), last >= runs.wholeRuns { differences.append(.tooMany(run: last)) }
        return (runs.wholeRuns, differences)
    }

    /// Rebuilds every run, one transaction each, and returns the number of runs.
    ///
    /// Queries are answered meanwhile. A readable index keeps its key, because the service may be using it.
    package func rebuild() throws(AuditReadError) -> Int64 {
        let tables = AuditIndexTables(connection: connection)
        try change { () throws(StorageError) in try tables.renewStateUnlessReadable() }
        let runs = try IndexRunReader(connection, format)
        for run in 0..<runs.wholeRuns {
            progress(run, runs.wholeRuns)
            guard let built = try runs.built(run)?.sealed() else {
                throw .damaged(index: format.entries(ofRun: run).lowerBound)
            }
            try change { () throws(StorageError) in try tables.store(built) }
        }
        try change { () throws(StorageError) in
            // The log may have grown, and the service may have stored what it grew by.
            let last = SQL("SELECT max(entry_index) FROM audit_entries")
            let size = (try connection.first(last) { $0.optionalInteger(0) } ?? nil).map { $0 + 1 } ?? 0
            try tables.remove(from: format.run(of: size))
        }
        return runs.wholeRuns
    }

    private func change(_ body: () throws(StorageError) -> Void) throws(AuditReadError) {
        try reading(connection.transaction(body))
    }
}
