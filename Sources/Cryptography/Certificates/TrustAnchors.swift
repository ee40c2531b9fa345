// SPDX-License-Identifier: Apache-2.0

/// The root certificates that a chain may end at; no other roots count, not even those of the system.
package struct TrustAnchors: Hashable, Sendable {
    /// The roots, each once.
    package let certificates: [Certificate]

    /// Takes roots.
    ///
    /// - Throws: If there are no roots, or a root is not signed with its own key or may not issue certificates.
    package init(_ certificates: [Certificate]) throws(TrustAnchorError) {
        guard !certificates.isEmpty else { throw .empty }
        var roots: [Certificate] = []
        for certificate in certificates where !roots.contains(certificate) {
            guard certificate.body.isSelfSigned else { throw .notSelfSigned(certificate.fingerprint) }
            guard certificate.isAuthority, certificate.allows(.certificateSigning) else {
                throw .notAnAuthority(certificate.fingerprint)
            }
            roots.append(certificate)
        }
        self.certificates = roots
    }

    /// Reads roots from PEM: blocks “CERTIFICATE” only, 64 KiB and 32 of them at most.
    package init(pem: [UInt8]) throws(TrustAnchorError) {
        guard pem.count <= 65_536 else { throw .tooLarge }
        let texts = try CertificatePEM.decode(pem)
        guard texts.count <= 32 else { throw .tooLarge }
        var certificates: [Certificate] = []
        for der in texts {
            do throws(CertificateError) {
                certificates.append(try Certificate(der: der))
            } catch {
                throw .certificate(error)
            }
        }
        try self.init(certificates)
    }

    /// The roots of both.
    package func union(_ other: TrustAnchors) -> TrustAnchors {
        TrustAnchors(checked: certificates + other.certificates.filter { !certificates.contains($0) })
    }

    private init(checked certificates: [Certificate]) {
        self.certificates = certificates
    }
}

extension TrustAnchors {
    /// The root that Apple's signed data ends at, “Apple Root CA - G3”, good until 2039-04-30.
    ///
    /// Source: [Apple PKI](https://www.apple.com/certificateauthority/). The copy in this program is held against the
    /// digest in its source.
    package static func appleRootCAG3() throws(TrustAnchorError) -> TrustAnchors {
        let anchors = try TrustAnchors(pem: PackageResources.AppleRootCA_G3_pem)
        guard anchors.certificates.map(\.fingerprint.hex) == [appleRootCAG3Fingerprint] else { throw .notAppleRootCAG3 }
        return anchors
    }

    /// The root that attestations of apps end at, “Apple App Attestation Root CA”, good until 2045-03-15; checked as the other.
    ///
    /// Source: [Apple PKI](https://www.apple.com/certificateauthority/private/).
    package static func appleAppAttestationRootCA() throws(TrustAnchorError) -> TrustAnchors {
        let anchors = try TrustAnchors(pem: PackageResources.AppleAppAttestationRootCA_pem)
        guard anchors.certificates.map(\.fingerprint.hex) == [appleAppAttestationRootCAFingerprint] else {
            throw .notAppleAppAttestationRootCA
        }
        return anchors
    }

    private static let appleAppAttestationRootCAFingerprint =
        "1cb9823ba28ba6ad2d33a006941de2ae4f513ef1d4e831b9f7e0fa7b6242c932"

    /// The SHA-256 digest of the root's DER text, in hexadecimal.
    package static let appleRootCAG3Fingerprint = "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"
}

/// Why root certificates are not taken.
package enum TrustAnchorError: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    case tooLarge
    case malformedPEM
    case otherBlock
    case certificate(CertificateError)
    case notSelfSigned(SHA256Digest)
    case notAnAuthority(SHA256Digest)
    case notAppleRootCAG3
    case notAppleAppAttestationRootCA

    /// A sentence for the operator; it adds no file name.
    package var description: String {
        switch self {
        case .empty: "There is no block “CERTIFICATE”."
        case .tooLarge: "More than 32 certificates, or more than 64 KiB."
        case .malformedPEM: "A block “CERTIFICATE” is not ended, or is not Base64."
        case .otherBlock: "There is a block that is not “CERTIFICATE”."
        case .certificate(let error): error.description
        case .notSelfSigned(let fingerprint):
            "The certificate with the SHA-256 fingerprint \(fingerprint) is not signed with its own key, so it is not a root."
        case .notAnAuthority(let fingerprint):
            "The certificate with the SHA-256 fingerprint \(fingerprint) issues no certificates, so it is not a root."
        case .notAppleRootCAG3: "The root certificate in this program is not Apple Root CA - G3."
        case .notAppleAppAttestationRootCA: "The root certificate in this program is not Apple App Attestation Root CA."
        }
    }
}
