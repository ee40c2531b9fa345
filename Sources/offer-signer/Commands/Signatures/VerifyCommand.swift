// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Glibc
import Ledger
import OfferDomain
import OfferService
import ServiceRuntime

/// `offer-signer verify`.
enum VerifyCommand: Command {
    static let name = "verify"
    static let summary = "verify the signatures in a saved answer"
    static var help: String {
        """
        offer-signer verify checks the signatures in an answer of the service, and says what each of them signs: the
        original (V1) signature, the JWS, or both. A file with one JWS alone, and the answer to a batch, are read too.

        Usage: offer-signer verify [ANSWER.json] [--public-key FILE] [OPTIONS]

        Without ANSWER.json, it reads standard input. It verifies with the key that the answer names:

          --public-key FILE   the public key in PEM, as public-key.pem of demo and init; or else
          the key ring        of --keys, where that file is there

        If the database of --database is there, it also looks for the record of each signature in the audit log, and
        records that it did.

        The V1 payload holds a bundle id and a product id that the answer may not name. They are taken from these
        options, the JWS beside it, the audit log, or the catalog of --offers, in this order:

          --bundle-id ID
          --product-id ID

        Exit code 0 if every signature is good, and on record where there is a log; 1 if not, or if the answer is a
        refusal; 3 if the database could not be used.

        Example:
          offer-signer verify answer.json --public-key demo/public-key.pem

        \(SettingsOptions.help([.keys, .offers, .database, .groupReadableSecrets, .unlockedMemory]))
        """
    }

    static let options = ["--public-key", "--bundle-id", "--product-id"]

