// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A small writer of DER, to build keys that no tool would make.
package enum KeyDER {
    package static let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    package static let prime256v1: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    package static let secp256k1: [UInt8] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x0A]

    /// The order of P-256's group (FIPS 186-5, SP 800-186 section 3.2.1.3), big-endian.
    package static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// A tag, the length and the contents.
    package static func element(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
        let contents = Array(parts.joined())
        let count = contents.count
        let length: [UInt8] =
            count < 0x80
            ? [UInt8(count)]
            : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
        return [tag] + length + contents
    }

    /// A PrivateKeyInfo around an ECPrivateKey (RFC 5958, RFC 5915).
    package static func pkcs8(
        scalar: [UInt8],
        point: [UInt8]? = nil,
        curve: [UInt8] = prime256v1,
        curveInside: [UInt8]? = nil,
        after garbage: [UInt8] = []
    ) -> [UInt8] {
        let key = element(
            0x30,
            [0x02, 0x01, 0x01],
            element(0x04, scalar),
            curveInside.map { element(0xA0, $0) } ?? [],
            point.map { element(0xA1, element(0x03, [0], $0)) } ?? []
        )
        return element(0x30, [0x02, 0x01, 0x00], element(0x30, ecPublicKey, curve), element(0x04, key, garbage))
    }

    /// The private number and the uncompressed point in a PKCS #8 text that `openssl` made for P-256.
    package static func numbers(in pem: [UInt8]) throws -> (scalar: [UInt8], point: [UInt8]) {
        let der = try contents(of: pem)
        guard der.count == 138 else { throw KeyTool.Failure(description: "PKCS #8 of \(der.count) bytes") }
        return (Array(der[36..<68]), Array(der[73...]))
    }

    /// A PEM block.
    package static func pem(_ der: [UInt8], label: String = "PRIVATE KEY") -> [UInt8] {
        let text = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Array("-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n".utf8)
    }

    /// What is in a PEM block.
    package static func contents(of pem: [UInt8]) throws -> [UInt8] {
        let lines = String(decoding: pem, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("-----") }
        guard let data = Data(base64Encoded: lines.joined()) else {
            throw KeyTool.Failure(description: "not Base64: \(lines.count) lines")
        }
        return Array(data)
    }
}
