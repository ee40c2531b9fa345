// SPDX-License-Identifier: Apache-2.0
import Configuration
package import Cryptography
import Glibc
import Ledger
import OfferDomain
package import ServiceRuntime
import Storage
import TransparencyLog

/// The folder that gets a team's first configuration; what is there already is never overwritten.
package struct SetupFolder {
    /// The files that are written, beside the In-App Purchase key.
    package enum File: String, CaseIterable, Sendable {
        case keys
        case offers
        case database = "offer-signer.db"
        case publicKey = "public-key.pem"
        case customerIDs = "customer-ids.key"
        case logKey = "audit-log.key"
        case logVerifierKey = "audit-log.vkey"
        case apiKey = "api-key"
        case request = "request.json"
    }

    private let directory: String
    private let clock: WallClock
    private let random: any RandomSource

    package init(directory: String, clock: WallClock, random: any RandomSource) {
        self.directory = directory.count > 1 && directory.hasSuffix("/") ? String(directory.dropLast()) : directory
        self.clock = clock
        self.random = random
    }

    /// Whether it is the working directory, where the service finds its files by default.
    package var isWorkingDirectory: Bool { directory == "." }

    /// Where a file is, or will be.
    package func path(_ file: File) -> String { path(file.rawValue) }

    private func path(_ name: String) -> String { isWorkingDirectory ? name : "\(directory)/\(name)" }

    /// Writes everything that a first signature needs, or nothing where something is in the way.
    ///
    /// - Returns: What was done with the key's own file, for people.
    package func write(_ setup: InitialSetup) throws(SetupError) -> String {
        if let other = File.allCases.map(path).first(where: { FileIdentity(path: $0) != nil }) {
            throw SetupError(
                "\(other) already exists, and nothing is overwritten. Choose another folder with --directory; "
                    + "nothing was written."
            )
        }
        let key = try KeyToImport(setup.keyFile, to: path(setup.keyFileName))
        var connectKey: KeyToImport?
        if let file = setup.connectKey?.file, let name = setup.connectKeyFileName {
            connectKey = try KeyToImport(file, to: path(name))
        }
        guard unsafe mkdir(directory, 0o700) == 0 || errno == EEXIST else {
            throw SetupError("\(directory) cannot be made: \(systemMessage(errno))")
        }
        let note = try key.install()
        _ = try connectKey?.install()
        try writeSecrets(setup)
        try write(setup.keys(pinnedTo: key.publicKey.spkiSHA256.hex), to: .keys)
        try write(setup.offers, to: .offers)
        try write(key.publicKey.pem, to: .publicKey)
        try write(try addCaller(setup).credential, to: .apiKey)
        try write(setup.request(account: .version4(random.next(), random.next())), to: .request)
        return note
    }

    private func writeSecrets(_ setup: InitialSetup) throws(SetupError) {
        do throws(SecretFileError) {
            try SecretFile.createRandom(path: path(.customerIDs))
        } catch {
            throw SetupError("\(path(.customerIDs)): \(error)")
        }
        let verifierKey: NoteVerifierKey
        do throws(Ed25519PrivateKeyError) {
            let key = try Ed25519PrivateKey.create(path: path(.logKey))
            verifierKey = NoteVerifierKey(name: setup.origin.text, algorithm: .ed25519, publicKey: key.publicKey)
        } catch {
            throw SetupError("\(path(.logKey)): \(error)")
        }
        try write("\(verifierKey)\n", to: .logVerifierKey)
    }

    private func addCaller(_ setup: InitialSetup) throws(SetupError) -> APIKey {
        guard let location = DatabaseLocation("sqlite:\(path(.database))") else {
            throw SetupError("\(path(.database)) is not a path for a database")
        }
        let callers = Callers(ledger: LedgerAccess(location: location, clock: clock), clock: clock)
        let caller = Caller(id: setup.caller, role: .backend, apps: [AppName(setup.bundleID)])
        switch callers.add(caller, expiresInDays: nil) {
        case .success(let key): return key
        case .failure(let error): throw SetupError(error.description)
        }
    }

    private func write(_ text: String, to file: File) throws(SetupError) {
        let descriptor = unsafe open(path(file), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SetupError("\(path(file)) cannot be made: \(systemMessage(errno))") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw SetupError("\(path(file)) cannot be written: \(systemMessage(errno))")
        }
    }
}

/// An In-App Purchase key that is put beside the configuration, once it is known to be usable.
private struct KeyToImport {
    let publicKey: PublicKey
    private let source: String
    private let target: String
    private let secret: SecureBytes

    init(_ source: String, to target: String) throws(SetupError) {
        (self.source, self.target) = (source, target)
        do throws(SecretFileError) {
            secret = try SecretFile.readDownloaded(path: source)
        } catch {
            let home = source.hasPrefix("~") ? " The ~ is not expanded here: write the path in full." : ""
            throw SetupError("\(absolutePath(source)): \(error)\(home)")
        }
        do throws(PrivateKeyError) {
            publicKey = try PrivateKey(pem: secret).publicKey
        } catch {
            throw SetupError("\(source): \(error)")
        }
    }

    /// Copies the key, or makes the file private that is in its place already.
    func install() throws(SetupError) -> String {
        if let there = FileIdentity(path: target) {
            guard there == FileIdentity(path: source) else {
                throw SetupError("\(target) already exists, and differs from \(source); nothing was written")
            }
            guard unsafe chmod(target, 0o600) == 0 else {
                throw SetupError("\(target): its mode cannot be set to 0600: \(systemMessage(errno))")
            }
            return "the key, now of mode 0600"
        }
        do throws(SecretFileError) {
            try SecretFile.write(secret, to: target)
        } catch {
            throw SetupError("\(target): \(error)")
        }
        return "a copy of \(source), of mode 0600; keep the original offline or destroy it"
    }
}
