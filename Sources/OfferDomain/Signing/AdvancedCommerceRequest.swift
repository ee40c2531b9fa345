// SPDX-License-Identifier: Apache-2.0

/// A request of the Advanced Commerce API: JSON in standard Base64 with padding, as the `request` claim holds it.
///
/// The alphabet, the length, the padding and its zero bits are checked, not the JSON inside.
///
/// Source: Apple, [Generating JWS to sign App Store requests](https://developer.apple.com/documentation/storekit/generating-jws-to-sign-app-store-requests);
/// RFC 4648, section 4.
package struct AdvancedCommerceRequest: Hashable, Sendable {
    /// The Base64 as it was given.
    package let base64: String

    /// Reads at most 64 KiB of Base64.
    package init(base64 bytes: [UInt8]) throws(AdvancedCommerceRequestError) {
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= 65_536 else { throw .tooLong(limit: 65_536) }
        guard bytes.count.isMultiple(of: 4) else { throw .notPadded }
        let digits = bytes.prefix { $0 != 0x3D }
        let padding = bytes.count - digits.count
        for (offset, byte) in digits.enumerated() where AdvancedCommerceRequest.value(of: byte) == nil {
            throw .notBase64(offset: offset)
        }
        guard padding <= 2, bytes.suffix(padding).allSatisfy({ $0 == 0x3D }) else { throw .notPadded }
        // Of the last digit, two or four bits are beyond the last byte; a nonzero one would be a second spelling.
        let unusedBits: UInt8 = padding == 2 ? 0xF : padding == 1 ? 0x3 : 0
        guard let last = digits.last.flatMap(AdvancedCommerceRequest.value(of:)), last & unusedBits == 0 else {
            throw .notCanonical
        }
        self.base64 = String(decoding: bytes, as: UTF8.self)
    }

    /// The six bits of a digit of standard Base64.
    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x41...0x5A: digit - 0x41
        case 0x61...0x7A: digit - 0x61 + 26
        case 0x30...0x39: digit - 0x30 + 52
        case 0x2B: 62
        case 0x2F: 63
        default: nil
        }
    }
}

/// Why bytes are not standard Base64; these are all the ways.
package enum AdvancedCommerceRequestError: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    /// Longer than `limit` bytes.
    case tooLong(limit: Int)
    /// A byte outside the alphabet; base64url's `-` and `_` are such.
    case notBase64(offset: Int)
    case notPadded
    /// Bits that no byte uses are not zero.
    case notCanonical

    /// A sentence without its subject, which is the member of the request.
    package var description: String {
        switch self {
        case .empty: "must not be empty"
        case .tooLong(let limit): "is longer than \(limit) bytes"
        case .notBase64(let offset): "holds a byte at \(offset) that is not standard Base64"
        case .notPadded: "must be padded with = to a multiple of four characters"
        case .notCanonical: "ends in bits that must be zero"
        }
    }
}