    static let syntax = CommandSyntax(options: options, takesFiles: true)

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: options + SettingsOptions.names)
        guard parsed.words.count <= 1 else { throw CommandError(usage: "expected one ANSWER.json") }
        // Before anything is digested: memory that is to hold keys has to be set up first.
        let isKeyless = !parsed.values("--public-key").isEmpty
        try KeyCustody.begin(
            admitsUnlockedMemory: isKeyless ? true : try SettingsOptions.settings(parsed).admitsUnlockedMemory
        )
        let source = parsed.words.first ?? "-"
        let name = source == "-" ? "standard input" : source
        let contents = try contents(of: source)
        let answers: [SavedAnswer]
        do throws(SavedAnswerError) {
            answers = try SavedAnswer.read(contents)
        } catch {
            throw CommandError("\(name): \(error)")
        }
        let verification = try SignatureVerification(parsed)
        var isGood = true
        for (number, answer) in answers.enumerated() {
            if answers.count > 1 { Terminal.say("Result \(number + 1) of \(answers.count)") }
            switch answer {
            case .refusal(let title, let detail):
                Terminal.say("A refusal, so nothing is signed: \(title). \(detail)")
                isGood = false
            case .grant(let grant):
                if let id = grant.grantID { Terminal.say("Grant \(id)") }
                for line in try verification.lines(of: grant) {
                    Terminal.say(line.text)
                    if !line.isGood { isGood = false }
                }
            }
        }
        return isGood ? .success : .failure
    }

    private static func contents(of path: String) throws(CommandError) -> [UInt8] {
        guard path == "-" else {
            do { return try TextFile.read(path) } catch { throw CommandError("\(path) \(error)") }
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= 4 << 20 {
            let count = unsafe read(STDIN_FILENO, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
        throw CommandError("standard input has more than 4 MiB; an answer is smaller")
    }
}

/// What signatures are verified with: a public key, the key ring, the audit log.
struct SignatureVerification {
    /// What is said of one signature.
    struct Line {
        let text: String
        let isGood: Bool
    }

    private let publicKey: (key: PublicKey, file: String)?
    private let configuration: (loaded: LoadedConfiguration, file: String)?
    private let log: (ledger: LedgerAccess, search: AuditSearch)?
    private let product: SignedProduct?

    init(_ arguments: Arguments) throws(CommandError) {
        let settings = try SettingsOptions.settings(arguments)
        let file = try arguments.value("--public-key")
        publicKey = try file.map { path throws(CommandError) in (try PublicKeyFile.read(path), path) }
        configuration = try publicKey == nil ? Self.configuration(settings) : nil
        log = try Self.log(arguments, settings)
        product = try Self.product(arguments)
        guard publicKey != nil || configuration != nil || log != nil else {
            throw CommandError(
                "there is no key to verify with: give --public-key FILE, or the key ring with --keys FILE (\(settings.keysPath) "
                    + "is not there)"
            )
        }
    }

    private static func configuration(_ settings: Settings) throws(CommandError) -> (LoadedConfiguration, String)? {
        if SecretFile.isAbsent(path: settings.keysPath) { return nil }
        do { return (try LoadedConfiguration(settings), settings.keysPath) } catch { throw CommandError(error) }
    }

    private static func log(
        _ arguments: Arguments,
        _ settings: Settings
    ) throws(CommandError) -> (LedgerAccess, AuditSearch)? {
        let ledger = LedgerAccess(location: settings.database, clock: .system)
        if !ledger.exists, arguments.values(Setting.database.flag).isEmpty { return nil }
        try LedgerOptions.demand(ledger)
        do {
            return (ledger, try AuditSearch(connection: try ledger.openForReading()))
        } catch {
            throw CommandError("\(error)", .unavailable)
        }
    }

    private static func product(_ arguments: Arguments) throws(CommandError) -> SignedProduct? {
        let bundleID = try arguments.value("--bundle-id", expecting: "a bundle id") { try? BundleID($0) }
        let productID = try arguments.value("--product-id", expecting: "a product id") { try? ProductID($0) }
        switch (bundleID, productID) {
        case (let bundleID?, let productID?): return SignedProduct(bundleID: bundleID, productID: productID)
        case (nil, nil): return nil
        default: throw CommandError(usage: "--bundle-id and --product-id go together")
        }
    }

    /// What is what in one answer.
    func lines(of grant: SavedGrant) throws(CommandError) -> [Line] {
        var lines: [Line] = []
        if let v1 = grant.v1 { lines += try self.lines(of: v1, grant.claims) }
        if let jws = grant.jws {
            lines.append(verdict("JWS", jws, over: grant.claims?.text ?? ""))
            if let line = try record(jws) { lines.append(line) }
        }
        return lines
    }

    private func lines(of v1: SavedV1, _ claims: SavedClaims?) throws(CommandError) -> [Line] {
        let candidates = try products(of: v1, claims)
        let presented = candidates.compactMap { product in v1.presented(for: product).map { (product, $0) } }
        guard let first = presented.first else {
            let help = "give --bundle-id and --product-id, which the payload holds and the answer does not name"
            return [Line(text: "V1 signature: not checked: \(help)", isGood: false)]
        }
        func isGood(_ signature: PresentedSignature) -> Bool {
            key(of: signature)?.key.verifies(signature.signature, of: signature.digest) == true
        }
        let (product, signature) = presented.first { isGood($1) } ?? first
        let until = v1.timestamp.adding(hours: 24)
        let validity = until > WallClock.system.now() ? "valid until" : "too old for the App Store since"
        let over =
            "\(product.bundleID), \(product.productID), \(v1.offerID), nonce \(v1.nonce); \(validity) \(until.rfc3339)"
        let line = verdict("V1 signature", signature, over: over)
        return [line] + [try record(signature)].compactMap(\.self)
    }

    private func products(of v1: SavedV1, _ claims: SavedClaims?) throws(CommandError) -> [SignedProduct] {
        if let known = product ?? v1.named { return [known] }
        if let bundleID = claims?.bundleID, let productID = claims?.productID {
            return [SignedProduct(bundleID: bundleID, productID: productID)]
        }
        if let log {
            do {
                if let known = try SignedProduct.recorded(under: v1.nonce, in: log.search) { return [known] }
            } catch {
                throw CommandError("\(error)", .unavailable)
            }
        }
        return configuration.map { SignedProduct.candidates(for: v1.offerID, in: $0.loaded.catalog) } ?? []
    }

    private func key(of signature: PresentedSignature) -> (key: PublicKey, source: String)? {
        if let publicKey { return (publicKey.key, publicKey.file) }
        guard let configuration,
            let key = configuration.loaded.keys.ring.keys.first(where: { $0.id == signature.keyID })?.privateKey
        else { return nil }
        return (key.publicKey, configuration.file)
    }

    private func verdict(_ what: String, _ signature: PresentedSignature, over payload: String) -> Line {
        guard let (key, source) = key(of: signature) else {
            // With a log alone, the record speaks for what was signed.
            let isKeyless = publicKey == nil && configuration == nil
            let why = isKeyless ? "no key was given" : "the key ring has no key \(signature.keyID) that is loaded"
            let text = "\(what): not verified: \(why); give its public key with --public-key FILE: \(payload)"
            return Line(text: text, isGood: isKeyless)
        }
        guard key.verifies(signature.signature, of: signature.digest) else {
            return Line(
                text:
                    "\(what): BAD: the key \(signature.keyID) of \(source) did not sign this: \(payload). Something was "
                    + "changed, or another key signed it.",
                isGood: false
            )
        }
        return Line(text: "\(what): good, by key \(signature.keyID) of \(source): \(payload)", isGood: true)
    }

    private func record(_ signature: PresentedSignature) throws(CommandError) -> Line? {
        guard let log else { return nil }
        let trace: SignatureTrace
        let signers: KnownSigners
        do {
            trace = try log.search.trace(signature)
            signers = try KnownSigners(configuration?.loaded.keys.ring, log.search)
        } catch {
            throw CommandError("\(error)", .unavailable)
        }
        var index: Int64?
        if case .recorded(let found, _) = trace { index = found }
        let read = RecordedRead(
            caller: nil,
            call: .verifySignatureCommand,
            conditions: [AuditCondition("digest", signature.digest.hex)],
            count: index == nil ? 0 : 1
        )
        try AuditCommand.record(.records(.read(read)), in: log.ledger)
        guard let index else {
            return Line(
                text:
                    "  not on record in \(log.ledger.name): \(NoRecord(trace, madeBy: signers.signer(of: signature)).description)",
                isGood: false
            )
        }
        return Line(text: "  on record as entry \(index) of \(log.ledger.name)", isGood: true)
    }
}
