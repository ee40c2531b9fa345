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
        if let comma = text.firstIndex(of: ","), text.hasPrefix("data:") {
            text = String(text[text.index(after: comma)...])
            faults.append(.dataURL)
        }
        if text.contains("%"), let plain = Self.percentDecoded(text) {
            text = plain
            faults.append(.percentEncoded)
        }
        // In a form or a URL, a blank stands for the plus sign that was not encoded.
        let withPluses = text.replacing(" ", with: "+")
        if withPluses != text, Base64.decode(Array(withPluses.utf8)) != nil {
            text = withPluses
            faults.append(.percentEncoded)
        }
        if text.contains(where: \.isWhitespace) {
            text.removeAll(where: \.isWhitespace)
            faults.append(.base64LineBreaks)
        }
        guard let found = Self.decoded(Array(text.utf8), mayRepeat: true) else { return nil }
        signature = found.signature
        self.faults = faults + found.faults
    }

    private typealias Found = (signature: ECDSASignature, faults: [SignatureFault])

    private static func decoded(_ text: [UInt8], mayRepeat: Bool) -> Found? {
        if text.count.isMultiple(of: 2), text.allSatisfy({ Self.hexadecimalValue($0) != nil }),
            let found = form(hexadecimal(text))
        {
            return (found.signature, [.hexadecimal] + found.faults)
        }
        for (bytes, faults) in base64(text) {
            if let found = form(bytes) { return (found.signature, faults + found.faults) }
            guard mayRepeat, bytes.allSatisfy({ $0 < 0x80 }) else { continue }
            if let found = decoded(bytes, mayRepeat: false) {
                return (found.signature, [.base64Twice] + faults + found.faults)
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

    /// Strict DER, DER that is not, or r and s side by side.
    private static func form(_ bytes: [UInt8]) -> Found? {
        if let signature = ECDSASignature(der: bytes) { return (signature, []) }
        if bytes.count == 64, let signature = ECDSASignature(rawRS: bytes) { return (signature, [.rawSignature]) }
        return LenientDER.signature(bytes).map { ($0, [.derNotStrict]) }
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
        guard rest.popFirst() == 0x30, length(&rest) != nil, let r = number(&rest), let s = number(&rest) else {
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
