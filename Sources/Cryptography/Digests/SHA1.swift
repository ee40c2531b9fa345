// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// SHA-1, for UUIDs that are made of names.
///
/// It protects nothing.
///
/// Source: FIPS 180-4; RFC 9562 section 5.5.
package enum SHA1 {
    /// The digest, 20 bytes; `nil` where OpenSSL offers no SHA-1.
    package static func digest(of bytes: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: 20)
        var count = 0
        guard unsafe EVP_Q_digest(nil, "SHA1", nil, bytes, bytes.count, &digest, &count) == 1, count == 20 else {
            OpenSSLError.forget()
            return nil
        }
        return digest
    }
}
