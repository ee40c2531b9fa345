// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// A signature out of the text that an app attached, however it is encoded.
struct SignatureText {
    let signature: ECDSASignature
    /// In what the text is not as the App Store expects it.
    let faults: [SignatureFault]

    /// Finds the signature in a text; `nil` if there is none in any known encoding.
    init?(_ text: String) {
        var faults: [SignatureFault] = []
        var text = text
        let unquoted = Self.unquoted(text)
        if unquoted != text {
            text = unquoted
            faults.append(.quoted)
        }
        if let comma = text.firstIndex(of: ","), text.hasPrefix("data:") {
            text = String(text[text.index(after: comma)...])
            faults.append(.dataURL)
        }
        // Where a line break was escaped, and never unescaped.
        let unescaped = text.replacing("\\r", with: "").replacing("\\n", with: "")
        if unescaped != text {
            text = unescaped
            faults.append(.base64LineBreaks)
        }
        if text.contains("%"), let plain = Self.percentDecoded(text) {
            text = plain
            faults.append(.percentEncoded)
        }
        // In a form or a URL, a blank is a plus sign that was not encoded.
        let withPluses = text.replacing(" ", with: "+")
        if withPluses != text, Base64.decode(Array(withPluses.utf8)) != nil {
            text = withPluses
            faults.append(.percentEncoded)
        }
        if text.contains(where: \.isWhitespace) {
            text.removeAll(where: \.isWhitespace)
            if !faults.contains(.base64LineBreaks) { faults.append(.base64LineBreaks) }
        }
        guard let found = Self.decoded(Array(text.utf8), mayRepeat: true) else { return nil }
        signature = found.signature
        self.faults = faults + found.faults
    }

    private typealias Found = (signature: ECDSASignature, faults: [SignatureFault])

    private static func decoded(_ text: [UInt8], mayRepeat: Bool) -> Found? {
        let digits = text.starts(with: [0x30, 0x78]) || text.starts(with: [0x30, 0x58]) ? Array(text[2...]) : text
        if digits.count.isMultiple(of: 2), digits.allSatisfy({ Self.hexadecimalValue($0) != nil }),
            let found = form(hexadecimal(digits))
        {
            return (found.signature, [.hexadecimal] + found.faults)
        }
        for (bytes, faults) in base64(text) {
            if let found = form(bytes) { return (found.signature, faults + found.faults) }
            guard mayRepeat, bytes.allSatisfy({ $0 < 0x80 }) else { continue }
            let inner = bytes.filter { !isBlank($0) }
            if let found = decoded(inner, mayRepeat: false) {
                let breaks: [SignatureFault] = inner.count == bytes.count ? [] : [.base64LineBreaks]
                return (found.signature, [.base64Twice] + faults + breaks + found.faults)
            }
        }
        return nil
    }

    /// The bytes of a text in either alphabet, with or without padding.
    private static func base64(_ text: [UInt8]) -> [([UInt8], [SignatureFault])] {
        if let bytes = Base64.decode(text) { return [(bytes, [])] }
        var faults: [SignatureFault] = []
        if text.contains(where: { $0 == 0x2D || $0 == 0x5F }) { faults.append(.base64URL) }
        let digits = text.reversed().drop { $0 == 0x3D }.reversed()
        if digits.count == text.count, !text.count.isMultiple(of: 4) { faults.append(.base64Unpadded) }
        let url = digits.map { $0 == 0x2B ? 0x2D : $0 == 0x2F ? 0x5F : $0 }
        return Base64.decodeURL(url).map { [($0, faults.isEmpty ? [.base64Unpadded] : faults)] } ?? []
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Strict DER, DER that is not, or r and s side by side; of numbers that a signature can have.
    private static func form(_ bytes: [UInt8]) -> Found? {
        anyForm(bytes).flatMap { $0.signature.isInRange ? $0 : nil }
    }

    private static func anyForm(_ bytes: [UInt8]) -> Found? {
        if let signature = ECDSASignature(der: bytes) { return (signature, []) }
        if bytes.count == 64, let signature = ECDSASignature(rawRS: bytes) { return (signature, [.rawSignature]) }
        return LenientDER.signature(bytes).map { ($0, [.derNotStrict]) }
    }

    /// Without the quotation marks of a JSON or other text around it, escaped or not.
    private static func unquoted(_ text: String) -> String {
        for mark in [#"\""#, "\"", "'", "“"] {
            let end = mark == "“" ? "”" : mark
            if text.count > 2 * mark.count, text.hasPrefix(mark), text.hasSuffix(end) {
                return String(text.dropFirst(mark.count).dropLast(mark.count))
            }
        }
        return text
    }

    private static func percentDecoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == 0x25 else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimalValue),
                let low = rest.popFirst().flatMap(hexadecimalValue)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexadecimal(_ text: [UInt8]) -> [UInt8] {
        stride(from: 0, to: text.count - 1, by: 2).map { place in
            (hexadecimalValue(text[place]) ?? 0) << 4 | (hexadecimalValue(text[place + 1]) ?? 0)
        }
    }

    private static func hexadecimalValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}

/// Reads the two numbers of a signature where its DER is not strict.
enum LenientDER {
    /// `nil` if there are no two numbers of at most 32 bytes each.
    static func signature(_ bytes: [UInt8]) -> ECDSASignature? {
        var rest = bytes[...]
        guard rest.popFirst() == 0x30, skipLength(&rest), let r = number(&rest), let s = number(&rest) else {
            return nil
        }
        return ECDSASignature(rawRS: r + s)
    }

    /// 32 bytes, whatever sign or zeros the number was written with.
    private static func number(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.popFirst() == 0x02, let count = length(&rest), count <= rest.count else { return nil }
        let digits = rest.prefix(count).drop { $0 == 0 }
        rest = rest.dropFirst(count)
        guard digits.count <= 32 else { return nil }
        return [UInt8](repeating: 0, count: 32 - digits.count) + digits
    }

    /// Past the length of the whole, which may be the indefinite one: the numbers say where they end.
    private static func skipLength(_ rest: inout ArraySlice<UInt8>) -> Bool {
        if rest.first == 0x80 { return rest.popFirst() != nil }
        return length(&rest) != nil
    }

    /// In the short form, or the long one of up to two bytes.
    private static func length(_ rest: inout ArraySlice<UInt8>) -> Int? {
        guard let first = rest.popFirst() else { return nil }
        switch first {
        case ..<0x80: return Int(first)
        case 0x81: return rest.popFirst().map(Int.init)
        case 0x82:
            guard let high = rest.popFirst(), let low = rest.popFirst() else { return nil }
            return Int(high) << 8 | Int(low)
        default: return nil
        }
    }
}

extension ECDSASignature {
    /// Whether r and s are below the order of P-256's group (SP 800-186 section 3.2.1.3).
    var isInRange: Bool {
        let raw = rawRS
        return raw[..<32].lexicographicallyPrecedes(Self.order) && raw[32...].lexicographicallyPrecedes(Self.order)
    }

    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
}
