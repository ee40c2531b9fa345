// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// Why a leaf and an intermediate do not lead to one of our roots.
package enum ChainError: Error, Hashable, Sendable {
    case leafIsAuthority
    case leafKeyNotP256
    case leafMarkerMissing
    case leafMayNotSign
    case intermediateNotAuthority
    case intermediateMarkerMissing
    case notYetValid(CertificateRole)
    case expired(CertificateRole)
    case untrustedRoot
    case pathAvoidsIntermediate
    case wrongSignature(CertificateRole)
    case pathTooLong
    case mayNotIssue(CertificateRole)
    case tooWeak(CertificateRole)
    case unknownCriticalExtension(CertificateRole)
    case revoked(CertificateRole)
    /// OpenSSL refuses for a reason that we do not expect; its number is in `<openssl/x509_vfy.h>`.
    case other(code: Int32, CertificateRole)
    case openSSL(OpenSSLError)

    /// What OpenSSL's verdict means.
    init(code: Int32, depth: Int32) {
        let role: CertificateRole = depth <= 0 ? .leaf : depth == 1 ? .intermediate : .root
        self =
            switch code {
            case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
                X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
                X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED:
                .untrustedRoot
            case X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE,
                X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY:
                .wrongSignature(role)
            case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid(role)
            case X509_V_ERR_CERT_HAS_EXPIRED: .expired(role)
            case X509_V_ERR_CERT_CHAIN_TOO_LONG, X509_V_ERR_PATH_LENGTH_EXCEEDED: .pathTooLong
            case X509_V_ERR_KEYUSAGE_NO_CERTSIGN: .mayNotIssue(role)
            case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK: .tooWeak(role)
            case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION: .unknownCriticalExtension(role)
            default: .other(code: code, role)
            }
    }

    /// The reason in a few lowercase words joined by hyphens, for metrics and problems.
    package var label: String {
        switch self {
        case .leafIsAuthority: "leaf-is-authority"
        case .leafKeyNotP256: "leaf-key-not-p256"
        case .leafMarkerMissing: "leaf-marker-missing"
        case .leafMayNotSign: "leaf-may-not-sign"
        case .intermediateNotAuthority: "intermediate-not-authority"
        case .intermediateMarkerMissing: "intermediate-marker-missing"
        case .notYetValid: "certificate-not-yet-valid"
        case .expired: "certificate-expired"
        case .untrustedRoot: "untrusted-root"
        case .pathAvoidsIntermediate: "path-avoids-intermediate"
        case .wrongSignature: "certificate-wrong-signature"
        case .pathTooLong: "certificate-path-too-long"
        case .mayNotIssue: "certificate-may-not-issue"
        case .tooWeak: "certificate-too-weak"
        case .unknownCriticalExtension: "certificate-unknown-critical-extension"
        case .revoked: "certificate-revoked"
        case .other: "certificate-refused"
        case .openSSL: "certificate-check-failed"
        }
    }
}

extension ChainError: CustomStringConvertible {
    /// One sentence, which names the certificate by its role and not by its subject.
    package var description: String {
        switch self {
        case .leafIsAuthority:
            "The first certificate is an authority's; the leaf, whose key signs, must be first."
        case .leafKeyNotP256: "The leaf's key is not on P-256, which ES256 needs."
        case .leafMarkerMissing:
            "The leaf lacks the extension \(CertificateChain.leafMarker.text), so it is not for signed data."
        case .leafMayNotSign: "The leaf's key may not be used for digital signatures."
        case .intermediateNotAuthority: "The second certificate is not an authority's."
        case .intermediateMarkerMissing:
            "The intermediate lacks the extension \(CertificateChain.intermediateMarker.text)."
        case .notYetValid(let role): "The \(role.rawValue) certificate is not valid yet."
        case .expired(let role): "The \(role.rawValue) certificate is expired."
        case .untrustedRoot: "The certificates do not lead to a root that is trusted here."
        case .pathAvoidsIntermediate: "The leaf was not issued by the second certificate."
        case .wrongSignature(let role): "The signature in the \(role.rawValue) certificate is not its issuer's."
        case .pathTooLong: "An issuer does not allow a path of this length."
        case .mayNotIssue(let role):
            "The key of the \(role.rawValue) certificate may not be used to issue certificates."
        case .tooWeak(let role): "The key or the signature of the \(role.rawValue) certificate is too weak."
        case .unknownCriticalExtension(let role):
            "The \(role.rawValue) certificate has a critical extension that is not understood."
        case .revoked(let role): "The \(role.rawValue) certificate has been revoked."
        case .other(let code, let role): "OpenSSL refuses the \(role.rawValue) certificate (reason \(code))."
        case .openSSL(let error): error.description
        }
    }
}
