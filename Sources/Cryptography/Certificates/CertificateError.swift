// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not taken as a certificate.
package enum CertificateError: Error, Hashable, Sendable {
    case notACertificate
    case curveNotNamed
    case trailingBytes(Int)
    case notDER
    case notVersion3
    case malformedExtensions
    case malformedValidity

    /// The reason in a few lowercase words joined by hyphens.
    package var label: String {
        switch self {
        case .notACertificate: "not-a-certificate"
        case .curveNotNamed: "certificate-curve-not-named"
        case .trailingBytes: "certificate-trailing-bytes"
        case .notDER: "certificate-not-der"
        case .notVersion3: "certificate-not-version-3"
        case .malformedExtensions: "certificate-malformed-extensions"
        case .malformedValidity: "certificate-malformed-validity"
        }
    }
}

extension CertificateError: CustomStringConvertible {
    /// One sentence; ``label`` is for programs.
    package var description: String {
        switch self {
        case .notACertificate: "These bytes are not an X.509 certificate."
        case .curveNotNamed: "The certificate describes an elliptic curve, which has to be named."
        case .trailingBytes(let count): "\(count) bytes follow the certificate."
        case .notDER: "The certificate is not encoded in DER."
        case .notVersion3: "The certificate is not of X.509 version 3."
        case .malformedExtensions: "The certificate has an extension that can't be read."
        case .malformedValidity: "The certificate's validity can't be read."
        }
    }
}
