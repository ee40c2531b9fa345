// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import Storage

/// `offer-signer audit`.
enum AuditCommand: Command {
    static let name = "audit"
    static let summary = "query, export and reconcile what is on record"
    static var help: String {
        """
        offer-signer audit reads the audit log: every signature, every refusal by a rule, every event of a key
        or of the service. It may run beside the service.

        Usage:
          offer-signer audit query [CONDITIONS] [--limit N]
          offer-signer audit export [--from-index N]
          offer-signer audit reconcile [--from TIME] [--until TIME] [--environment E] [--recompute]

        query prints the entries for which all conditions hold, one JSON object a line, with their index.
        export prints every entry exactly as it is stored, one a line. Both record that they did: what was asked for,
        and how many entries were given.

        reconcile compares what the stores told with what was granted, in the last 30 days; it ends with 1 if an
        offer was redeemed without a record, or by another account. --recompute computes everything anew and says
        what is kept otherwise; it reads the keys and offers too.

        Conditions:
          --from TIME, --until TIME   RFC 3339, as 2026-11-21T08:00:00Z; until is not included
        \(AuditQuery.Field.allCases.map { "  --\($0.rawValue) TEXT" }.joined(separator: "\n"))

        Who used key K for offer O between T1 and T2:
          offer-signer audit query --event sign.intent --key K --offer O --from T1 --until T2

        \(SettingsOptions.help([.database]))
        """
    }

    private static let options =
        ["--from", "--until", "--limit", "--from-index"] + AuditQuery.Field.allCases.map { "--\($0.rawValue)" }

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        // A condition comes before the setting of the same name.
        let names = SettingsOptions.names.filter { !options.contains($0) }
        let parsed = try Arguments(
            arguments,
            known: names + options + ReconcileCommand.options.filter { !options.contains($0) },
            flags: ReconcileCommand.flags
        )
        let ledger = LedgerAccess(location: try SettingsOptions.settings(parsed).database, clock: .system)
        switch parsed.words.first {
        case "query":
            _ = try parsed.words("query")
            try show(try query(parsed), of: ledger)
        case "export":
            _ = try parsed.words("export")
            let first = try parsed.value("--from-index", "a whole number") { Int64($0) } ?? 0
            try export(from: first, of: ledger)
        case "reconcile":
            _ = try parsed.words("reconcile")
            return try ReconcileCommand.run(parsed, ledger)
        default: throw CommandError(usage: "expected query, export or reconcile")
        }
        return .success
    }

    private static func query(_ arguments: Arguments) throws(CommandError) -> AuditQuery {
        let instant = "a time as RFC 3339 writes it, like 2026-11-21T08:00:00Z"
        var query = AuditQuery()
        query.from = try arguments.value("--from", instant, Timestamp.init(rfc3339:))
        query.until = try arguments.value("--until", instant, Timestamp.init(rfc3339:))
        query.limit = try arguments.value("--limit", "a whole number") { Int($0) } ?? .max
        for field in AuditQuery.Field.allCases {
            query.fields[field] = try arguments.value("--\(field.rawValue)")
        }
        return query
    }

    private static func show(_ query: AuditQuery, of ledger: LedgerAccess) throws(CommandError) {
        let reader = try reader(of: ledger)
        var count = 0
        do {
            try reader.entries(matching: query) { index, entry in
                Terminal.say("{\"index\":\(index),\"entry\":\(String(decoding: entry, as: UTF8.self))}")
                count += 1
            }
        } catch {
            throw CommandError(error.description, .unavailable)
        }
        try record(
            .recordsRead(AuditRead(caller: nil, call: .queryCommand, conditions: query.conditions, count: count)),
            in: ledger
        )
    }

    /// Records what was read; the log must be readable also where it can't be written, so that only exits with 3.
    static func record(_ event: AuditEvent, in ledger: LedgerAccess) throws(CommandError) {
        do throws(LedgerChangeError<Never>) {
            try ledger.change { _ in [event] }
        } catch {
            guard case .ledger(let error) = error else { return }
            throw CommandError(
                "what is printed is complete, but that it was read could not be recorded: \(error)",
                .unavailable
            )
        }
    }

    private static func reader(of ledger: LedgerAccess) throws(CommandError) -> AuditReader {
        do {
            return AuditReader(connection: try ledger.openForReading())
        } catch {
            throw CommandError(error.description, .unavailable)
        }
    }

    private static func export(from first: Int64, of ledger: LedgerAccess) throws(CommandError) {
        var count: Int64 = 0
        let reader = try reader(of: ledger)
        do {
            try reader.entries(matching: AuditQuery(), from: first) { _, entry in
                Terminal.say(String(decoding: entry, as: UTF8.self))
                count += 1
            }
        } catch {
            throw CommandError(error.description, .unavailable)
        }
        try record(.recordsExported(from: first, count: count), in: ledger)
    }
}
