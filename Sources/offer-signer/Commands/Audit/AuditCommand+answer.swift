// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import JSON
import Ledger
import OfferService
import ServiceRuntime
import TransparencyLog

/// `offer-signer audit find --answer FILE`: the records of a saved response of the service.
extension AuditCommand {
    static func find(
        answer path: String,
        _ arguments: Arguments,
        in ledger: LedgerAccess
    ) throws(CommandError) -> ExitCode {
        let others = signatureOptions.filter { $0 != "--answer" && $0 != "--public-key" }
        if let other = others.first(where: { !arguments.values($0).isEmpty }) {
            throw CommandError(usage: "--answer FILE has all that is needed; leave \(other) out")
        }
        let key = try arguments.value("--public-key").map(PublicKeyFile.read)
        var code = ExitCode.success
        for answer in try answers(in: path) where try !find(answer, key, in: ledger) {
            code = .failure
        }
        return code
    }

    /// Prints a line for each entry of one response, or says why there is no entry.
    ///
    /// - Returns: Whether all of it is on record, and no signature is wrong.
    private static func find(
        _ answer: PresentedAnswer,
        _ key: PublicKey?,
        in ledger: LedgerAccess
    ) throws(CommandError) -> Bool {
        var trace: AnswerTrace
        do {
            let connection = try ledger.openForReading()
            let search = try AuditSearch(connection: connection)
            trace = try search.trace(answer)
            if case .absent(var absence) = trace {
                let signers = try KnownSigners(nil, search)
                absence.madeBy = try search.unrecordedMaker(of: answer.signatures(connection), signers)
                trace = .absent(absence)
            }
        } catch {
            throw CommandError("\(error)", .unavailable)
        }
        var isGood = false
        var count = 0
        switch trace {
        case .absent(let absence): Terminal.complain(absence.description)
        case .recorded(let found):
            count = found.count
            let verified = found.map { $0.signature.flatMap { key?.verifies($0.signature, of: $0.digest) } }
            for (entry, verifies) in zip(found, verified) {
                say(entry.index, entry.entry, verifies: verifies)
            }
            isGood = !verified.contains(false)
        }
        let conditions = [AuditCondition("answer")]
        try record(
            .records(.read(RecordedRead(caller: nil, call: .findCommand, conditions: conditions, count: count))),
            in: ledger
        )
        return isGood
    }

    static func say(_ index: Int64, _ entry: [UInt8], verifies: Bool?) {
        let text = String(decoding: entry, as: UTF8.self)
        let verdict = verifies.map(String.init) ?? "null"
        Terminal.say("{\"index\":\(index),\"entry\":\(text),\"signatureVerifies\":\(verdict)}")
    }

    private static func answers(in path: String) throws(CommandError) -> [PresentedAnswer] {
        let text: [UInt8]
        do { text = try TextFile.read(path) } catch { throw CommandError("\(path) \(error)") }
        let document: JSONDocument
        do { document = try JSONDocument(text, limits: .configuration) } catch {
            throw CommandError("\(path): expected an answer of the service, or what an app received of it. \(error)")
        }
        let mismatches = Mismatches()
        let answers = PresentedAnswer.all(in: document.root, into: mismatches)
        if let first = mismatches.all.first { throw CommandError("\(path): \(first.pointer) \(first.message)") }
        return answers
    }
}

/// `offer-signer audit key`: the log's verifier key, for auditors and witnesses.
extension AuditCommand {
    static func printVerifierKey(_ arguments: Arguments) throws(CommandError) {
        let settings = try SettingsOptions.settings(arguments)
        try KeyCustody.begin(admitsUnlockedMemory: settings.admitsUnlockedMemory)
        let policy = SecretFilePolicy(allowsGroupRead: settings.admitsGroupReadableSecrets)
        do throws(ConfigurationError) {
            Terminal.say("\(try KeyRingFile(path: settings.keysPath, policy: policy).load().logKey.verifierKey)")
        } catch {
            throw CommandError(error)
        }
    }
}
