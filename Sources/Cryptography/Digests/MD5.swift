// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// MD5, for names that others' software makes with it.
///
/// It protects nothing.
///
/// Source: RFC 1321.
package enum MD5 {
    /// The digest, 16 bytes; `nil` where OpenSSL offers no MD5.
    package static func digest(of bytes: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: 16)
        var count = 0
        guard unsafe EVP_Q_digest(nil, "MD5", nil, bytes, bytes.count, &digest, &count) == 1, count == 16 else {
            OpenSSLError.forget()
            return nil
        }
        return digest
    }
}
