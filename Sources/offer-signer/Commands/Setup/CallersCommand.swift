// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Ledger
import OfferDomain
import OfferService
import ServiceRuntime
import Storage

/// `offer-signer callers`.
enum CallersCommand: Command {
    static let name = "callers"
    static let summary = "add, list and revoke who may call"
    static var help: String {
        """
        offer-signer callers says who may call the service. Changes are in force within a second, without a
        restart, and each is recorded in the audit log.

        Usage:
          offer-signer callers add NAME --role ROLE [--bundle BUNDLE_ID]… [--certificate FILE] [--expires-days N]
                                   [--rate RATE] [--create]
          offer-signer callers add-key NAME [--certificate FILE | --sdk-key KEY] [--expires-days N]
          offer-signer callers list [--format table]
          offer-signer callers revoke NAME [--key KEY_ID]

        NAME is 1 to 64 of a-z 0-9 . _ -, and is in every record.
        ROLE is app (a client on a customer's device), backend (the team's server; trusted in what it states
        about customers), auditor (reads the log) or admin (also acts on keys).
        Without --bundle the caller may ask for every app.
        RATE is how often an app or a backend may ask:
        \(RateLimit.expected).
        Without it, a backend may ask as often as it likes, and an app as the service's --app-rate says.

        add and add-key print the API key, ID.SECRET, once; only its SHA-256 is stored. To rotate a key, add
        a second one, move the caller over, then revoke the first: two may be live at a time.

        --certificate takes a client certificate (PEM) in place of an API key, until it expires: requests over TLS with
        that certificate need no header Authorization (RFC 8705). Its issuer is not checked. For the role backend alone.

        add-key --sdk-key lets the public key of another vendor's SDK, such as appl_… of RevenueCat, stand for a
        caller of role app with --bundle, on the calls below /compat. KEY is 8 to 128 visible ASCII characters.

        Where there is no database yet, add makes one if it is named (--database or OFFER_SIGNER_DATABASE), if the keys
        file lies in the working directory, or with --create; it says so on standard error. Otherwise it refuses, and
        so do the other subcommands: a service elsewhere would never know the caller.

        \(SettingsOptions.help([.database]))
        """
    }

