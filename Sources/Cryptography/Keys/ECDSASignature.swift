// SPDX-License-Identifier: Apache-2.0

/// An ECDSA signature over P-256, in the two forms that are in use.
///
/// Apple's original promotional offers take DER (RFC 3279 section 2.2.3); JWS takes r and s side by side (RFC 7518
/// section 3.4). Holding one says that its form is right, and nothing about whether it verifies.
package struct ECDSASignature: Hashable, Sendable {
    /// The most bytes that ``der`` has.
    package static let maximumDERByteCount = 72

    /// A SEQUENCE of the INTEGERs r and s: 8 to 72 bytes, mostly 70 to 72.
    package let der: [UInt8]

    /// Takes a DER text apart to see that it is one; nil unless both numbers are positive, minimal and of at most 32
    /// bytes, and nothing follows.
    package init?(der: [UInt8]) {
        guard Self.numbers(in: der) != nil else { return nil }
        self.der = der
    }

    /// Takes r and s, 32 bytes each, big-endian; nil for another length or if one is zero.
    package init?(rawRS: [UInt8]) {
        guard rawRS.count == 64 else { return nil }
        let r = rawRS[..<32].drop { $0 == 0 }
        let s = rawRS[32...].drop { $0 == 0 }
        guard !r.isEmpty, !s.isEmpty else { return nil }
        let numbers = Self.integer(r) + Self.integer(s)
        der = [0x30, UInt8(numbers.count)] + numbers
    }

    /// What OpenSSL just made, which needs no second look.
    init(trusted der: [UInt8]) {
        self.der = der
    }

    /// The numbers r and s, 32 bytes each, big-endian, side by side.
    package var rawRS: [UInt8] {
        var raw = [UInt8](repeating: 0, count: 64)
        guard let (r, s) = Self.numbers(in: der) else { return raw }
        raw.replaceSubrange(32 - r.count..<32, with: der[r])
        raw.replaceSubrange(64 - s.count..<64, with: der[s])
        return raw
    }

    /// A positive INTEGER from a number without leading zeros.
    private static func integer(_ number: ArraySlice<UInt8>) -> [UInt8] {
        // A first bit of 1 would make it negative.
        let sign: [UInt8] = number.first.map { $0 & 0x80 != 0 } == true ? [0] : []
        return [0x02, UInt8(sign.count + number.count)] + sign + number
    }

    /// Where r and s stand, without sign bytes.
    private static func numbers(in der: [UInt8]) -> (r: Range<Int>, s: Range<Int>)? {
        guard
            der.count >= 8, der.count <= maximumDERByteCount,
            der[0] == 0x30, Int(der[1]) == der.count - 2,
            let r = number(in: der, at: 2),
            let s = number(in: der, at: r.upperBound),
            s.upperBound == der.count
        else { return nil }
        return (r, s)
    }

    private static func number(in der: [UInt8], at offset: Int) -> Range<Int>? {
        guard offset + 2 < der.count, der[offset] == 0x02 else { return nil }
        var number = offset + 2..<offset + 2 + Int(der[offset + 1])
        guard !number.isEmpty, number.upperBound <= der.count, der[number.lowerBound] & 0x80 == 0 else { return nil }
        if der[number.lowerBound] == 0 {
            // A leading zero is allowed only where it keeps the number positive; alone, the number is zero.
            guard number.count > 1, der[number.lowerBound + 1] & 0x80 != 0 else { return nil }
            number = number.lowerBound + 1..<number.upperBound
        }
        return number.count <= 32 ? number : nil
    }
}
