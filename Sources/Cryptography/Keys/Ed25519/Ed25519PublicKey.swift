// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// An Ed25519 public key: 32 bytes that name a point.
///
/// Source: RFC 8032 section 5.1.
package struct Ed25519PublicKey: Hashable, Sendable {
    /// The number of bytes of every key.
    package static let byteCount = 32
    /// The number of bytes of every signature.
    package static let signatureByteCount = 64

    /// The encoded point.
    package let bytes: [UInt8]

    /// A key from its bytes; nil unless there are 32.
    ///
    /// Bytes that name no point make a key that verifies nothing.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// The SubjectPublicKeyInfo in DER (RFC 8410 section 4): 44 bytes.
    package var spki: [UInt8] {
        [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00] + bytes
    }

    /// Whether the signature over the message was made with this key's private half.
    ///
    /// Any thread may ask. Takes about a tenth of a millisecond.
    package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard signature.count == Self.signatureByteCount else { return false }
        do throws(OpenSSLError) {
            let key = try unsafe Owned(
                EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, bytes, bytes.count),
                freedBy: { unsafe EVP_PKEY_free($0) },
                while: "read the public key"
            )
            let context = try EVPKey.digestContext()
            let isVerified =
                unsafe EVP_DigestVerifyInit(context.pointer, nil, nil, nil, key.pointer) == 1
                && EVP_DigestVerify(context.pointer, signature, signature.count, message, message.count) == 1
            if !isVerified { OpenSSLError.forget() }
            return isVerified
        } catch {
            return false
        }
    }
}
