// SPDX-License-Identifier: Apache-2.0
import Ledger
import OfferService
import Storage
import TransparencyLog

extension AuditCommand {
    /// `offer-signer audit export --tiles DIR`.
    static func exportTiles(to folder: String, of ledger: LedgerAccess) throws(CommandError) {
        let log = try log(of: ledger)
        let checkpoint = try read { () throws(AuditReadError) in try log.storedCheckpoint() }
        let report: LogExport.Report
        do throws(LogExportError) {
            let progress = Progress("exported", "entries")
            defer { progress.end() }
            report = try LogExport(reader: log, folder: folder) { progress.update($0, of: $1) }.write(checkpoint)
        } catch {
            throw CommandError(error.description, error.isOfFolder ? .failure : .unavailable)
        }
        try record(.records(.exported(from: 0, count: report.size)), in: ledger)
        Terminal.say(
            "\(report.size) entries in \(folder): \(report.written) files written, \(report.compared) compared"
        )
    }

    /// `offer-signer audit proof`.
    static func prove(_ arguments: Arguments, _ ledger: LedgerAccess) throws(CommandError) {
        let log = try log(of: ledger)
        let index = try index(arguments, ledger)
        let size = try read { () throws(AuditReadError) in try log.head().size }
        guard 0..<size ~= index else {
            throw CommandError("there is no entry \(index); the log has \(size)")
        }
        let checkpoint = try read { () throws(AuditReadError) in try log.storedCheckpoint() }
        guard let checkpoint, index < checkpoint.head.size else {
            throw CommandError("no checkpoint covers entry \(index) yet; the service signs one within a second")
        }
        let proof = try read { () throws(AuditReadError) in try log.proof(of: index, under: checkpoint) }
        Terminal.say(String(decoding: proof.dropLast(), as: UTF8.self))
        let condition = AuditCondition("index", String(index))
        try record(
            .records(.read(RecordedRead(caller: nil, call: .proofCommand, conditions: [condition], count: 1))),
            in: ledger
        )
    }

    /// The one entry that the options name.
    private static func index(_ arguments: Arguments, _ ledger: LedgerAccess) throws(CommandError) -> Int64 {
        let index = try arguments.value("--index", expecting: "a whole number") { Int64($0) }
        var query = AuditQuery(limit: 16)
        for field in [AuditQuery.Field.nonce, .digest] {
            query.fields[field] = try arguments.value("--\(field.rawValue)")
        }
        if let index, query.fields.isEmpty { return index }
        guard index == nil, query.fields.count == 1 else {
            throw CommandError(usage: "expected one of --index, --nonce and --digest")
        }
        var found: [Int64] = []
        let reader = try reader(of: ledger)
        try read { () throws(AuditReadError) in try reader.entries(matching: query) { index, _ in found.append(index) }
        }
        guard let first = found.first else { throw CommandError("no entry has that") }
        guard found.count == 1 else {
            let list = found.map(String.init).joined(separator: ", ")
            throw CommandError("the entries \(list) have that; name one of them with --index")
        }
        return first
    }

    private static func log(of ledger: LedgerAccess) throws(CommandError) -> LogReader {
        try LedgerOptions.demand(ledger)
        do { return LogReader(connection: try ledger.openForReading()) } catch {
            throw CommandError(error.description, .unavailable)
        }
    }

    private static func read<Value>(
        _ body: () throws(AuditReadError) -> Value
    ) throws(CommandError) -> Value {
        do { return try body() } catch { throw CommandError(error.description, .unavailable) }
    }
}
