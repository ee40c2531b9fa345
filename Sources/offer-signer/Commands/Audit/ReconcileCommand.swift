// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import OfferService
import ServiceRuntime
import Storage

/// `offer-signer audit reconcile`: compares what the stores reported with what is on record, for people to read.
enum ReconcileCommand {
    static let options = ["--from", "--until", "--environment"]
    static let flags = ["--recompute"]

    /// Exit code 1 if an offer was redeemed without a grant or by another account, or if a recomputation differs.
    static func run(_ arguments: Arguments, _ ledger: LedgerAccess) throws(CommandError) -> ExitCode {
        let query = try query(arguments)
        let settings = arguments.flags.contains("--recompute") ? try SettingsOptions.settings(arguments) : nil
        // Before anything is digested: memory that is to hold keys has to be set up first.
        if let settings { try KeyCustody.begin(admitsUnlockedMemory: settings.admitsUnlockedMemory) }
        let loaded = try settings.map { settings throws(CommandError) in try load(settings, ledger) }
        let report = try read(ledger) { connection throws(StorageError) in
            try ReconciliationReader(connection: connection).report(query, at: WallClock.system.now())
        }
        for line in lines(report) { Terminal.say(line) }
        let (call, count) = (AuditCall.reconcileCommand, report.entries)
        let read = RecordedRead(caller: nil, call: call, conditions: query.conditions, count: count)
        try AuditCommand.record(.records(.read(read)), in: ledger)
        guard let loaded else { return report.isAlarming ? .failure : .success }
        let isSame = try recompute(loaded, ledger)
        return report.isAlarming || !isSame ? .failure : .success
    }

    private static func query(_ arguments: Arguments) throws(CommandError) -> ReconciliationQuery {
        let instant = TimeArgument.expected
        let until = try arguments.value("--until", expecting: instant, TimeArgument.parse) ?? WallClock.system.now()
        let from = try arguments.value("--from", expecting: instant, TimeArgument.parse)
        var query = ReconciliationQuery(from: from ?? until.adding(days: -ReconciliationQuery.usualDays), until: until)
        guard query.from <= query.until else { throw CommandError(usage: "--from must not be after --until") }
        let environment = try arguments.value(
            "--environment",
            expecting: "production or sandbox",
            StoreEnvironment.init(rawValue:)
        )
        query.environment = environment ?? .production
        return query
    }

    private static func read<Value>(
        _ ledger: LedgerAccess,
        _ body: (any DatabaseConnection) throws(StorageError) -> Value
    ) throws(CommandError) -> Value {
        try LedgerOptions.demand(ledger)
        do throws(StorageError) {
            return try body(try ledger.openForReading())
        } catch {
            throw CommandError(error.description, .unavailable)
        }
    }

    /// What a recomputation needs, read before anything is said.
    private static func load(_ settings: Settings, _ ledger: LedgerAccess) throws(CommandError) -> LoadedConfiguration {
        let loaded: LoadedConfiguration
        do { loaded = try LoadedConfiguration(settings) } catch { throw CommandError(error) }
        let issues = try read(ledger) { _ throws(StorageError) in try loaded.secretIssues(in: ledger) }
        if !issues.isEmpty { throw CommandError(ConfigurationError(issues)) }
        return loaded
    }

    /// Whether everything is kept as it is computed.
    private static func recompute(_ loaded: LoadedConfiguration, _ ledger: LedgerAccess) throws(CommandError) -> Bool {
        let outcome = try read(ledger) { connection throws(StorageError) in
            try ReconciliationCheck(
                connection: connection,
                catalog: loaded.catalog,
                pseudonyms: loaded.keys.pseudonyms
            ).run()
        }
        Terminal.say("")
        if outcome.differing.isEmpty {
            Terminal.say("Computed again from all evidence: the same for all \(outcome.compared) uses.")
            return true
        }
        Terminal.say("Computed again from all evidence: \(outcome.differing.count) subscriptions differ.")
        for key in outcome.differing.prefix(100) { Terminal.say("  chain or purchase \(key)") }
        Terminal.say("If the offers file has not changed since, something was changed in the database.")
        return false
    }

    // MARK: - Text

    private static func lines(_ report: ReconciliationReport) -> [String] {
        let query = report.query
        let span = "From \(query.from.rfc3339) until \(query.until.rfc3339), \(query.environment.rawValue)."
        return [span, ""]
            + list(
                "Redeemed without a record",
                count: report.uses[.ungranted] ?? 0,
                items: report.withoutRecord.map(line)
            )
            + list(
                "Redeemed by a different account than granted to",
                count: report.uses[.otherAccount] ?? 0,
                items: report.byAnotherAccount.map(line)
            )
            + [
                "Redeemed as granted: \(report.uses[.granted] ?? 0)",
                "Redeemed before the catalog had the offer: \(report.uses[.earlier] ?? 0)",
            ]
            + unused(report)
    }

    private static func unused(_ report: ReconciliationReport) -> [String] {
        let count = report.settled.reduce(0) { $0 + $1.neverRedeemed }
        let grants = report.neverRedeemed.map { grant in
            "\(grant.grantedAt.rfc3339)  \(name(grant.place))  \(grant.productID)  \(grant.offerID)  "
                + "grant \(grant.grantID)  entry \(grant.entryIndex)"
        }
        let silent = report.settled.filter { $0.notReported > 0 }.map { app in
            let last = app.lastReportAt.map { "last report at \($0.rfc3339)" } ?? "no report yet"
            return "\(name(app.place)): \(app.notReported) grants, \(last)"
        }
        let unknown = report.settled.reduce(0) { $0 + $1.notReported }
        return list("Granted until \(report.settledUntil.rfc3339) and never redeemed", count: count, items: grants)
            + ["Granted, and not known whether redeemed, because the store has reported nothing since: \(unknown)"]
            + silent.map { "  \($0)" }
    }

    private static func list(_ title: String, count: Int, items: [String]) -> [String] {
        let more = count > items.count ? ["  and \(count - items.count) more; choose a shorter span"] : []
        return ["\(title): \(count)"] + items.map { "  \($0)" } + more
    }

    private static func line(_ use: ReconciliationReport.Use) -> String {
        let grant = use.grantID.map { "  grant \($0)" } ?? ""
        return "\(use.redeemedAt.rfc3339)  \(name(use.place))  \(use.productID)  \(use.offerID)  \(use.state)\(grant)"
            + "  entry \(use.entryIndex)"
    }

    private static func name(_ place: ReconciliationReport.AppInStore) -> String {
        "\(place.store) \(place.app)"
    }
}
