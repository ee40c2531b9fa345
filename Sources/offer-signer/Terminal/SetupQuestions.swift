// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import Stores
import TransparencyLog

/// What `offer-signer init` needs to know, from options or, on a terminal, from the person at the keyboard.
struct SetupQuestions {
    static let options = [
        "--p8", "--issuer", "--bundle", "--app-id", "--product", "--group", "--offer", "--key-id", "--origin",
        "--caller", "--directory", ConnectQuestions.option,
    ]

    private static let needed = ["--p8", "--issuer", "--bundle"]
    private static let ofOffer = ["--product", "--group", "--offer"]

    private let arguments: Arguments
    private let asks: Bool

    /// - Throws: Every missing option, if no person can be asked.
    init(_ arguments: Arguments) throws(CommandError) {
        self.arguments = arguments
        asks = Terminal.canAsk
        let readsOffers = !arguments.values(ConnectQuestions.option).isEmpty
        let needed = Self.needed + (readsOffers ? [] : Self.ofOffer)
        let missing = needed.filter { arguments.values($0).isEmpty }
        guard asks || missing.isEmpty else {
            throw CommandError(
                usage: "\(missing.joined(separator: ", ")) \(missing.count == 1 ? "is" : "are") missing, and there is "
                    + "no terminal to ask on"
            )
        }
    }

    func answers() throws(CommandError) -> InitialSetup {
        let file = try keyFile()
        let keyID = try keyID(file)
        let issuer = try answer("--issuer", to: "Issuer ID", expecting: "a UUID, as App Store Connect shows it") {
            UniqueID($0)
        }
        let bundleID = try answer("--bundle", to: "Bundle ID of the app", expecting: "a bundle id, as com.acme.notes") {
            try? BundleID($0)
        }
        let connect = try ConnectQuestions(arguments, asks: asks, issuerID: issuer, bundleID: bundleID)
        let appAppleID = try appAppleID(connect)
        let offer = if let connect { try connect.offer() } else { try self.offer() }
        var setup = InitialSetup(
            key: (file, keyID, issuer),
            app: (bundleID, appAppleID),
            offer: offer,
            origin: try origin(bundleID),
            caller: try caller()
        )
        setup.connectKey = connect.map { ($0.file, $0.id) }
        return setup
    }

    /// The path of an existing file; a missing file is found before the other questions are asked.
    private func keyFile() throws(CommandError) -> String {
        if let given = try arguments.value("--p8") {
            guard Self.isThere(given) else { throw CommandError("--p8: \(Self.absence(of: given))") }
            return given
        }
        return try answer("--p8", to: "In-App Purchase key (.p8 file)", expecting: "the path of a file that is there") {
            Self.isThere($0) ? $0 : nil
        }
    }

    private static func isThere(_ path: String) -> Bool { InitialSetup.isThere(path) }

    private static func absence(of path: String) -> String {
        guard !path.hasPrefix("~") else { return "\(path) is not there; the shell expands ~ only outside of quotes" }
        return "\(path) is not there; give the path of the .p8 file that App Store Connect let you download"
    }

    private func offer() throws(CommandError) -> ConnectQuestions.Offer {
        let productID = try answer("--product", to: "Product ID of the subscription", expecting: "a product id") {
            try? ProductID($0)
        }
        let groupID = try answer(
            "--group",
            to: "Subscription group ID (a number)",
            expecting: "the id of a subscription group"
        ) {
            try? SubscriptionGroupID($0)
        }
        let offerID = try answer("--offer", to: "Promotional offer ID", expecting: "the id of an offer") {
            try? OfferID($0)
        }
        return (productID, groupID, offerID)
    }

    private func caller() throws(CommandError) -> CallerID {
        let given = try arguments.value("--caller", expecting: "1 to 64 of a-z 0-9 . _ -") { CallerID($0) }
        if let given { return given }
        guard let id = CallerID("backend") else { throw CommandError("backend is not a valid name of a caller") }
        return id
    }

    private func keyID(_ file: String) throws(CommandError) -> KeyID {
        let expected = "10 characters, each one of A to Z and 0 to 9"
        let named = try? InitialSetup.keyID(inNameOf: file)
        if let given = try arguments.value("--key-id", expecting: expected, { try? KeyID($0) }) {
            if let named, named != given { throw Self.contradiction(given, named: named, file: file) }
            return given
        }
        let problem: SetupError
        do throws(SetupError) {
            return try InitialSetup.keyID(inNameOf: file)
        } catch {
            problem = error
        }
        guard asks else { throw CommandError(usage: "--p8: \(problem)") }
        Terminal.complain(problem.description)
        return try answer("--key-id", to: "Key ID", expecting: expected) { try? KeyID($0) }
    }

    /// A key under a wrong id makes signatures that the App Store refuses without a reason.
    private static func contradiction(_ given: KeyID, named: KeyID, file: String) -> CommandError {
        CommandError(
            usage:
                "--key-id: \(given) was given, and the name of \(file) has the id \(named). If \(named) is right, leave "
                + "--key-id out; if the file was renamed, give it a name without an id"
        )
    }

    private func appAppleID(_ connect: ConnectQuestions?) throws(CommandError) -> Int64? {
        let expected = "the app's number in App Store Connect, such as 6449011111"
        func number(_ text: String) -> Int64? { Int64(text).flatMap { $0 > 0 ? $0 : nil } }
        if let given = try arguments.value("--app-id", expecting: expected, number) { return given }
        if let found = connect.flatMap({ number($0.app.id) }) { return found }
        guard asks else { return nil }
        return try answer("--app-id", to: "Apple ID of the app (a number; empty: later)", expecting: expected) { text in
            text.isEmpty ? .some(nil) : number(text).map(Int64?.some)
        }
    }

    private func origin(_ bundleID: BundleID) throws(CommandError) -> LogOrigin {
        let expected = "1 to 128 of A-Z, a-z, 0-9, “.”, “_”, “/” and “-”"
        if let given = try arguments.value("--origin", expecting: expected, LogOrigin.init) { return given }
        let standard = InitialSetup.origin(for: bundleID)
        guard asks else {
            guard let origin = LogOrigin(standard) else { throw CommandError(usage: "--origin is missing") }
            return origin
        }
        return try answer("--origin", to: "Name of the audit log, for ever [\(standard)]", expecting: expected) {
            LogOrigin($0.isEmpty ? standard : $0)
        }
    }

    /// The value of an option, or the person's answer; the question is repeated until the answer is valid.
    private func answer<Value>(
        _ option: String,
        to question: String,
        expecting expected: String,
        _ parse: (String) -> Value?
    ) throws(CommandError) -> Value {
        if let given = try arguments.value(option, expecting: expected, parse) { return given }
        while asks {
            guard let line = Terminal.ask("\(question): ") else { break }
            if let value = parse(line) { return value }
            Terminal.complain("expected \(expected)")
        }
        throw CommandError(usage: "\(option) is missing; expected \(expected)")
    }
}
