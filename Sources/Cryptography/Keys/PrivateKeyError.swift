// SPDX-License-Identifier: Apache-2.0

/// Why a text is not taken as a private key, or a key is not written.
///
/// The sentences say what was found and what was expected, and nothing of the key; the code that shows one adds where
/// the text came from.
package enum PrivateKeyError: Error, Hashable, Sendable {
    // The text around the key.
    case containsNUL
    case startsWithByteOrderMark
    case isDER
    /// A JSON text, as the key file of a Google service account.
    case isJSON
    case isQuoted
    /// The line ends are the two characters `\n`.
    case lineEndsWrittenOut
    case noPEMBlock
    case textBeforeBlock
    case textAfterBlock
    case secondBlock
    case blockNotEnded
    case malformedBase64
    // Another kind of block.
    case sec1Key
    case curveParameters
    case traditionalRSAKey
    case openSSHKey
    case certificate
    case publicKey
    case otherBlock
    // Encryption.
    case passphraseMissing
    case passphraseNotNeeded
    case outdatedEncryption(scheme: String)
    case notDecrypted(OpenSSLError)
    // What the block holds.
    case malformedPKCS8(OpenSSLError)
    case trailingBytes(count: Int)
    case otherAlgorithm(name: String)
    case otherCurve(name: String)
    case explicitCurve
    case malformedKey(OpenSSLError)
    // The numbers.
    case scalarOutOfRange
    case invalidPublicKey
    case publicKeyMismatch
    case selfTestFailed
    case otherKeyThanPinned(found: SHA256Digest, pinned: SHA256Digest)
    // Around all that.
    case secureMemory(SecureMemoryError)
    case openSSL(OpenSSLError)
    case file(SecretFileError)
}

extension PrivateKeyError: CustomStringConvertible {
    /// What was found and expected; it shows no part of the key.
    package var description: String {
        textFault ?? blockFault ?? encryptionFault ?? contentFault
    }

    private static let expected = "one PEM block “PRIVATE KEY” was expected, as in the .p8 file from App Store Connect"

    private var textFault: String? {
        switch self {
        case .containsNUL: "The text holds a NUL byte; \(Self.expected)."
        case .startsWithByteOrderMark: "The text starts with a byte order mark; plain ASCII was expected."
        case .isDER: "The file is binary DER; \(Self.expected)."
        case .isJSON:
            "The file is JSON, as the key file of a Google service account is; \(Self.expected). A Google key file belongs in "
                + "googleServiceAccounts."
        case .isQuoted: "The text is in quotes; remove the quotes, because the file must hold the PEM block alone."
        case .lineEndsWrittenOut:
            "The line ends are written out as \\n; replace them with real line breaks, as printf '%b' does."
        case .noPEMBlock: "The text holds no line “-----BEGIN …-----”; \(Self.expected)."
        case .textBeforeBlock: "There is text before the PEM block; only the block was expected."
        case .textAfterBlock: "There is text after the PEM block; only the block was expected."
        case .secondBlock: "There is a second PEM block; exactly one was expected, to leave no doubt which key is used."
        case .blockNotEnded: "The PEM block has no END line that fits its BEGIN line; the text may be cut off."
        case .malformedBase64: "The PEM block is not well-formed Base64; the text may be damaged."
        default: nil
        }
    }

    private var blockFault: String? {
        switch self {
        case .sec1Key:
            "The key is in SEC 1 form (“EC PRIVATE KEY”); PKCS #8 was expected. `openssl pkcs8 -topk8 -nocrypt` converts it."
        case .curveParameters: "The text starts with curve parameters (“EC PARAMETERS”); \(Self.expected)."
        case .traditionalRSAKey: "The key is an RSA key (“RSA PRIVATE KEY”); an EC key on P-256 was expected."
        case .openSSHKey: "The key is in OpenSSH's own form (“OPENSSH PRIVATE KEY”); \(Self.expected)."
        case .certificate: "The text holds a certificate; \(Self.expected)."
        case .publicKey: "The text holds a public key only; \(Self.expected)."
        case .otherBlock: "The PEM block is of a kind that is not used here; \(Self.expected)."
        default: nil
        }
    }

    private var encryptionFault: String? {
        switch self {
        case .passphraseMissing: "The key is encrypted, and no passphrase is configured for it."
        case .passphraseNotNeeded:
            "A passphrase is configured, but the key is not encrypted, so it is less protected than the configuration suggests."
        case .outdatedEncryption(let scheme): "The key is encrypted with \(scheme); PBES2 was expected."
        case .notDecrypted(let error):
            "The key cannot be decrypted: the passphrase is wrong or the text is damaged. \(error)"
        default: nil
        }
    }

    private var contentFault: String {
        switch self {
        case .malformedPKCS8(let error): "The PEM block holds no well-formed PKCS #8 key. \(error)"
        case .trailingBytes(let count):
            "The key is followed by \(count) bytes that do not belong to it; none were expected."
        case .otherAlgorithm(let name): "This is a key for \(name); an EC key on P-256 was expected."
        case .otherCurve(let name): "The key is on the curve \(name); P-256 (prime256v1) was expected."
        case .explicitCurve: "The key spells out a curve of its own; the named curve P-256 (prime256v1) was expected."
        case .malformedKey(let error): "The PKCS #8 text holds no well-formed EC key. \(error)"
        case .scalarOutOfRange: "The private number is zero or not below the curve's order, so this is not a key."
        case .invalidPublicKey: "The public key in the file is not a point of P-256."
        case .publicKeyMismatch: "The public key in the file belongs to another private key."
        case .selfTestFailed: "A signature made with the key does not verify."
        case .otherKeyThanPinned(let found, let pinned):
            "The public key's SHA-256 is \(found); \(pinned) was expected. Is it the file of another key id?"
        case .secureMemory(let error): error.description
        case .openSSL(let error): error.description
        case .file(let error): error.description
        default: "The key is refused."
        }
    }
}
