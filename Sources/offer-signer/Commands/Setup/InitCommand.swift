// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain
import OfferService
import ServiceRuntime

/// `offer-signer init`.
enum InitCommand: Command {
    static let name = "init"
    static let summary = "write a first configuration for your own app and key"
    static var help: String {
        """
        offer-signer init writes everything that a first signature with your own key needs: keys, offers, the secret
        for customer ids, the audit log's key, a caller for your backend with its API key, and a request to try. It
        then runs check, and prints how to start the service and ask for a signature.

        Usage: offer-signer init [OPTIONS]

        On a terminal, it asks for what is missing. In a script, give all of these:

          --p8 FILE         the In-App Purchase key, such as SubscriptionKey_ABC123DEFG.p8; its name tells the key id
          --issuer UUID     the issuer id: App Store Connect > Users and Access > Integrations > In-App Purchase
          --bundle ID       the app's bundle id
          --product ID      the product id of a subscription
          --group ID        the id of its subscription group (a number, not the group's name)
          --offer ID        the id of a promotional offer of that subscription

        With an App Store Connect API key, --product, --group and --offer are read from App Store Connect: choose from
        its list on a terminal. check --live then compares the catalog with App Store Connect.

          --connect-key FILE  a team key of the App Store Connect API, such as AuthKey_DEF456GHIJ.p8

        These have defaults:

          --app-id NUMBER   the app's Apple ID in App Store Connect (none: production data is refused)
          --key-id ID       the key id, if the file's name does not show it
          --origin NAME     the audit log's name, for ever (from the bundle id, such as app.example.com/offer-signer)
          --caller NAME     the name of your backend as a caller (backend)
          --directory DIR   where to write (the working directory)
          --listen ADDRESS  where the service is to listen, for the commands that are printed (127.0.0.1:8080)

        Nothing is overwritten: if one of the files already exists, the command writes nothing and ends with 1.

        Example:
          offer-signer init --p8 ~/Downloads/SubscriptionKey_ABC123DEFG.p8 \\
            --issuer 6a1b7e02-93d5-4c1e-8f2a-0d5c3b4a2e19 --bundle com.acme.notes --app-id 6449011111 \\
            --product com.acme.notes.monthly --group 21300001 --offer winback_2026
        """
    }

    static let syntax = CommandSyntax(options: SetupQuestions.options + [Setting.listen.flag], takesSettings: false)

    /// How App Store Connect is reached, where it is not Apple's own.
    private static let reach = [Setting.appStoreConnectURL.flag, Setting.trustedCertificates.flag]

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: SetupQuestions.options + [Setting.listen.flag] + reach)
        _ = try parsed.words()
        let listen = try LocalService.listen(parsed)
        let questions = try SetupQuestions(parsed)
        // Before a key is read: memory that is to hold keys has to be set up first.
        let locksMemory = try beginCustody()
        let setup = try questions.answers()
        let folder = SetupFolder(
            directory: try parsed.value("--directory") ?? ".",
            clock: .system,
            random: try random()
        )
        let note: String
        do { note = try folder.write(setup) } catch { throw CommandError(error.description) }
        let options = fileOptions(folder)
        Terminal.say(written(setup, in: folder, note: note))
        let memory = locksMemory ? [] : ["--unlocked-memory", "yes"]
        let code = try CheckCommand.run(options + memory)
        Terminal.say(guide(to: folder, options: folder.isWorkingDirectory ? memory : options + memory, listen: listen))
        return code
    }

    /// Whether memory for keys can be locked; if not, the service needs the setting for that too.
    private static func beginCustody() throws(CommandError) -> Bool {
        do throws(CommandError) {
            try KeyCustody.begin(admitsUnlockedMemory: false)
            return true
        } catch {
            try KeyCustody.begin(admitsUnlockedMemory: true)
            return false
        }
    }

    private static func random() throws(CommandError) -> SystemRandom {
        do { return try SystemRandom() } catch { throw CommandError("\(error)", .unavailable) }
    }

    private static func fileOptions(_ folder: SetupFolder) -> [String] {
        [
            Setting.keys.flag, folder.path(.keys), Setting.offers.flag, folder.path(.offers),
            Setting.database.flag, "sqlite:\(folder.path(.database))",
        ]
    }

    private static func written(_ setup: InitialSetup, in folder: SetupFolder, note: String) -> String {
        let rows: [(SetupFolder.File, String)] = [
            (.keys, "the key ring"), (.offers, "the catalog: who may have the offer"),
            (.customerIDs, "the secret for customer ids; back it up"),
            (.logKey, "the audit log's key; back it up"),
            (.logVerifierKey, "what auditors verify the log with"),
            (.database, "ledger and audit log, with the caller “\(setup.caller)”"),
            (.apiKey, "the caller's API key, of mode 0600"),
            (.publicKey, "the public half of the key \(setup.keyID)"),
            (.request, "a request to try"),
        ]
        let lines = rows.map { "  \(padded(folder.path($0.0), 26)) \($0.1)" }
        return (["Written:", "", "  \(setup.keyFileName)", "      \(note)"] + lines + ["", "Checked:", ""])
            .joined(separator: "\n")
    }

    private static func guide(to folder: SetupFolder, options: [String], listen: ListenAddress?) -> String {
        var command = [Terminal.programName, "serve"] + options
        if let listen { command += [Setting.listen.flag, listen.text] }
        var reason = ""
        if let fault = ClockStatus.system.synchronisation().fault {
            command += [Setting.clockCheck.flag, ClockCheck.warn.rawValue]
            reason = """
                (--clock-check warn, because \(fault).
                In production run a time service such as chrony, and leave the option out.)


                """
        }
        return """

            Start the service:

            \(command.map(shellWord).joined(separator: " "))

            \(reason)In another terminal, in the same folder, ask for a signature:

            \(signatureCurl(url: LocalService.url(listen), apiKey: folder.path(.apiKey), request: folder.path(.request)))

            The API key is in \(folder.path(.apiKey)): give it to your backend, which sends it as
            Authorization: Bearer ID.SECRET. To verify what came: \(Terminal.programName) verify answer.json \\
              --public-key \(shellWord(folder.path(.publicKey)))
            """
    }
}

/// Where the service is to listen, for commands that print how to reach it.
enum LocalService {
    /// What was asked for, by option or environment; `nil` leaves it at the service's own default.
    static func listen(_ arguments: Arguments) throws(CommandError) -> ListenAddress? {
        let setting = Setting.listen
        let given = try arguments.value(setting.flag)
        guard let text = given ?? environment()[setting.variable] else { return nil }
        guard let address = ListenAddress(text) else {
            throw CommandError(usage: "\(given == nil ? setting.variable : setting.flag): expected \(setting.expected)")
        }
        return address
    }

    /// What clients on this machine call.
    static func url(_ listen: ListenAddress?) -> String {
        (listen ?? Setting.listen.defaultText.flatMap { ListenAddress($0) })?.localURL ?? ""
    }
}
