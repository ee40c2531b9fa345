// SPDX-License-Identifier: Apache-2.0

/// The sets of bytes that HTTP's grammar is made of, as pure functions.
enum ASCII {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let percent = UInt8(ascii: "%")
    static let colon = UInt8(ascii: ":")
    static let slash = UInt8(ascii: "/")
    static let questionMark = UInt8(ascii: "?")

    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

    static func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (byte | 0x20) &- 0x61 < 6 }

    static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    /// `tchar` of RFC 9110, section 5.6.2.
    static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x5E...0x7A: true  // digits, capitals, ^ _ ` and small letters
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x7C, 0x7E: true  // ! # $ % & ' * + - . | ~
        default: false
        }
    }

    /// `field-vchar`, space and tab of RFC 9110, section 5.5: no control character; above ASCII, anything.
    static func isFieldValue(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == tab }

    /// Whether a field's value may have all of these bytes.
    static func areFieldValue(_ bytes: Span<UInt8>) -> Bool {
        // As numbers and without a way out in the midst, so that the compiler looks at many bytes at once.
        var unfit: UInt8 = 0
        for index in bytes.indices {
            let byte = bytes[index]
            unfit |= (byte < 0x20 ? 1 : 0) & (byte == tab ? 0 : 1) | (byte == 0x7F ? 1 : 0)
        }
        return unfit == 0
    }

    /// `pchar`, `/` and `?` of RFC 3986, section 3.3; that two hexadecimal digits follow a `%` is checked apart.
    static func isTarget(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3B, 0x40...0x5A, 0x61...0x7A: true  // digits : ; @ and letters
        case 0x21, 0x24...0x2F, 0x3D, 0x3F, 0x5F, 0x7E: true  // ! $ % & ' ( ) * + , - . / = ? _ ~
        default: false
        }
    }

    /// What may stand in `Host`: RFC 3986's `uri-host` and `port`.
    static func isHost(_ byte: UInt8) -> Bool {
        isTarget(byte) && byte != slash && byte != questionMark && byte != 0x40 || byte == 0x5B || byte == 0x5D
    }

    /// Whether two names are the same but for the case of ASCII letters; `name` is ASCII.
    static func equalsIgnoringCase(_ bytes: Span<UInt8>, _ name: StaticString) -> Bool {
        guard bytes.count == name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { name in
            for index in bytes.indices {
                let byte = bytes[index]
                // The two cases of a letter differ in this bit alone.
                let difference = unsafe byte ^ name[index]
                guard difference == 0 || difference == 0x20 && isLetter(byte) else { return false }
            }
            return true
        }
    }

    static func lowercase(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