    static let subcommands = [
        "add": ["--role", "--bundle", "--certificate", "--expires-days", "--rate", "--create"],
        "add-key": ["--certificate", "--expires-days", "--sdk-key"],
        "list": [ListFormat.option],
        "revoke": ["--key"],
    ]

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, subcommands: subcommands, flags: ["--create"])
        try KeyCustody.begin(admitsUnlockedMemory: true)
        switch parsed.words.first {
        case "list": return try list(parsed, try known(parsed))
        case "add": return try add(parsed, try LedgerOptions.access(parsed))
        case "add-key": return try addKey(parsed, try known(parsed))
        case "revoke": return try revoke(parsed, try known(parsed))
        default: throw parsed.unknownSubcommand(of: ["add", "add-key", "list", "revoke"])
        }
    }

    /// The callers of an existing database: a database that is made only now would have none.
    private static func known(_ arguments: Arguments) throws(CommandError) -> Callers {
        let ledger = try LedgerOptions.access(arguments)
        try LedgerOptions.demand(ledger)
        return Callers(ledger: ledger, clock: .system)
    }

    private static func add(_ arguments: Arguments, _ ledger: LedgerAccess) throws(CommandError) -> ExitCode {
        let caller = try caller(arguments)
        let expiresInDays = try days(arguments)
        let isNew = !ledger.exists
        if isNew { try demandOwnPlace(arguments, ledger) }
        let callers = Callers(ledger: ledger, clock: .system)
        let certificate = try certificate(arguments)
        let code =
            if let certificate {
                show(callers.add(caller, certificate, expiresInDays: expiresInDays), of: caller.id)
            } else {
                show(callers.add(caller, expiresInDays: expiresInDays))
            }
        // The user who adds a caller may have no right to read the files; then `check` reports the issues.
        if let catalog = try? CatalogFile.read(SettingsOptions.settings(arguments).offersPath) {
            for issue in catalog.issues(of: [caller]) { Terminal.complain("\(issue)") }
        }
        // Not on standard output, where the key goes.
        if isNew, ledger.exists { Terminal.complain("made a new database: \(ledger.name)") }
        return code
    }

    /// The caller that the arguments of `add` describe.
    private static func caller(_ arguments: Arguments) throws(CommandError) -> Caller {
        let words = try arguments.words("add", "NAME")
        let roles = CallerRole.allCases.map(\.rawValue).joined(separator: ", ")
        guard let role = try arguments.value("--role", expecting: "one of \(roles)", CallerRole.init(rawValue:)) else {
            throw CommandError(usage: "--role is missing; one of \(roles)")
        }
        var apps: Set<AppName> = []
        for text in arguments.values("--bundle") {
            do throws(IdentifierError) {
                apps.insert(try AppName(text))
            } catch {
                throw CommandError(usage: "--bundle: \(error)")
            }
        }
        guard apps.isEmpty || role.mayAskForSignatures else {
            throw CommandError(usage: "--bundle: the role \(role.rawValue) is not bound to apps; leave it out")
        }
        let rate = try arguments.value("--rate", expecting: RateLimit.expected, RateLimit.init)
        guard rate == nil || role.mayAskForSignatures else {
            throw CommandError(usage: "--rate: the role \(role.rawValue) has no rate; leave it out")
        }
        return Caller(id: try callerID(words[1]), role: role, apps: apps, rate: rate)
    }

    /// Refuses to make a database where no service would look for it.
    private static func demandOwnPlace(_ arguments: Arguments, _ ledger: LedgerAccess) throws(CommandError) {
        let isNamed =
            !arguments.values(Setting.database.flag).isEmpty || environment()[Setting.database.variable] != nil
        let settings = try SettingsOptions.settings(arguments)
        let hasKeys = !SecretFile.isAbsent(path: settings.keysPath)
        if isNamed || arguments.flags.contains("--create") || hasKeys { return }
        throw CommandError(
            "there is no database at \(absolutePath(settings.database.file ?? ledger.name)), and no \(settings.keysPath) in this "
                + "folder: nothing was made. Say where the service's database is with \(Setting.database.flag) or "
                + "\(Setting.database.variable), or make a new one here with --create",
            .unavailable
        )
    }

    private static func addKey(_ arguments: Arguments, _ callers: Callers) throws(CommandError) -> ExitCode {
        let words = try arguments.words("add-key", "NAME")
        let (id, expiresInDays) = (try callerID(words[1]), try days(arguments))
        if let certificate = try certificate(arguments) {
            return show(callers.addKey(certificate, to: id, expiresInDays: expiresInDays), of: id)
        }
        let expected = "8 to 128 visible ASCII characters without quotes, and no API key of this service"
        guard let key = try arguments.value("--sdk-key", expecting: expected, { SDKKey(Array($0.utf8)[...]) }) else {
            return show(callers.addKey(to: id, expiresInDays: expiresInDays))
        }
        switch callers.addKey(key, to: id, expiresInDays: expiresInDays) {
        case .success(let keyID):
            Terminal.say("the calls below /compat take this SDK key for \(id), as key \(keyID)")
            return .success
        case .failure(let error): return complain(error)
        }
    }

    private static func revoke(_ arguments: Arguments, _ callers: Callers) throws(CommandError) -> ExitCode {
        let words = try arguments.words("revoke", "NAME")
        let id = try callerID(words[1])
        let keyID = try arguments.value("--key")
        switch callers.revoke(id, keyID: keyID) {
        case .success:
            Terminal.say(keyID.map { "revoked key \($0) of \(id)" } ?? "revoked \(id) and all its keys")
            return .success
        case .failure(let error): return complain(error)
        }
    }

    private static func list(_ arguments: Arguments, _ callers: Callers) throws(CommandError) -> ExitCode {
        _ = try arguments.words("list")
        if try ListFormat.of(arguments) == .table { return table(callers) }
        switch callers.all() {
        case .failure(let error): return complain(error)
        case .success(let all):
            if all.isEmpty { Terminal.say("no callers yet; see: offer-signer callers --help") }
            for line in all { Terminal.say(line) }
            return .success
        }
    }

    private static func table(_ callers: Callers) -> ExitCode {
        switch callers.rows() {
        case .failure(let error): return complain(error)
        case .success(let rows):
            var table = TextTable("CALLER", "ROLE", "APPS", "RATE", "KEY", "SINCE", "STATE")
            for row in rows { table.add(row) }
            for line in table.lines { Terminal.say(line) }
            return .success
        }
    }

    private static func show(_ result: Result<APIKey, CallersError>) -> ExitCode {
        switch result {
        case .success(let key):
            Terminal.say(key.credential)
            Terminal.complain("This API key is shown once. Send it as: Authorization: Bearer \(key.id).…")
            return .success
        case .failure(let error): return complain(error)
        }
    }

    private static func show(_ result: Result<Callers.CertificateEntry, CallersError>, of id: CallerID) -> ExitCode {
        switch result {
        case .success(let entry):
            Terminal.say(
                "requests with this certificate are those of \(id), as key \(entry.keyID), until \(entry.expiresAt.rfc3339)"
            )
            return .success
        case .failure(let error): return complain(error)
        }
    }

    /// The certificate that `--certificate` names.
    private static func certificate(_ arguments: Arguments) throws(CommandError) -> Certificate? {
        guard let path = try arguments.value("--certificate") else { return nil }
        guard arguments.values("--sdk-key").isEmpty else {
            throw CommandError(usage: "--certificate and --sdk-key: give one of them")
        }
        let pem: [UInt8]
        do { pem = try TextFile.read(path) } catch { throw CommandError("\(path) \(error)") }
        do throws(CertificateError) { return try Certificate(pem: pem) } catch {
            throw CommandError(usage: "--certificate \(path): expected one certificate in PEM: \(error)")
        }
    }

    private static func complain(_ error: CallersError) -> ExitCode {
        Terminal.complain("offer-signer callers: \(error)")
        return error.isOfDatabase ? .unavailable : .failure
    }

    private static func callerID(_ text: String) throws(CommandError) -> CallerID {
        guard let id = CallerID(text) else {
            throw CommandError(usage: "NAME: expected 1 to 64 of a-z 0-9 . _ -, found “\(text)”")
        }
        return id
    }

    private static func days(_ arguments: Arguments) throws(CommandError) -> Int? {
        try arguments.value("--expires-days", expecting: "1 to 3650") { text in
            Int(text).flatMap { (1...3650).contains($0) ? $0 : nil }
        }
    }
}

/// The database as an option of a command.
enum LedgerOptions {
    static func access(_ arguments: Arguments) throws(CommandError) -> LedgerAccess {
        LedgerAccess(location: try SettingsOptions.settings(arguments).database, clock: .system)
    }

    /// Refuses to continue without a database; no service would read a database that is made only now.
    static func demand(_ ledger: LedgerAccess) throws(CommandError) {
        guard !ledger.exists else { return }
        throw CommandError(
            "there is no database at \(ledger.name); say where it is with --database or OFFER_SIGNER_DATABASE",
            .unavailable
        )
    }
}
