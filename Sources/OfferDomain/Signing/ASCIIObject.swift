// SPDX-License-Identifier: Apache-2.0

/// Writes a JSON object of texts that need no escaping: identifiers, UUIDs and Base64, all held to allow-lists.
struct ASCIIObject {
    private var bytes: [UInt8] = [0x7B]

    init() { bytes.reserveCapacity(384) }

    mutating func append(_ name: String, _ text: String) {
        precondition(ASCIIObject.isPlain(text.utf8.span), "A claim would need escaping.")
        appendName(name)
        bytes.append(0x22)
        bytes.append(contentsOf: text.utf8)
        bytes.append(0x22)
    }

    /// Appends a number or a boolean.
    mutating func append(_ name: String, literal: String) {
        appendName(name)
        bytes.append(contentsOf: literal.utf8)
    }

    consuming func closed() -> [UInt8] {
        bytes.append(0x7D)
        return bytes
    }

    private mutating func appendName(_ name: String) {
        if bytes.count > 1 { bytes.append(0x2C) }
        bytes.append(0x22)
        bytes.append(contentsOf: name.utf8)
        bytes.append(0x22)
        bytes.append(0x3A)
    }

    private static func isPlain(_ text: Span<UInt8>) -> Bool {
        let plain = plain
        for index in text.indices where !plain.contains(text[index]) { return false }
        return true
    }

    /// Printable ASCII without the quotation mark and the backslash.
    private static let plain = ByteSet(0x20...0x21, 0x23...0x5B, 0x5D...0x7E)
}
