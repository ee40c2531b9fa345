// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import TransparencyLog

extension KeyRingFile {
    /// Reads the audit log's name and key.
    ///
    /// It can't be the key of an offer: those are of another algorithm.
    func readLogKey(_ root: inout ObjectReader, _ mismatches: Mismatches) -> LogKey? {
        let expected = "an object with origin and file: the name and key under which the audit log is signed"
        guard let value = root.required("auditLog", expected, { $0.object == nil ? nil : $0 }) else { return nil }
        var reader = ObjectReader(value, into: mismatches)
        let origin = reader.required("origin", "1 to 128 of A-Z, a-z, 0-9, “.”, “_”, “/” and “-”") { value in
            value.string.flatMap(LogOrigin.init)
        }
        let pem = readSecret(&reader, "file", for: .logKey)
        reader.finish()
        guard let origin, let pem else { return nil }
        do throws(Ed25519PrivateKeyError) {
            return LogKey(origin: origin, privateKey: try Ed25519PrivateKey(pem: pem))
        } catch {
            reader.note("file", error.description)
            return nil
        }
    }
}
