// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Glibc
import OfferDomain
import OfferService
import ServiceRuntime
import SignatureDiagnosis

/// `offer-signer diagnose`.
enum DiagnoseCommand: Command {
    static let name = "diagnose"
    static let summary = "find out why the App Store refused a signature; needs no service and no private key"
    static var help: String {
        """
        offer-signer diagnose reads what an app attached to a refused purchase, and finds out what is wrong with the
        signature: it rebuilds what should have been signed, without and with each known mistake, and verifies. What
        verifies is proof. It sends no request, signs nothing, and works for signatures that another server made.

        Usage:
          offer-signer diagnose [--file REPORT] [--with REPORT] [--public-key [ID=]FILE]… [--pin [ID=]SHA256]…
                                [--keys FILE --offers FILE] [--format text|json]

        --file        the report, JSON; standard input without it
        --public-key  the public half of a signing key in PEM, if you like with its key id: ABC123DEFG=key.pem.
                      openssl pkey -in SubscriptionKey_ABC123DEFG.p8 -pubout makes one of a .p8
        --pin         the SHA-256 of a public key (SubjectPublicKeyInfo) in hexadecimal, if you like with its key id
        --with        another report of a signature of the same key, if its public half is not available
        --keys, --offers  the service's own files: all of their keys, apps, products and offers are tried
        --format      text (default) or json

        A report has what the app received and attached: bundleId, keyIdentifier, productId, offerId,
        appAccountToken or applicationUsername, nonce, timestamp and signature; or jws. If the app attached other
        values than it received, they stand in attached. Further members help: customerId, anonymousId,
        error {domain, code}, signedTransaction, attemptedAt (milliseconds since 1970).

        Example:
          offer-signer diagnose --file report.json --public-key ABC123DEFG=public.pem

        null or an empty text in attached means that the app attached nothing there.

        Exit code 0 if the cause was found, or the signature is right; 1 if the report does not show the cause; 2 if the
        command line, or a report, could not be read.
        """
    }

    static let syntax = CommandSyntax(options: options, choices: ["--format": ["text", "json"]])

    private static let options = ["--file", "--with", "--public-key", "--pin", "--format"]

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: options + SettingsOptions.names)
        _ = try parsed.words()
        let format =
            try parsed.value("--format", expecting: "text or json") { text in
                ["text", "json"].contains(text) ? text : nil
            } ?? "text"
        let report = try report(at: try parsed.value("--file"), named: "the report")
        let known: DiagnosisKnowledge
        do throws(CommandError) {
            known = try knowledge(parsed)
        } catch {
            // 1 says that the report does not tell.
            throw CommandError(error.message, error.exitCode == .failure ? .usage : error.exitCode)
        }
        let diagnosis = SignatureDiagnoser(known).diagnose(report)
        if format == "json" {
            Terminal.say(String(decoding: diagnosis.json, as: UTF8.self))
        } else {
            Terminal.say(diagnosis.lines.joined(separator: "\n"))
        }
        return diagnosis.isDecided ? .success : .failure
    }

    private static func knowledge(_ arguments: Arguments) throws(CommandError) -> DiagnosisKnowledge {
        var knowledge = DiagnosisKnowledge()
        knowledge.now = WallClock.system.now().milliseconds
        for text in arguments.values("--public-key") { knowledge.keys.append(try publicKey(text)) }
        for text in arguments.values("--pin") { knowledge.pins.append(try pin(text)) }
        if let path = try arguments.value("--with") {
            knowledge.otherReport = try report(at: path, named: "--with \(path)")
        }
        if !arguments.values("--keys").isEmpty {
            try add(SettingsOptions.settings(arguments), to: &knowledge)
        } else if !arguments.values("--offers").isEmpty {
            throw CommandError(usage: "--offers: give --keys FILE, too")
        }
        return knowledge
    }

    /// `ID=DIGEST`, or a digest alone.
    private static func pin(_ text: String) throws(CommandError) -> KnownPin {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        let id = parts.count == 2 ? (try? KeyID(parts[0])) : nil
        // OpenSSL prints digests with a colon between bytes.
        let digest = SHA256Digest(hex: (id == nil ? text : parts[1]).lowercased().replacing(":", with: ""))
        guard let digest else {
            throw CommandError(usage: "--pin: expected 64 hexadecimal digits, or ID=DIGITS, found “\(text)”")
        }
        return KnownPin(id: id?.text, digest: digest)
    }

    /// `ID=FILE`, or a file alone.
    private static func publicKey(_ text: String) throws(CommandError) -> KnownKey {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        let id = parts.count == 2 ? (try? KeyID(parts[0])) : nil
        let path = id == nil ? text : parts[1]
        let key = try PublicKeyFile.read(path)
        return KnownKey(id: id?.text, publicKey: key)
    }

    private static func report(at path: String?, named name: String) throws(CommandError) -> SignatureReport {
        let bytes: [UInt8]
        if let path, path != "-" {
            do { bytes = try TextFile.read(path) } catch { throw CommandError(usage: "\(path) \(error)") }
        } else {
            bytes = standardInput(atMost: SignatureReport.mostBytes + 1)
        }
        let report: SignatureReport
        do {
            report = try SignatureReport(json: bytes)
        } catch {
            throw CommandError(usage: "\(path ?? "standard input"): \(error.description)")
        }
        for hint in report.hints { Terminal.complain("\(name): \(hint)") }
        return report
    }

    private static func standardInput(atMost most: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while bytes.count < most {
            let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return bytes
    }

    /// Adds the public halves and the names of the service's own files.
    private static func add(_ settings: Settings, to knowledge: inout DiagnosisKnowledge) throws(CommandError) {
        try KeyCustody.begin(admitsUnlockedMemory: settings.admitsUnlockedMemory)
        let loaded: LoadedConfiguration
        do { loaded = try LoadedConfiguration(settings) } catch { throw CommandError(error) }
        knowledge.add(loaded)
    }
}

extension DiagnosisKnowledge {
    /// Adds every key, app, product and offer that the files name.
    fileprivate mutating func add(_ loaded: LoadedConfiguration) {
        for key in loaded.keys.ring.keys {
            if let publicKey = key.privateKey?.publicKey {
                keys.append(KnownKey(id: key.id.text, publicKey: publicKey, issuerID: key.issuerID.description))
            } else if let pin = key.pin {
                pins.append(KnownPin(id: key.id.text, digest: pin))
            }
        }
        let listings = loaded.catalog.offers.compactMap(\.appStore)
        bundleIDs += Set(listings.map(\.bundleID.text)).sorted()
        productIDs += Set(listings.map(\.productID.text)).sorted()
        for listing in listings {
            guard let offerID = listing.offerID?.text else { continue }
            offersByProduct[listing.productID.text, default: []].insert(offerID)
        }
        offerIDs += Set(listings.compactMap(\.offerID?.text) + loaded.catalog.offers.map(\.id.text)).sorted()
    }
}
