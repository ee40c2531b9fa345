// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import OfferDomain

extension KeyRingFile {
    /// Reads the service accounts with their key files; an app has one account at most.
    func readServiceAccounts(_ root: inout ObjectReader, _ mismatches: Mismatches) -> [GoogleServiceAccount] {
        var owners: [PackageName: String] = [:]
        return root.elements("googleServiceAccounts", atMost: 256) { value in
            var reader = ObjectReader(value, into: mismatches)
            let packageNames = reader.elements("packageNames") { readPackageName($0, owners: &owners, mismatches) }
            let listed = reader.member("packageNames")
            if listed == nil || listed?.array?.isEmpty == true {
                reader.note("packageNames", "expected at least one package name")
            }
            let file = readServiceAccountFile(&reader)
            reader.finish()
            guard let file, !packageNames.isEmpty else { return nil }
            return GoogleServiceAccount(name: file.name, packageNames: packageNames, privateKey: file.privateKey)
        }
    }

    private func readPackageName(
        _ value: JSONValue,
        owners: inout [PackageName: String],
        _ mismatches: Mismatches
    ) -> PackageName? {
        guard let text = value.string else {
            return mismatches.none(value, "expected a package name, found \(value.summary)")
        }
        let name: PackageName
        do throws(IdentifierError) {
            name = try PackageName(text)
        } catch {
            return mismatches.none(value, "\(error)")
        }
        if let other = owners[name] { return mismatches.none(value, "is at \(other) already; an app has one account") }
        owners[name] = value.pointer
        return name
    }

    private func readServiceAccountFile(_ reader: inout ObjectReader) -> ServiceAccountFile? {
        guard let contents = readSecret(&reader, "file", for: .serviceAccount) else { return nil }
        let reader = reader
        return ServiceAccountFile(contents) { reader.note("file", $0) }
    }
}
