// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferService
import ServiceRuntime

/// A file with one public key in PEM.
enum PublicKeyFile {
    static func read(_ path: String) throws(CommandError) -> PublicKey {
        let text: [UInt8]
        do { text = try TextFile.read(path) } catch { throw CommandError("\(path) \(error)") }
        let lines = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard lines.first == "-----BEGIN PUBLIC KEY-----", lines.last == "-----END PUBLIC KEY-----",
            let spki = Base64.decode(Array(lines.dropFirst().dropLast().joined().utf8))
        else { throw CommandError("\(path): expected one block “PUBLIC KEY” in PEM") }
        do { return try PublicKey(spki: spki) } catch { throw CommandError("\(path): \(error)") }
    }
}
