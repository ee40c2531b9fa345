// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain
import ServiceRuntime
import Storage

/// Why the secrets of the keys file are not the ones that the ledger's pseudonyms were made with.
package enum SecretVersionFault: Error, Hashable, Sendable, CustomStringConvertible {
    case otherSecret(String)
    case destroyed(String, at: Timestamp)
    case missing(String)
    /// The secret version is listed and was not destroyed, but its file is not there.
    case fileGone(String)
    /// A secret version is listed before one that began after it.
    case outOfOrder(String, before: String)
    /// Keys made with a new secret could not be told from those of another one.
    case sameTag(String, as: String)

    /// The fault, and what to do, as a part of a sentence for an operator.
    package var description: String {
        switch self {
        case .otherSecret(let version):
            "the file of epoch \(version) is not the one that this database's customers are kept under: with it, all caps "
                + "would open. Put the right file back; for a new secret, list a new epoch before this one"
        case .destroyed(let version, let time):
            "epoch \(version) was destroyed at \(time.rfc3339): take it from the list, and destroy this copy of its file"
        case .missing(let version):
            "epoch \(version) is on record and is not listed: without it, caps of its customers would open. List it, or "
                + "end it for good: offer-signer customers destroy-epoch \(version)"
        case .fileGone(let version):
            "the file of epoch \(version) is not there, and the epoch was not destroyed: without it, caps of its customers would "
                + "open. Put the file back, or end the epoch for good: offer-signer customers destroy-epoch \(version)"
        case .outOfOrder(let version, let other):
            "epochs \(version) and \(other) are in the wrong order: a new one comes first, before those on record, and one "
                + "that another took over from can't begin again"
        case .sameTag(let version, let other):
            "the secret of epoch \(version) marks its keys with the same two bytes as that of epoch \(other), which happens once "
                + "in 65,536 times: replace the new file by another random secret"
        }
    }
}

/// Compares the loaded secrets with those on record, and records new ones.
package struct SecretVersionRegister {
    private let ledger: LedgerAccess
    private var clock: WallClock { ledger.clock }

    package init(ledger: LedgerAccess) {
        self.ledger = ledger
    }

    /// Everything that keeps these secrets from being used with that database.
    package static func faults(_ pseudonyms: Pseudonyms, _ known: [SecretVersionTable.Entry]) -> [SecretVersionFault] {
        let ordinals = Dictionary(known.map { ($0.name, $0.ordinal) }) { first, _ in first }
        var faults: [SecretVersionFault] = []
        var previous: (name: String, ordinal: Int64)?
        for secretVersion in pseudonyms.versions.reversed() {
            // One that is not on record begins now, so it is newer than all that are.
            let ordinal = ordinals[secretVersion.name] ?? .max
            if let previous, previous.ordinal > ordinal {
                faults.append(.outOfOrder(secretVersion.name, before: previous.name))
            }
            previous = (secretVersion.name, ordinal)
        }
        for entry in known {
            let listed = pseudonyms.versions.first { $0.name == entry.name }
            switch (listed, entry.destroyedAt) {
            case (nil, nil): if !pseudonyms.gone.contains(entry.name) { faults.append(.missing(entry.name)) }
            case (.some, let time?): faults.append(.destroyed(entry.name, at: time))
            case (let listed?, nil):
                if listed.checkValue != entry.checkValue { faults.append(.otherSecret(entry.name)) }
            case (nil, .some): break
            }
        }
        faults += sharedTags(pseudonyms, known)
        let destroyed = Set(known.filter { $0.destroyedAt != nil }.map(\.name))
        return faults + pseudonyms.gone.filter { !destroyed.contains($0) }.map(SecretVersionFault.fileGone)
    }

    /// New secrets whose keys end as those of another one do.
    private static func sharedTags(
        _ pseudonyms: Pseudonyms,
        _ known: [SecretVersionTable.Entry]
    ) -> [SecretVersionFault] {
        var names: [[UInt8]: String] = [:]
        for entry in known where entry.destroyedAt == nil { names[entry.keyTag] = entry.name }
        return pseudonyms.versions.reversed().compactMap { secretVersion in
            let tag = LedgerKey.tag(ofSecret: secretVersion.checkValue)
            let other = names.updateValue(secretVersion.name, forKey: tag) ?? secretVersion.name
            return other == secretVersion.name ? nil : .sameTag(secretVersion.name, as: other)
        }
    }

    /// Checks that the database's pseudonyms were made with these secrets; begins and records new secret versions.
    ///
    /// If secret versions begin, `events` are recorded with them, all or nothing.
    ///
    /// - Returns: Whether any begin; otherwise nothing is written.
    @discardableResult
    package func adopt(_ pseudonyms: Pseudonyms, with events: [AuditEvent] = []) throws(SecretVersionError) -> Bool {
        let known: SecretVersionTable
        do { known = SecretVersionTable(connection: try ledger.open()) } catch { throw .ledger(.database(error)) }
        if try Self.newVersions(in: pseudonyms, beside: known).isEmpty { return false }
        try begin(pseudonyms, with: events)
        return true
    }

    /// Begins the new secret versions, if that is still allowed once no other instance writes.
    func begin(_ pseudonyms: Pseudonyms, with events: [AuditEvent]) throws(SecretVersionError) {
        do throws(LedgerChangeError<SecretVersionError>) {
            try ledger.change { connection throws(SecretVersionError) in
                let table = SecretVersionTable(connection: connection)
                // Compared again: another instance may have begun one since.
                let begun = try Self.newVersions(in: pseudonyms, beside: table)
                do throws(StorageError) {
                    for secretVersion in begun { try table.add(secretVersion, at: clock.now()) }
                } catch {
                    throw .ledger(.database(error))
                }
                return begun.map { .secretVersionBegun($0.name) } + events
            }
        } catch {
            switch error {
            case .refused(let error): throw error
            case .ledger(let error): throw .ledger(error)
            }
        }
    }

    /// The secrets that are not on record yet, the oldest first; throws if those on record differ.
    private static func newVersions(
        in pseudonyms: Pseudonyms,
        beside table: SecretVersionTable
    ) throws(SecretVersionError) -> [SecretVersion] {
        let known: [SecretVersionTable.Entry]
        do { known = try table.all() } catch { throw .ledger(.database(error)) }
        let faults = faults(pseudonyms, known)
        guard faults.isEmpty else { throw .refused(faults) }
        let names = Set(known.map(\.name))
        return pseudonyms.versions.reversed().filter { !names.contains($0.name) }
    }
}

/// Why the secrets of customers' ids could not be taken into use.
package enum SecretVersionError: Error, Hashable, Sendable {
    case refused([SecretVersionFault])
    case ledger(LedgerError)
}

extension ConfigurationIssue {
    /// The issue that a fault is, in the keys file at `path`.
    package init(_ fault: SecretVersionFault, path: String) {
        self.init(.error, place: path, pointer: "/customerIds", fault.description)
    }
}
