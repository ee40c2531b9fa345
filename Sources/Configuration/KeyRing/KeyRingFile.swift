// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import Glibc
import JSON
import OfferDomain
import TransparencyLog

/// What the `keys` file holds once everything in it is loaded and checked.
package struct KeyMaterial: Sendable {
    /// The signing keys and the service accounts.
    package let ring: KeyRing
    /// Turns customer ids into what the ledger and the records hold of them.
    package var pseudonyms: Pseudonyms
    /// The audit log's name and key.
    package let log: LogIdentity
    /// For `check --live` alone; `nil` if there is none.
    package let connectKey: AppStoreConnectKey?
    /// The providers whose users' tokens the service accepts.
    package let identity: IdentityProviders
    /// Over the bytes of the `keys` file.
    package let digest: SHA256Digest
    /// What is doubtful but does not stop the service.
    package let warnings: [ConfigurationIssue]
}

/// Reads the `keys` file and every secret that it names.
package struct KeyRingFile {
    let path: String
    private let policy: SecretFilePolicy

    /// The file at `path`; `policy` says what is demanded of the files with secrets that it names.
    package init(path: String, policy: SecretFilePolicy) {
        self.path = path
        self.policy = policy
    }

    /// Loads all keys, or none.
    ///
    /// - Throws: Everything that is wrong, all at once: in the file, and with each key it names.
    package func load() throws(ConfigurationError) -> KeyMaterial {
        let file = try ConfigurationFile(path: path, of: .keys)
        var warnings: [ConfigurationIssue] = []
        let ((keys, accounts, pseudonyms, log, connectKey, identity), issues) = file.read { root, mismatches in
            let keys = root.elements("keys") { readKey($0, of: file, into: mismatches, warnings: &warnings) }
            let accounts = readServiceAccounts(&root, mismatches)
            if keys.isEmpty && accounts.isEmpty && mismatches.all.isEmpty {
                root.note("keys", "names no key, and no service account is named either; nothing could be done")
            }
            reportConflicts(keys, root)
            let pseudonyms = readPseudonyms(&root, mismatches)
            let connectKey = readConnectKey(&root, mismatches)
            if let connectKey, keys.contains(where: { $0.id == connectKey.id }) {
                let message = "has the id of a key that signs offers; a key of the App Store Connect API never does"
                root.note("appStoreConnect", message)
            }
            let identity = readIdentityProviders(&root, mismatches)
            return (keys, accounts, pseudonyms, readLog(&root, mismatches), connectKey, identity)
        }
        guard issues.isEmpty, let pseudonyms, let log else { throw ConfigurationError(issues + warnings) }
        warnings += pseudonyms.gone.map { secretVersion in
            let text = "the file of epoch \(secretVersion) is gone: if it was destroyed, take it from the list"
            return ConfigurationIssue(.warning, place: path, pointer: "/customerIds", text)
        }
        return KeyMaterial(
            ring: KeyRing(keys: keys, serviceAccounts: accounts),
            pseudonyms: pseudonyms,
            log: log,
            connectKey: connectKey,
            identity: identity,
            digest: file.digest,
            warnings: warnings
        )
    }

    private func readKey(
        _ value: JSONValue,
        of file: ConfigurationFile,
        into mismatches: Mismatches,
        warnings: inout [ConfigurationIssue]
    ) -> SigningKey? {
        var reader = ObjectReader(value, into: mismatches)
        let id = reader.required("id", text: KeyID.init)
        let issuerID = reader.required("issuerId", "a UUID, as the Keys page of App Store Connect shows it") {
            $0.string.flatMap { UniqueID($0) }
        }
        let bundleIDs = reader.elements("bundleIds") { readBundleID($0, mismatches) }
        if bundleIDs.isEmpty { reader.note("bundleIds", "expected at least one bundle id") }
        let purposes = readPurposes(&reader, mismatches)
        let status = reader.optional("status", "“active”, “retiring” or “disabled”") {
            $0.string.flatMap(KeyStatus.init)
        }
        let key = readPrivateKey(&reader, status ?? .active)
        reader.finish()
        if let name = reader.fileName {
            let (line, column) = file.document.position(of: value.offset)
            let (place, pointer) = ("\(path):\(line):\(column)", "\(value.pointer)/file")
            warnings += Self.faults(ofName: name, id).map { fault in
                ConfigurationIssue(.warning, place: place, pointer: pointer, fault)
            }
        }
        guard let id, let issuerID, !bundleIDs.isEmpty else { return nil }
        return SigningKey(
            id: id,
            issuerID: issuerID,
            scope: KeyScope(bundleIDs: bundleIDs, purposes: purposes),
            status: status ?? .active,
            key: key
        )
    }

    /// What is doubtful about the name of a key's file, beside the id of the key.
    ///
    /// App Store Connect names the file after the key: `SubscriptionKey_ABC123DEFG.p8`.
    private static func faults(ofName name: String, _ id: KeyID?) -> [String] {
        var faults: [String] = []
        let name = name.hasPrefix("credential:") ? String(name.dropFirst("credential:".count)) : name
        if name.hasPrefix("AuthKey_") {
            faults.append(
                "is named AuthKey_…, as App Store Connect names API keys; offers are signed with an "
                    + "In-App Purchase key, whose file is named SubscriptionKey_…"
            )
        }
        let named = ["SubscriptionKey_", "AuthKey_"].lazy.filter(name.hasPrefix)
            .compactMap { try? KeyID(String(name.dropFirst($0.count).prefix { $0 != "." })) }.first
        if let id, let named, named != id {
            faults.append(
                "is named for the key \(named), and the id here is \(id): one of them is wrong, and the App Store refuses what "
                    + "is signed under a wrong id"
            )
        }
        return faults
    }

    private func readBundleID(_ value: JSONValue, _ mismatches: Mismatches) -> BundleID? {
        guard let text = value.string else {
            return mismatches.none(value, "expected a bundle id, found \(value.summary)")
        }
        do {
            return try BundleID(text)
        } catch {
            return mismatches.none(value, "\(error)")
        }
    }

    private func readPurposes(_ reader: inout ObjectReader, _ mismatches: Mismatches) -> Set<KeyPurpose> {
        let names = KeyPurpose.allCases.map(\.rawValue)
        let listed: [KeyPurpose] = reader.elements("purposes") { value in
            if let purpose = value.string.flatMap(KeyPurpose.init) { return purpose }
            let suggestion = value.string.flatMap { nearest(to: $0, among: names) }.map { "; did you mean “\($0)”?" }
            let message = "expected one of \(names.joined(separator: ", ")), found \(value.summary)\(suggestion ?? "")"
            return mismatches.none(value, message)
        }
        guard let value = reader.member("purposes") else { return Set(KeyPurpose.allCases) }
        if value.array?.isEmpty == true {
            mismatches.add(value, "is empty; leave it out for all purposes, or set the key's status to “disabled”")
        }
        return Set(listed)
    }

    private func readPrivateKey(_ reader: inout ObjectReader, _ status: KeyStatus) -> PinnedKey {
        let passphrase = readSecret(&reader, "passphraseFile", for: .passphrase, isRequired: false)
        let pin = reader.optional("publicKeySha256", "64 hexadecimal digits") { value in
            value.string.flatMap { SHA256Digest(hex: $0) }
        }
        guard status != .disabled else {
            _ = reader.member("file")
            return PinnedKey(pin: pin)
        }
        guard let pem = readSecret(&reader, "file", for: .appStoreKey) else { return PinnedKey(pin: pin) }
        do throws(PrivateKeyError) {
            return PinnedKey(try PrivateKey(pem: pem, passphrase: passphrase, pinnedTo: pin), pin: pin)
        } catch {
            reader.note("file", error.description)
            return PinnedKey(pin: pin)
        }
    }

    func readSecret(
        _ reader: inout ObjectReader,
        _ name: StaticString,
        for use: SecretUse,
        isRequired: Bool = true
    ) -> SecureBytes? {
        let expected = "a path, or credential:NAME"
        let found =
            isRequired
            ? reader.required(name, expected, as: \.string.nonEmpty)
            : reader.optional(name, expected, as: \.string.nonEmpty)
        guard let found else { return nil }
        let location: SecretLocation
        do throws(SecretLocationError) {
            location = try SecretLocation(found, beside: path)
        } catch {
            reader.note(name, error.description)
            return nil
        }
        do throws(SecretFileError) {
            return use == .customerIDs
                ? try SecretFile.readHexadecimal(path: location.path, policy: policy)
                : try SecretFile.read(path: location.path, policy: policy)
        } catch {
            let advice = SecretAdvice(use: use, written: found, path: location.path).text(for: error)
            reader.note(name, "\(printable(found)) \(error)\(advice)")
            return nil
        }
    }

    /// No two keys may share an id, and no two active ones an app and a purpose: which one signs must be certain.
    private func reportConflicts(_ keys: [SigningKey], _ root: ObjectReader) {
        var ids: Set<KeyID> = []
        var signers: [String: KeyID] = [:]
        for key in keys {
            if !ids.insert(key.id).inserted { root.note("keys", "\(key.id) is listed twice") }
            for bundleID in key.bundleIDs where key.status == .active {
                for purpose in key.purposes.sorted(by: { $0.rawValue < $1.rawValue }) {
                    guard let other = signers.updateValue(key.id, forKey: "\(bundleID) \(purpose)"), other != key.id
                    else { continue }
                    root.note(
                        "keys",
                        "\(other) and \(key.id) are both active for \(bundleID) and \(purpose.rawValue); "
                            + "make one of them retiring"
                    )
                }
            }
        }
    }
}

extension ObjectReader {
    /// The last part of the `file` member, without its folders.
    fileprivate var fileName: String? {
        var copy = self
        return copy.member("file")?.string?.split(separator: "/").last.map(String.init)
    }
}

extension String? {
    fileprivate var nonEmpty: String? { flatMap { $0.isEmpty ? nil : $0 } }
}
