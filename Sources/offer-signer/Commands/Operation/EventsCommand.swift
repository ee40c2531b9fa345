// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import Storage

/// `offer-signer events`.
enum EventsCommand: Command {
    static let name = "events"
    static let summary = "see and steer the receivers of events"
    static var help: String {
        """
        offer-signer events is about the receivers that the events file (--events) names. It may run beside
        the service, which applies it within a second.

        Usage: offer-signer events endpoints [--enable ID]
               offer-signer events deliveries [--endpoint ID]
               offer-signer events replay --endpoint ID --from-index INDEX
               offer-signer events test --endpoint ID

          endpoints           lists receivers, how far each is, and its public keys;
                              --enable ID delivers again to one that answered 410, and tries
                              again now one that fails or asked for a pause
          deliveries          lists messages that a receiver has not taken, and those that were given up
          replay              sends everything again from that entry of the audit log on, with the same IDs
          test                sends one message of type endpoint.test now, and says what was answered;
                              to a stream of the audit log, a message or a line

        Exit code 0 if all is well; 1 if there is no such receiver, or it did not take the test; 3 if the database
        could not be used.

        \(SettingsOptions.help(settings))
        """
    }

    private static let settings: [Setting] = [.events, .database, .groupReadableSecrets, .unlockedMemory]

    static let subcommands = [
        "endpoints": ["--enable"], "deliveries": ["--endpoint"], "replay": ["--endpoint", "--from-index"],
        "test": ["--endpoint"],
    ]

    static let syntax = CommandSyntax(subcommands: [
        Subcommand(
            name: "endpoints",
            summary: "list the receivers of events, and how far each is",
            usage: "[--enable ID]",
            options: subcommands["endpoints"] ?? []
        ),
        Subcommand(
            name: "deliveries",
            summary: "list what receivers have not taken",
            usage: "[--endpoint ID]",
            options: subcommands["deliveries"] ?? [],
            example: "--endpoint backend"
        ),
        Subcommand(
            name: "replay",
            summary: "send events again, from an entry of the audit log on",
            usage: "--endpoint ID --from-index INDEX",
            options: subcommands["replay"] ?? [],
            example: "--endpoint backend --from-index 5310"
        ),
        Subcommand(
            name: "test",
            summary: "send a test message now",
            usage: "--endpoint ID",
            options: subcommands["test"] ?? [],
            example: "--endpoint backend"
        ),
    ])

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, subcommands: subcommands)
        let names = ["endpoints", "deliveries", "replay", "test"]
        guard let word = parsed.words.first, names.contains(word) else { throw parsed.unknownSubcommand(of: names) }
        guard parsed.words.count == 1 else { throw CommandError(usage: "expected no further words after \(word)") }
        let settings = try SettingsOptions.settings(parsed)
        try KeyCustody.begin(admitsUnlockedMemory: settings.admitsUnlockedMemory)
        let maintenance: EventMaintenance
        do { maintenance = try EventMaintenance(settings) } catch { throw CommandError(error) }
        switch word {
        case "endpoints": return try endpoints(parsed, maintenance)
        case "deliveries": return try deliveries(parsed, maintenance)
        case "replay": return try replay(parsed, maintenance)
        default: return try test(parsed, maintenance)
        }
    }

    private static func endpoint(_ parsed: Arguments) throws(CommandError) -> String {
        guard let id = try parsed.value("--endpoint") else { throw CommandError(usage: "--endpoint is missing") }
        return id
    }

    private static func endpoints(_ parsed: Arguments, _ maintenance: EventMaintenance) throws(CommandError) -> ExitCode
    {
        if let id = try parsed.value("--enable") {
            guard try unwrapped({ () throws(EventMaintenanceError) in try maintenance.enable(id) }) else {
                throw unknown(id, maintenance)
            }
            Terminal.say("\(id) gets events again")
            return .success
        }
        for line in try unwrapped({ () throws(EventMaintenanceError) in try maintenance.endpointLines() }) {
            Terminal.say(line)
        }
        return .success
    }

    private static func deliveries(
        _ parsed: Arguments,
        _ maintenance: EventMaintenance
    ) throws(CommandError) -> ExitCode {
        let id = try parsed.value("--endpoint")
        if let id, !maintenance.endpointIDs.contains(id) { throw unknown(id, maintenance) }
        for line in try unwrapped({ () throws(EventMaintenanceError) in try maintenance.deliveryLines(of: id) }) {
            Terminal.say(line)
        }
        return .success
    }

    private static func replay(_ parsed: Arguments, _ maintenance: EventMaintenance) throws(CommandError) -> ExitCode {
        let id = try endpoint(parsed)
        let from = try parsed.value("--from-index", expecting: "the index of an entry, from 0") { text -> Int64? in
            Int64(text).flatMap { (0...(1 << 60)).contains($0) ? $0 : nil }
        }
        guard let from else { throw CommandError(usage: "--from-index is missing") }
        guard try unwrapped({ () throws(EventMaintenanceError) in try maintenance.replay(id, from: from) }) else {
            throw unknown(id, maintenance)
        }
        Terminal.say("\(id) gets events again, from entry \(from) on")
        return .success
    }

    private static func test(_ parsed: Arguments, _ maintenance: EventMaintenance) throws(CommandError) -> ExitCode {
        let id = try endpoint(parsed)
        guard maintenance.endpointIDs.contains(id) else { throw unknown(id, maintenance) }
        let result = try unwrapped { () throws(EventMaintenanceError) in try maintenance.test(id) }
        Terminal.say(result.text)
        return result.isTaken ? .success : .failure
    }

    private static func unknown(_ id: String, _ maintenance: EventMaintenance) -> CommandError {
        let list =
            maintenance.endpointIDs.isEmpty
            ? "it names none" : "known: " + maintenance.endpointIDs.joined(separator: ", ")
        return CommandError(
            "no receiver \(id) is known (\(list)); one that is new is known once the service has started with it"
        )
    }

    private static func unwrapped<Value>(
        _ body: () throws(EventMaintenanceError) -> Value
    ) throws(CommandError) -> Value {
        do { return try body() } catch { throw CommandError(error) }
    }
}

extension CommandError {
    fileprivate init(_ error: EventMaintenanceError) {
        switch error {
        case .configuration(let error): self.init(error)
        case .notConfigured:
            self.init("no events file is set; name it with --events or OFFER_SIGNER_EVENTS")
        case .database(let error): self.init(error.description, .unavailable)
        case .notEndpointOfEvents:
            self.init("a relay is sent what stores send, so there is nothing to test it with")
        }
    }
}
