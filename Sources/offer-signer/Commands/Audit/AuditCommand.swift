// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
import Ledger
import OfferDomain
import OfferService
import ServiceRuntime
import Storage
import TransparencyLog

/// `offer-signer audit`.
enum AuditCommand: Command {
    static let name = "audit"
    static let summary = "query, export, verify and reconcile what is on record"
    static var help: String {
        """
        offer-signer audit reads the audit log: every signature, every refusal by a rule, every event of a key
        or of the service. It may run beside the service.

        Usage:
          offer-signer audit query [CONDITIONS] [--order oldest|newest] [--limit N] [--format ndjson|csv|table]
          offer-signer audit export [--from-index N] [--format ndjson|csv] | --tiles DIR
          offer-signer audit proof --index N | --nonce TEXT | --digest TEXT
          offer-signer audit find --answer FILE [--public-key FILE]
          offer-signer audit find --jws JWS
          offer-signer audit find --bundle-id ID --product-id ID --offer-id ID --key-id ID --nonce UUID
                                  --timestamp MILLISECONDS --signature BASE64
                                  [--app-account-token UUID | --application-username TEXT] [--public-key FILE]
          offer-signer audit index --compare | --rebuild
          offer-signer audit reconcile [--from TIME] [--until TIME] [--environment E] [--recompute]
          offer-signer audit verify [--key VKEY] [--checkpoint FILE]… [--tiles DIR]
          offer-signer audit key
          offer-signer audit new-log --origin NAME

        query prints the entries for which all conditions hold, one JSON object a line, with their index. It uses the
        service's index if there is one, and otherwise reads every entry.
        export prints every entry exactly as it is stored, one a line, and with --format its index too. With --tiles it
        writes the log into a folder for verifiers (C2SP tlog-tiles); existing files are compared and not overwritten.
        proof prints the proof that an entry is in the log, with the checkpoint that it leads to (C2SP
        tlog-proof). All of them record that they did: what was asked for, and how many entries were given.
        find prints the entry of a signature. --answer takes the service's answer as it is, and --jws a JWS; otherwise
        give what the app received and attached. With the key's public half in PEM, find also says whether the signature
        verifies. It exits with 1 if there is no record.
        index compares the index with the log, and exits with 1 if they differ; or rebuilds it. The service may
        keep running.

        reconcile compares what the stores reported with what was granted, in the last 30 days; it ends with 1 if an
        offer was redeemed without a record, or by another account. --recompute computes everything again and
        reports what is stored differently; it reads the keys and offers too.

        \(logHelp)

        Conditions:
          --from TIME, --until TIME   such as 2026-11-21T08:00:00Z, 2026-11-21 (from 00:00 UTC), today, yesterday, or -24h
                                      (also s, m, d, w: ago); until is not included
          --reason CODE               of decisions: why, such as cooldown-running (docs/rules.md has the codes)
          --exclude EVENT[,EVENT]…    without these events, such as audit.read,audit.fetch
        \(AuditQuery.Field.allCases.map { "  --\($0.rawValue) TEXT" }.joined(separator: "\n"))

        Who used key K for offer O between T1 and T2:
          offer-signer audit query --event sign.intent --key K --offer O --from T1 --until T2

        \(SettingsOptions.help([.database, .keys, .offers, .checkpointFile, .groupReadableSecrets, .unlockedMemory]))
        """
    }

