// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
import OfferDomain
package import ServiceRuntime
import Storage

/// Destroys a version of the secret of customer IDs for good: its pseudonyms can no longer be traced to customers.
package struct SecretDestruction {
    /// What happened to the file of the secret.
    package enum Outcome: Hashable, Sendable {
        case removed(path: String)
        /// It was removed before.
        case gone(path: String)
        /// The keys file does not name it, or names a credential; the service has only a copy of that.
        case notNamed
    }

    private let ledger: LedgerAccess
    private let clock: WallClock
    private let keysPath: String

    package init(ledger: LedgerAccess, clock: WallClock, keysPath: String) {
        self.ledger = ledger
        self.clock = clock
        self.keysPath = keysPath
    }

    /// Records it and deletes the data from the ledger, both or neither; then overwrites the file and removes it.
    ///
    /// If the file was not removed, it may be repeated.
    package func destroy(_ name: String) throws(SecretDestructionError) -> Outcome {
        let files: [(name: String, path: String?)]
        do {
            files = try KeyRingFile(path: keysPath, policy: SecretFilePolicy()).secretFiles()
        } catch {
            throw .configuration(error)
        }
        guard files.first?.name != name else { throw .inForce }
        guard ledger.exists else { throw .ledger(.databaseGone) }
        try forget(name)
        guard let path = files.first(where: { $0.name == name })?.path else { return .notNamed }
        if SecretFile.isAbsent(path: path) { return .gone(path: path) }
        do {
            try SecretFile.destroy(path: path)
        } catch {
            throw .file(path: path, error)
        }
        return .removed(path: path)
    }

    /// How long one answer of the database may take: whole tables are searched in one transaction.
    private static let patienceMilliseconds = 3_600_000

    private func forget(_ name: String) throws(SecretDestructionError) {
        do throws(LedgerChangeError<SecretDestructionError>) {
            try ledger.change(patienceMilliseconds: Self.patienceMilliseconds) {
                connection throws(SecretDestructionError) in
                try forget(name, SecretVersionTable(connection: connection))
            }
        } catch {
            switch error {
            case .refused(let error): throw error
            case .ledger(let error): throw .ledger(error)
            }
        }
    }

    private func forget(_ name: String, _ table: SecretVersionTable) throws(SecretDestructionError) -> [AuditEvent] {
        let known: [SecretVersionTable.Entry]
        do { known = try table.all() } catch { throw .ledger(.database(error)) }
        guard let secretVersion = known.first(where: { $0.name == name }) else { throw .unknown }
        guard secretVersion.destroyedAt == nil else { return [] }
        guard let next = known.first(where: { $0.ordinal > secretVersion.ordinal }) else { throw .inForce }
        do {
            try table.destroy(secretVersion, before: next, at: clock.now())
        } catch {
            throw .ledger(.database(error))
        }
        return [.secretVersionDestroyed(name)]
    }
}

/// Why a version was not destroyed.
package enum SecretDestructionError: Error, Sendable, CustomStringConvertible {
    case inForce
    /// The database has no such secret version.
    case unknown
    case configuration(ConfigurationError)
    case ledger(LedgerError)
    /// The ledger has deleted the data, but the secret is still there.
    case file(path: String, SecretFileError)

    /// The reason, as a part of a sentence for the person who ran the command.
    package var description: String {
        switch self {
        case .inForce:
            "it is in force: new customers are kept under it. List a new epoch before it in the keys file, and have the "
                + "service read that, first"
        case .unknown: "the database knows no epoch of that name"
        case .configuration(let error): error.issues.map(\.description).joined(separator: "\n")
        case .ledger(let error): error.description
        case .file(let path, let error):
            "the ledger has forgotten it, but the secret is still at \(path): \(error) Destroy that file by hand, or run "
                + "this again"
        }
    }
}
