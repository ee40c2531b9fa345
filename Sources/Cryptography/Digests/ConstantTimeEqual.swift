// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// Whether two byte strings are the same, in a time that tells nothing about their contents.
///
/// The lengths may differ, and are not kept secret.
package func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    return unsafe CRYPTO_memcmp(a, b, a.count) == 0
}
