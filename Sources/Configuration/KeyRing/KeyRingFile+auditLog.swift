// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import JSON
package import OfferDomain

/// What the keys file says of the audit log.
package struct LogIdentity: Sendable {
    /// The name that the log is signed under.
    package let origin: LogOrigin
    /// The key that signs it.
    package let privateKey: Ed25519PrivateKey
}

extension KeyRingFile {
    /// Reads the audit log's name and key.
    ///
    /// It can't be the key of an offer: those are of another algorithm.
    func readLog(_ root: inout ObjectReader, _ mismatches: Mismatches) -> LogIdentity? {
        let expected = "an object with origin and file: the name and key under which the audit log is signed"
        guard let value = root.required("auditLog", expected, as: { $0.object == nil ? nil : $0 }) else { return nil }
        var reader = ObjectReader(value, into: mismatches)
        let origin = reader.required("origin", "1 to 128 of A-Z, a-z, 0-9, “.”, “_”, “/” and “-”") { value in
            value.string.flatMap(LogOrigin.init)
        }
        let pem = readSecret(&reader, "file", for: .logKey)
        reader.finish()
        guard let origin, let pem else { return nil }
        do throws(Ed25519PrivateKeyError) {
            return LogIdentity(origin: origin, privateKey: try Ed25519PrivateKey(pem: pem))
        } catch {
            reader.note("file", error.description)
            return nil
        }
    }
}
