// SPDX-License-Identifier: Apache-2.0

/// Why an attestation or assertion proves nothing; these are all the reasons.
package enum AppAttestFault: Error, Hashable, Sendable {
    // Their form.
    case cbor(CBORFault)
    /// Not the members that Apple's objects have.
    case form
    /// `fmt` is not `apple-appattest`.
    case otherFormat
    case authenticatorData
    case extensions
    // An attestation.
    case notTwoCertificates
    case certificate(CertificateError)
    case chain(ChainError)
    /// The leaf has no nonce, several, or one in another form.
    case nonceMissing
    /// It was made for another challenge, or its authenticator data was changed.
    case otherNonce
    /// The key of the leaf has another ID than the app says.
    case otherKeyID
    case credentialID
    /// The key in the authenticator data is not the leaf's.
    case credentialKey
    case counterNotZero
    /// Neither of Apple's identifiers.
    case environmentUnknown
    case otherEnvironment(AppAttestEnvironment)
    // Both.
    /// Another app, or the same app of another team, as after re-signing.
    case otherApp
    // An assertion.
    case signatureForm
    case signatureWrong

    /// The reason in a few lowercase words joined by hyphens, for metrics and logs.
    package var label: String {
        switch self {
        case .cbor(let fault): "cbor-\(fault.rawValue)"
        case .form: "form"
        case .otherFormat: "other-format"
        case .authenticatorData: "authenticator-data"
        case .extensions: "extensions"
        case .notTwoCertificates: "not-two-certificates"
        case .certificate(let error): error.label
        case .chain(let error): error.label
        case .nonceMissing: "nonce-missing"
        case .otherNonce: "other-nonce"
        case .otherKeyID: "other-key-id"
        case .credentialID: "credential-id"
        case .credentialKey: "credential-key"
        case .counterNotZero: "counter-not-zero"
        case .environmentUnknown: "environment-unknown"
        case .otherEnvironment: "other-environment"
        case .otherApp: "other-app"
        case .signatureForm: "signature-form"
        case .signatureWrong: "signature-wrong"
        }
    }
}

extension AppAttestFault: CustomStringConvertible {
    /// One sentence, which repeats nothing of the object.
    package var description: String {
        switch self {
        case .cbor(let fault): "The object is not the CBOR that Apple writes (\(fault.rawValue))."
        case .form: "The object does not have the members of Apple's format."
        case .otherFormat: "The attestation's format (fmt) is not that of App Attest."
        case .authenticatorData: "The authenticator data is too short or too long."
        case .extensions: "The extensions of the authenticator data are not as Apple writes them."
        case .notTwoCertificates: "The attestation does not have exactly two certificates."
        case .certificate(let error): error.description
        case .chain(let error): error.description
        case .nonceMissing: "The leaf certificate does not have exactly one nonce."
        case .otherNonce: "The attestation was made for another challenge."
        case .otherKeyID: "The attested key's ID differs from the one in the request."
        case .credentialID: "The credential ID is not that of the attested key."
        case .credentialKey: "The key in the authenticator data is not the attested key."
        case .counterNotZero: "The counter of an attestation must be 0."
        case .environmentUnknown: "The attestation names no environment of App Attest."
        case .otherEnvironment(let found):
            "The key belongs to the environment \(found.rawValue), which appAttest.environments does not allow."
        case .otherApp: "The object belongs to another app, or to a copy of the app that another team signed."
        case .signatureForm: "The assertion's signature is not an ECDSA signature in DER."
        case .signatureWrong: "The assertion was made with another key, for another challenge or for another request."
        }
    }
}
