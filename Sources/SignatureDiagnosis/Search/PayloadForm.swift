// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// What an original signature may have been made over: seven fields, in an order, with something between them, hashed.
///
/// Source: Apple, [Generating a signature for promotional offers](https://developer.apple.com/documentation/storekit/generating-a-signature-for-promotional-offers).
struct PayloadForm: Hashable, Sendable {
    enum Field: Int, CaseIterable, Sendable {
        case bundleID, keyID, productID, offerID, account, nonce, timestamp
    }

    enum Hashing: Sendable { case once, twice, ofHexadecimal }

    /// By ``Field``.
    private var values: [[UInt8]]
    var order = Field.allCases
    var separator = Array("\u{2063}".utf8)
    var dropsEmptyFields = false
    var ending: [UInt8] = []
    var hashing = Hashing.once

    init(_ values: [Field: String]) {
        self.values = Field.allCases.map { Array((values[$0] ?? "").utf8) }
    }

    subscript(field: Field) -> [UInt8] {
        get { values[field.rawValue] }
        set { values[field.rawValue] = newValue }
    }

    /// The digest that was signed.
    var digest: SHA256Digest {
        var bytes: [UInt8] = []
        var isFirst = true
        for field in order where !(dropsEmptyFields && self[field].isEmpty) {
            if !isFirst { bytes += separator }
            isFirst = false
            bytes += self[field]
        }
        let digest = SHA256.digest(of: bytes + ending)
        return switch hashing {
        case .once: digest
        case .twice: SHA256.digest(of: Array(digest.bytes))
        case .ofHexadecimal: SHA256.digest(of: Array(digest.hex.utf8))
        }
    }
}
