// SPDX-License-Identifier: Apache-2.0

/// Why a responder's answer says nothing about the certificate.
package enum OCSPError: Error, Hashable, Sendable {
    case tooLarge(limit: Int)
    case malformed
    case unsuccessful(OCSPFailure)
    case nonceMismatch
    case responderUnknown
    case responderNotDelegated
    case responderNotIssued(ChainError)
    case tooWeak
    case wrongSignature
    case wrongCertificate
    case repeatedCertificate
    case malformedTimes
    case notYetValid
    case stale
    case openSSL(OpenSSLError)

    /// The reason in a few lowercase words joined by hyphens, for metrics.
    package var label: String {
        switch self {
        case .tooLarge: "too-large"
        case .malformed: "malformed"
        case .unsuccessful(let failure): failure.rawValue
        case .nonceMismatch: "nonce-mismatch"
        case .responderUnknown: "responder-unknown"
        case .responderNotDelegated: "responder-not-delegated"
        case .responderNotIssued: "responder-not-issued"
        case .tooWeak: "too-weak"
        case .wrongSignature: "wrong-signature"
        case .wrongCertificate: "wrong-certificate"
        case .repeatedCertificate: "repeated-certificate"
        case .malformedTimes: "malformed-times"
        case .notYetValid: "not-yet-valid"
        case .stale: "stale"
        case .openSSL: "openssl"
        }
    }
}

extension OCSPError: CustomStringConvertible {
    /// One sentence; it shows nothing of the certificate.
    package var description: String {
        switch self {
        case .tooLarge(let limit): "The OCSP response has more than \(limit) bytes."
        case .malformed: "The OCSP response can't be read."
        case .unsuccessful(let failure): "The OCSP responder answers “\(failure.rawValue)”."
        case .nonceMismatch: "The OCSP response is to another request: its nonce differs."
        case .responderUnknown: "The OCSP response is signed under a certificate that is not there."
        case .responderNotDelegated: "The signer of the OCSP response is not one that may sign OCSP responses."
        case .responderNotIssued(let error): "The OCSP responder's certificate is not good. \(error)"
        case .tooWeak: "The OCSP response is signed over a digest that is too weak."
        case .wrongSignature: "The OCSP response's signature is not its responder's."
        case .wrongCertificate: "The OCSP response says nothing about this certificate."
        case .repeatedCertificate: "The OCSP response lists this certificate more than once."
        case .malformedTimes: "The times in the OCSP response can't be read or contradict each other."
        case .notYetValid: "The OCSP response is from the future."
        case .stale: "The OCSP response is too old."
        case .openSSL(let error): error.description
        }
    }
}

/// What a responder says instead of an answer (RFC 6960 section 4.2.1).
package enum OCSPFailure: String, Hashable, Sendable {
    case malformedRequest = "malformed-request"
    case internalError = "internal-error"
    case tryLater = "try-later"
    case signatureRequired = "signature-required"
    case unauthorized
    case other

    init(_ code: Int32) {
        self =
            switch code {
            case 1: .malformedRequest
            case 2: .internalError
            case 3: .tryLater
            case 5: .signatureRequired
            case 6: .unauthorized
            default: .other
            }
    }
}
