// SPDX-License-Identifier: Apache-2.0

/// Why a text is not taken as an Ed25519 private key, or a new key is not written.
///
/// The sentences say what was found and what was expected, and nothing of the key; the code that shows one adds where
/// the text came from.
package enum Ed25519PrivateKeyError: Error, Hashable, Sendable {
    /// Not exactly one PEM block, or a damaged one.
    case notOneBlock
    /// The text around the block, or its line ends, are of another form.
    case wrapped(PrivateKeyError)
    /// A PEM block of another kind: a certificate, a public key, OpenSSH's own form.
    case otherBlock
    case encrypted
    case malformedPKCS8(OpenSSLError)
    case trailingBytes(count: Int)
    case otherAlgorithm(name: String)
    case malformedKey(OpenSSLError)
    case selfTestFailed
    case secureMemory(SecureMemoryError)
    case openSSL(OpenSSLError)
    case file(SecretFileError)

    /// What the readers of PEM and PKCS #8 say, in the words of Ed25519.
    init(_ error: PrivateKeyError) {
        switch error {
        case .isJSON, .isQuoted, .lineEndsWrittenOut: self = .wrapped(error)
        case .containsNUL, .startsWithByteOrderMark, .isDER, .noPEMBlock, .textBeforeBlock, .textAfterBlock,
            .secondBlock, .blockNotEnded, .malformedBase64:
            self = .notOneBlock
        case .certificate, .publicKey, .otherBlock, .openSSHKey: self = .otherBlock
        case .sec1Key, .curveParameters, .explicitCurve: self = .otherAlgorithm(name: "another elliptic curve")
        case .traditionalRSAKey: self = .otherAlgorithm(name: "RSA")
        case .passphraseMissing, .passphraseNotNeeded, .outdatedEncryption, .notDecrypted: self = .encrypted
        case .malformedPKCS8(let error): self = .malformedPKCS8(error)
        case .trailingBytes(let count): self = .trailingBytes(count: count)
        case .otherAlgorithm(let name), .otherCurve(let name): self = .otherAlgorithm(name: name)
        case .malformedKey(let error): self = .malformedKey(error)
        case .scalarOutOfRange, .invalidPublicKey, .publicKeyMismatch, .otherKeyThanPinned, .selfTestFailed:
            self = .selfTestFailed
        case .secureMemory(let error), .file(.secureMemory(let error)): self = .secureMemory(error)
        case .openSSL(let error): self = .openSSL(error)
        case .file(let error): self = .file(error)
        }
    }
}

extension Ed25519PrivateKeyError: CustomStringConvertible {
    private static let expected =
        "an Ed25519 key was expected, as openssl genpkey -algorithm ed25519 makes it"

    /// What was found and expected; it shows no part of the key.
    package var description: String {
        switch self {
        case .notOneBlock:
            "The private key is not exactly one whole PEM block “PRIVATE KEY”; nothing else was expected."
        case .wrapped(let error): error.description
        case .otherBlock: "The PEM block is of another kind; \(Self.expected)."
        case .encrypted: "The key is encrypted; an unencrypted one was expected."
        case .malformedPKCS8(let error): "The PEM block holds no well-formed PKCS #8 key. \(error)"
        case .trailingBytes(let count):
            "The key is followed by \(count) bytes that do not belong to it; none were expected."
        case .otherAlgorithm(let name): "This is a key for \(name); \(Self.expected)."
        case .malformedKey(let error): "The PKCS #8 text holds no well-formed Ed25519 key. \(error)"
        case .selfTestFailed: "A signature made with the key does not verify."
        case .secureMemory(let error): error.description
        case .openSSL(let error): error.description
        case .file(let error): error.description
        }
    }
}
