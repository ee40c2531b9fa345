// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON

extension KeyRingFile {
    /// Reads the secrets under which customers' ids are kept: one object, or a list of them with the newest first.
    func readPseudonyms(_ root: inout ObjectReader, _ mismatches: Mismatches) -> Pseudonyms? {
        let expected = "an object with epoch and file, or a list of them: the secrets under which customer ids are kept"
        guard let value = root.required("customerIds", expected, as: { $0.object == nil && $0.array == nil ? nil : $0 })
        else { return nil }
        guard value.array != nil else { return readSecret(value, mismatches).map { Pseudonyms($0) } }
        var names: Set<String> = []
        var gone: [String] = []
        let versions: [SecretVersion] = root.elements("customerIds", atMost: 16) { value in
            if !names.isEmpty, let name = nameOfGone(value), names.insert(name).inserted {
                gone.append(name)
                return nil
            }
            guard let secretVersion = readSecret(value, mismatches) else { return nil }
            if !names.insert(secretVersion.name).inserted {
                mismatches.add(value, "epoch \(secretVersion.name) is listed twice")
            }
            return secretVersion
        }
        for (index, secretVersion) in versions.enumerated() {
            guard let other = versions[..<index].first(where: secretVersion.hasSameSecret),
                other.name != secretVersion.name
            else {
                continue
            }
            mismatches.add(
                value,
                "epochs \(other.name) and \(secretVersion.name) have one secret: nothing would change with it"
            )
        }
        guard let newest = versions.first else {
            if value.array?.isEmpty == true { mismatches.add(value, "expected at least one epoch") }
            return nil
        }
        return Pseudonyms(newest, earlier: Array(versions.dropFirst()), gone: gone)
    }

    /// The versions' names and paths; reads no secret, because a file may be gone already.
    ///
    /// - Returns: The names, the newest first; the path is `nil` for a credential, whose file is only a copy.
    package func secretFiles() throws(ConfigurationError) -> [(name: String, path: String?)] {
        let root = try ConfigurationFile(path: path, of: .keys).document.root.object
        guard let value = root?["customerIds"] else { return [] }
        let elements = value.array.map(Array.init) ?? [value]
        return elements.compactMap { element in
            guard let name = element.object?["epoch"]?.string, let file = element.object?["file"]?.string else {
                return nil
            }
            let location = file.hasPrefix("credential:") ? nil : try? SecretLocation(file, beside: path)
            return (name, location?.path)
        }
    }

    /// The version's name, if the entry is well formed and the file does not exist; otherwise `nil`.
    ///
    /// The database knows whether the file may be gone. If the secret was destroyed, only the list needs cleaning up.
    private func nameOfGone(_ value: JSONValue) -> String? {
        guard let object = value.object, let name = object["epoch"]?.string, SecretVersion.isName(name),
            let file = object["file"]?.string, let location = try? SecretLocation(file, beside: path),
            SecretFile.isAbsent(path: location.path)
        else { return nil }
        return name
    }

    private func readSecret(_ value: JSONValue, _ mismatches: Mismatches) -> SecretVersion? {
        var reader = ObjectReader(value, into: mismatches)
        let name = reader.required("epoch", "a string of 1 to 16 letters or digits") { value in
            value.string.flatMap { SecretVersion.isName($0) ? $0 : nil }
        }
        let secret = readSecret(&reader, "file", for: .customerIDs)
        reader.finish()
        guard let name, let secret else { return nil }
        do {
            return SecretVersion(name: name, key: try HMACKey(secret))
        } catch {
            reader.note("file", "\(error)")
            return nil
        }
    }
}
