// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import ServiceRuntime

extension Settings {
    /// The root of Apple's signed data, or another one of Apple's, and those that the settings add.
    package func trustAnchors(
        besides apples: () throws(TrustAnchorError) -> TrustAnchors = TrustAnchors.appleRootCAG3
    ) throws(ConfigurationError) -> TrustAnchors {
        do {
            let apple = try apples()
            guard let path = appStoreRootsPath else { return apple }
            return apple.union(try TrustAnchors(pem: try TextFile.read(path, decides: true)))
        } catch {
            let place = appStoreRootsPath ?? "Apple's root"
            let setting = appStoreRootsPath == nil ? "" : Self.named(by: .appStoreRoots, error)
            throw ConfigurationError([ConfigurationIssue(.error, place: place, "\(error)\(setting)")])
        }
    }

    /// Verifies what the App Store signs.
    package func signedDataVerifier() throws(ConfigurationError) -> SignedDataVerifier {
        SignedDataVerifier(anchors: try trustAnchors())
    }

    /// Where attestations of apps may end.
    package func appAttestAnchors() throws(ConfigurationError) -> TrustAnchors {
        try trustAnchors(besides: TrustAnchors.appleAppAttestationRootCA)
    }

    /// The SHA-256, in hexadecimal, of the file with roots that are trusted beside Apple's; `nil` without a file.
    package var furtherRootsDigest: String? {
        appStoreRootsPath.flatMap { try? TextFile.read($0, decides: true) }.map { SHA256.digest(of: $0).hex }
    }

    /// What is wrong with the files of certificates that settings name.
    package var certificateIssues: [ConfigurationIssue] {
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
            let setting = Self.named(by: .trustedCertificates, error)
            issues.append(ConfigurationIssue(.error, place: path, "\(error)\(setting)"))
        }
        return issues
    }

    /// Which setting names a file that is not there.
    package static func named(by setting: Setting, _ error: any Error) -> String {
        guard (error as? TextFileError)?.isMissing == true else { return "" }
        return "; \(setting.flag) or \(setting.variable) names it"
    }
}
