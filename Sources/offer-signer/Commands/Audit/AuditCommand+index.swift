// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Ledger
import OfferDomain
import OfferService
import TransparencyLog

/// Finding the record of a signature, and looking after the index.
extension AuditCommand {
    static let signatureOptions = [
        "--answer", "--jws", "--bundle-id", "--product-id", "--offer-id", "--key-id", "--nonce", "--timestamp",
        "--signature",
        "--app-account-token", "--application-username", "--public-key",
    ]

    static func find(_ arguments: Arguments, in ledger: LedgerAccess) throws(CommandError) -> ExitCode {
        if let path = try arguments.value("--answer") { return try find(answer: path, arguments, in: ledger) }
        let presented = try presented(arguments)
        let key = try arguments.value("--public-key").map(PublicKeyFile.read)
        try LedgerOptions.demand(ledger)
        let trace: SignatureTrace
        let signers: KnownSigners
        do {
            let search = try AuditSearch(connection: try ledger.openForReading())
            trace = try search.trace(presented)
            signers = try KnownSigners(nil, search)
        } catch {
            throw CommandError("\(error)", .unavailable)
        }
        let isRecorded = if case .recorded = trace { true } else { false }
        let conditions = [AuditCondition("digest", presented.digest.hex)]
        let read = RecordedRead(caller: nil, call: .findCommand, conditions: conditions, count: isRecorded ? 1 : 0)
        guard case .recorded(let index, let entry) = trace else {
            Terminal.complain(NoRecord(trace, madeBy: signers.signer(of: presented)).description)
            try record(.records(.read(read)), in: ledger)
            return .failure
        }
        let verifies = key?.verifies(presented.signature, of: presented.digest)
        say(index, entry, verifies: verifies)
        try record(.records(.read(read)), in: ledger)
        return verifies == false ? .failure : .success
    }

    private static func presented(_ arguments: Arguments) throws(CommandError) -> PresentedSignature {
        let expected = "a compact JWS for the App Store, signed with ES256"
        let signed = try arguments.value("--jws", expecting: expected) { PresentedSignature(jws: Array($0.utf8)) }
        if let signed { return signed }
        var fields = SignedFields()
        fields.bundleID = try required("--bundle-id", in: arguments, expecting: "a bundle id") { try? BundleID($0) }
        fields.keyID = try required("--key-id", in: arguments, expecting: "the id of a key") { try? KeyID($0) }
        fields.productID = try required("--product-id", in: arguments, expecting: "a product id") { try? ProductID($0) }
        fields.offerID = try required("--offer-id", in: arguments, expecting: "the store's id of an offer") {
            try? OfferID($0)
        }
        fields.binding = try binding(arguments)
        fields.nonce = try required("--nonce", in: arguments, expecting: "a UUID") { UniqueID($0) }
        fields.timestamp = try required("--timestamp", in: arguments, expecting: "milliseconds since 1970 UTC") {
            Int64($0).flatMap(Timestamp.init(exactlyMilliseconds:))
        }
        fields.signature = try required("--signature", in: arguments, expecting: "a signature in base64") { text in
            PresentedSignature.signature(base64: Array(text.utf8))
        }
        guard let presented = PresentedSignature(fields) else {
            throw CommandError(usage: "such fields can't be signed")
        }
        return presented
    }

    private static func binding(_ arguments: Arguments) throws(CommandError) -> PurchaseBinding {
        let token = try arguments.value("--app-account-token", expecting: "a UUID") { UniqueID($0) }
        let expected = "1 to 255 visible ASCII characters"
        let name = try arguments.value("--application-username", expecting: expected) { try? ApplicationUsername($0) }
        guard token == nil || name == nil else {
            throw CommandError(usage: "a purchase carries --app-account-token or --application-username, not both")
        }
        return token.map(PurchaseBinding.appAccountToken) ?? name.map(PurchaseBinding.applicationUsername) ?? .none
    }

    private static func required<Value>(
        _ name: String,
        in arguments: Arguments,
        expecting expected: String,
        _ parse: (String) -> Value?
    ) throws(CommandError) -> Value {
        guard let value = try arguments.value(name, expecting: expected, parse) else {
            throw CommandError(usage: "find needs --answer, --jws, or \(name) and the other fields of the signature")
        }
        return value
    }

    static func maintainIndex(_ arguments: Arguments, of ledger: LedgerAccess) throws(CommandError) -> ExitCode {
        guard arguments.flags.count == 1, let flag = arguments.flags.first else {
            throw CommandError(usage: "expected --compare or --rebuild")
        }
        try LedgerOptions.demand(ledger)
        let read = RecordedRead(caller: nil, call: .indexCommand, conditions: [], count: 0)
        try record(.records(.read(read)), in: ledger)
        do {
            let progress = Progress(flag == "--rebuild" ? "rebuilt" : "compared", "runs")
            defer { progress.end() }
            let maintenance = try AuditIndexMaintenance(ledger) { progress.update($0, of: $1) }
            if flag == "--rebuild" {
                let runs = try maintenance.rebuild()
                progress.end()
                Terminal.say("\(runs) runs of the index were rebuilt")
                return .success
            }
            let (runs, differences) = try maintenance.compare()
            progress.end()
            for difference in differences { Terminal.say("\(difference)") }
            if differences.isEmpty { Terminal.say("the index is as the log has it, in \(runs) runs") }
            return differences.isEmpty ? .success : .failure
        } catch {
            throw CommandError(error.description, .unavailable)
        }
    }
}
