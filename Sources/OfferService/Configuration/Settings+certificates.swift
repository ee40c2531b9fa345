// SPDX-License-Identifier: Apache-2.0
package import Cryptography

extension Settings {
    /// Apple's root, and those that the settings add.
    package func trustAnchors() throws(ConfigurationError) -> TrustAnchors {
        do {
            let apple = try TrustAnchors.appleRootCAG3()
            guard let path = appStoreRootsPath else { return apple }
            return apple.union(try TrustAnchors(pem: try TextFile.read(path, decides: true)))
        } catch {
            let place = appStoreRootsPath ?? "Apple's root"
            throw ConfigurationError([ConfigurationIssue(.error, place: place, "\(error)")])
        }
    }

    /// The SHA-256 of the file of roots that are trusted beside Apple's own, in hexadecimal; `nil` if there is none.
    package var furtherRootsDigest: String? {
        appStoreRootsPath.flatMap { try? TextFile.read($0, decides: true) }.map { SHA256.digest(of: $0).hex }
    }

    /// What is wrong with the files of certificates that settings name.
    var certificateIssues: [ConfigurationIssue] {
        var issues: [ConfigurationIssue] = []
        do throws(ConfigurationError) {
            _ = try trustAnchors()
        } catch {
            issues += error.issues
        }
        guard let path = trustedCertificatesPath else { return issues }
        do {
            _ = try TextFile.read(path, decides: true)
            try CertificateFile.check(path: path)
        } catch {
            issues.append(ConfigurationIssue(.error, place: path, "\(error)"))
        }
        return issues
    }
}
