// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Glibc
import Ledger
import OfferDomain
package import ServiceRuntime
import Storage
import TransparencyLog

/// Why the example could not be written.
package struct DemoError: Error, Sendable, CustomStringConvertible {
    /// A sentence for the person who ran the command.
    package let description: String
}

/// A runnable example in a folder: the example files with a fresh key, a caller, and a request to send.
package struct Demo {
    /// The files of the example.
    package enum File: String, CaseIterable, Sendable {
        case keys
        case offers
        case database = "offer-signer.db"
        case privateKey = "SubscriptionKey_ABC123DEFG.p8"
        case publicKey = "public-key.pem"
        case customerIDs = "customer-ids.key"
        case logKey = "audit-log.key"
        case logVerifierKey = "audit-log.vkey"
        case apiKey = "api-key"
        case request = "request.json"

        /// Without which the service or the request of the example does not work.
        static let needed = allCases.filter { $0 != .publicKey && $0 != .logVerifierKey }
    }

    private let directory: String
    private let clock: WallClock

    /// An example in a folder that is to be made, or that an earlier call made.
    package init(directory: String, clock: WallClock) {
        self.directory = directory.hasSuffix("/") ? String(directory.dropLast()) : directory
        self.clock = clock
    }

    /// Where a file of the example is, or will be.
    package func path(_ file: File) -> String { "\(directory)/\(file.rawValue)" }

    /// Whether the example is there already.
    package var exists: Bool { unsafe access(path(.request), F_OK) == 0 }

    /// Writes the example; leaves an earlier one as it is.
    ///
    /// - Throws: Also where something is in the way, before anything is written, or the earlier one is not whole.
    package func write() throws(DemoError) {
        let present = File.allCases.filter { FileIdentity(path: path($0)) != nil }
        if exists {
            guard let missing = File.needed.first(where: { !present.contains($0) }) else { return }
            throw DemoError(
                description: "the example in \(directory) is not whole: \(path(missing)) is missing. Put it back, or "
                    + "start again in another folder, or in this one once it is removed."
            )
        }
        if let other = present.first {
            throw DemoError(
                description:
                    "\(path(other)) already exists, and \(directory) has no whole example. Name another folder; "
                    + "nothing was written."
            )
        }
        guard unsafe mkdir(directory, 0o700) == 0 || errno == EEXIST else {
            throw DemoError(description: "\(directory) can't be made: \(systemMessage(errno))")
        }
        let publicKey = try writeSecrets()
        let verifierKey = try writeLogKey()
        try write(EmbeddedFile.bytes(of: "keys.example"), to: .keys)
        try write(EmbeddedFile.bytes(of: "offers.example"), to: .offers)
        try write(Array(publicKey.utf8), to: .publicKey)
        try write(Array("\(verifierKey)\n".utf8), to: .logVerifierKey)
        try write(Array(try addCaller().credential.utf8), to: .apiKey)
        // Last, because it marks the example as complete.
        try write(Array(Self.request.utf8), to: .request)
    }

    /// A command that asks the service for a signature, to be pasted into a shell.
    package func curl(url: String) -> String {
        signatureCurl(url: url, apiKey: path(.apiKey), request: path(.request))
    }

    /// A file's path as a word of a shell's command, in quotes where it needs them.
    package func word(_ file: File) -> String { shellWord(path(file)) }

    private func writeSecrets() throws(DemoError) -> String {
        do throws(SecretFileError) {
            try SecretFile.createRandom(path: path(.customerIDs))
        } catch {
            throw DemoError(description: "\(path(.customerIDs)): \(error)")
        }
        do throws(PrivateKeyError) {
            let key = try PrivateKey.generate()
            try key.writePKCS8(to: path(.privateKey))
            return key.publicKey.pem
        } catch {
            throw DemoError(description: "\(path(.privateKey)): \(error)")
        }
    }

    /// The name is the one in keys.example.
    private func writeLogKey() throws(DemoError) -> NoteVerifierKey {
        do throws(Ed25519PrivateKeyError) {
            let key = try Ed25519PrivateKey.create(path: path(.logKey))
            return NoteVerifierKey(
                name: "example.com/offer-signer",
                algorithm: .ed25519,
                publicKey: key.publicKey
            )
        } catch {
            throw DemoError(description: "\(path(.logKey)): \(error)")
        }
    }

    private func addCaller() throws(DemoError) -> APIKey {
        guard let id = CallerID("demo-backend"), let location = DatabaseLocation("sqlite:\(path(.database))") else {
            throw DemoError(description: "\(path(.database)) is not a path for a database")
        }
        let callers = Callers(ledger: LedgerAccess(location: location, clock: clock), clock: clock)
        switch callers.add(Caller(id: id, role: .backend, apps: []), expiresInDays: nil) {
        case .success(let key): return key
        case .failure(let error): throw DemoError(description: error.description)
        }
    }

    private func write(_ bytes: [UInt8], to file: File) throws(DemoError) {
        let descriptor = unsafe open(path(file), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw DemoError(description: "\(path(file)) can't be made: \(systemMessage(errno))")
        }
        defer { close(descriptor) }
        guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw DemoError(description: "\(path(file)) can't be written: \(systemMessage(errno))")
        }
    }

    private static let request = """
        {
          "bundleId": "com.example.app",
          "productId": "com.example.pro.monthly",
          "offerId": "winback_3m",
          "appAccountToken": "7E3FB204-2A6B-4B2F-9A3C-1B2C3D4E5F60",
          "facts": {
            "status": "expired",
            "expiresAt": "2026-01-01T00:00:00Z",
            "originalTransactionId": "2000000123456789"
          },
          "formats": ["v1", "jws"]
        }

        """
}