    static let subcommands = [
        "query": ["--from", "--until", "--limit", "--order", "--format"]
            + AuditQuery.Field.allCases.map { "--\($0.rawValue)" } + ["--reason", "--exclude"],
        "export": ["--from-index", "--format", "--tiles"],
        "proof": ["--index", "--nonce", "--digest"],
        "find": signatureOptions,
        "index": ["--compare", "--rebuild"],
        "reconcile": ReconcileCommand.options + ReconcileCommand.flags,
        "key": [],
        "verify": ["--key", "--checkpoint", "--tiles"],
        "new-log": ["--origin"],
    ]

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(
            arguments,
            subcommands: subcommands,
            flags: ReconcileCommand.flags + ["--compare", "--rebuild"]
        )
        let ledger = LedgerAccess(location: try SettingsOptions.settings(parsed).database, clock: .system)
        if let word = parsed.words.first, subcommands[word] != nil { _ = try parsed.words(word) }
        switch parsed.words.first {
        case "query": try show(try query(parsed), try queryOutput(parsed), of: ledger)
        case "export": try export(parsed, of: ledger)
        case "find": return try find(parsed, in: ledger)
        case "index": return try maintainIndex(parsed, of: ledger)
        case "reconcile": return try ReconcileCommand.run(parsed, ledger)
        case "verify": try verify(parsed)
        case "key": try printVerifierKey(parsed)
        case "new-log": try newLog(parsed)
        case "proof": try prove(parsed, ledger)
        default:
            throw parsed.unknownSubcommand(of: [
                "query", "export", "proof", "find", "index", "reconcile", "verify", "key", "new-log",
            ])
        }
        return .success
    }

    private static func query(_ arguments: Arguments) throws(CommandError) -> AuditQuery {
        let instant = TimeArgument.expected
        var query = AuditQuery()
        query.from = try arguments.value("--from", expecting: instant, TimeArgument.parse)
        query.until = try arguments.value("--until", expecting: instant, TimeArgument.parse)
        if let from = query.from, let until = query.until, from > until {
            throw CommandError(usage: "--from must not be after --until")
        }
        query.limit = try arguments.value("--limit", expecting: "a whole number") { Int($0) } ?? .max
        query.order =
            try arguments.value("--order", expecting: "oldest or newest", AuditQuery.Order.init(rawValue:)) ?? .oldest
        query.reason = try arguments.value(
            "--reason",
            expecting: "a code of docs/rules.md, like cooldown-running",
            FindingCode.init
        )
        query.excludedEvents = try excludedEvents(arguments)
        for field in AuditQuery.Field.allCases {
            query.fields[field] = try arguments.value("--\(field.rawValue)")
            guard let value = query.fields[field], let fault = AuditQuery.fault(of: value, in: field) else { continue }
            throw CommandError(usage: "--\(field.rawValue): \(fault)")
        }
        return query
    }

    /// The events that are left out: names with commas between.
    private static func excludedEvents(_ arguments: Arguments) throws(CommandError) -> Set<AuditEventName> {
        guard let text = try arguments.value("--exclude"), !text.isEmpty else { return [] }
        var events: Set<AuditEventName> = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            if let fault = AuditEventName.fault(of: name) { throw CommandError(usage: "--exclude: \(fault)") }
            if let event = AuditEventName(rawValue: name) { events.insert(event) }
        }
        return events
    }

    private static func export(_ arguments: Arguments, of ledger: LedgerAccess) throws(CommandError) {
        guard let folder = try arguments.value("--tiles") else {
            let first = try arguments.value("--from-index", expecting: "a whole number from 0", Int64.init) ?? 0
            guard first >= 0 else { throw CommandError(usage: "--from-index: expected a whole number from 0") }
            return try export(from: first, as: try format(arguments), of: ledger)
        }
        if let other = ["--from-index", "--format"].first(where: { !arguments.values($0).isEmpty }) {
            throw CommandError(usage: "--tiles writes the whole log into a folder, without \(other)")
        }
        try exportTiles(to: folder, of: ledger)
    }

    private static func format(
        _ arguments: Arguments,
        _ expected: String = "ndjson or csv"
    ) throws(CommandError) -> AuditFormat? {
        try arguments.value("--format", expecting: expected) { $0 == "json" ? nil : AuditFormat(rawValue: $0) }
    }

    private static func queryOutput(_ arguments: Arguments) throws(CommandError) -> QueryOutput {
        if try arguments.value("--format") == "table" { return .table }
        return .format(try format(arguments, "ndjson, csv or table") ?? .ndjson)
    }

    /// How the answer to a query is written.
    private enum QueryOutput {
        case format(AuditFormat)
        case table

        var head: [UInt8] {
            switch self {
            case .format(let format): format.head
            case .table: Array((EntryRow.header + "\n").utf8)
            }
        }

        func lines(of page: AuditPage) -> [UInt8] {
            var lines: [UInt8] = []
            for (index, entry) in page.entries {
                switch self {
                case .format(let format): format.append(index, entry, to: &lines)
                case .table: lines += Array((EntryRow(index, entry).line + "\n").utf8)
                }
            }
            return lines
        }
    }

    private static func show(
        _ query: AuditQuery,
        _ output: QueryOutput,
        of ledger: LedgerAccess
    ) throws(CommandError) {
        try LedgerOptions.demand(ledger)
        var count = 0
        Terminal.say(bytes: output.head)
        do {
            let search = try AuditSearch(connection: try ledger.openForReading())
            count = try pages(of: query, in: search) { page in
                Terminal.say(bytes: output.lines(of: page))
            }
            if count == 0 { try complainOfUnknownNames(query, search) }
        } catch let error as AuditReadError {
            throw CommandError(error.description, .unavailable)
        } catch {
            throw CommandError("\(error)", .unavailable)
        }
        try record(
            .records(.read(RecordedRead(caller: nil, call: .queryCommand, conditions: query.conditions, count: count))),
            in: ledger
        )
    }

    /// Warns of each name of a query that found nothing if no entry has it.
    private static func complainOfUnknownNames(_ query: AuditQuery, _ search: AuditSearch) throws(AuditReadError) {
        let lists: [AuditQuery.Field: String] = [.key: " (keys list)", .caller: " (callers list)"]
        for field in AuditQuery.Field.named {
            guard let value = query.fields[field],
                try pages(of: AuditQuery(fields: [field: value], limit: 1), in: search, { _ in }) == 0
            else { continue }
            Terminal.complain(
                "no entry names \(field == .offer ? "an" : "a") \(field.rawValue) “\(value)”: it may be mistyped\(lists[field] ?? "")"
            )
        }
    }

    /// Gives the answer page by page.
    ///
    /// - Returns: How many entries it had.
    private static func pages(
        of query: AuditQuery,
        in search: AuditSearch,
        _ each: (AuditPage) -> Void
    ) throws(AuditReadError) -> Int {
        var (count, position): (Int, Int64?) = (0, nil)
        repeat {
            var asked = query
            asked.limit = min(query.limit - count, 500)
            let page = try search.page(asked, from: position)
            each(page)
            count += page.entries.count
            position = page.next
        } while position != nil && count < query.limit
        return count
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

    static func reader(of ledger: LedgerAccess) throws(CommandError) -> AuditReader {
        try LedgerOptions.demand(ledger)
        do {
            return AuditReader(connection: try ledger.openForReading())
        } catch {
            throw CommandError(error.description, .unavailable)
        }
    }

    private static func export(
        from first: Int64,
        as format: AuditFormat?,
        of ledger: LedgerAccess
    ) throws(CommandError) {
        let reader = try reader(of: ledger)
        let size: Int64
        do { size = try reader.size() } catch { throw CommandError(error.description, .unavailable) }
        guard first <= size else {
            throw CommandError(
                "The log has \(size) entries, and --from-index \(first) is beyond them: if there were more once, it has lost some.",
                .failure
            )
        }
        var count: Int64 = 0
        var lines = format?.head ?? []
        let progress = Progress("exported", "entries")
        defer { progress.end() }
        do {
            try reader.readEntries(matching: AuditQuery(), from: first) { index, entry, object in
                if let format { format.append(index, entry, read: object, to: &lines) } else { lines += entry + [0x0A] }
                count += 1
                // Many lines at once: each is a system call otherwise.
                if lines.count >= 65_536 {
                    Terminal.say(bytes: lines)
                    lines.removeAll(keepingCapacity: true)
                    progress.update(count, of: size - first)
                }
            }
        } catch {
            Terminal.say(bytes: lines)
            throw CommandError(error.description, .unavailable)
        }
        Terminal.say(bytes: lines)
        progress.end()
        try record(.records(.exported(from: first, count: count)), in: ledger)
    }
}
