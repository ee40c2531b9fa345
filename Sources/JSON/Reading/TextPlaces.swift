// SPDX-License-Identifier: Apache-2.0

/// Line and column of a byte, both from 1; columns count Unicode scalars, lines end with LF, CR or CR LF.
func textPosition(of offset: Int, in text: [UInt8]) -> (line: Int, column: Int) {
    var line = 1
    var column = 1
    for index in 0..<min(max(offset, 0), text.count) {
        switch text[index] {
        case .carriageReturn where index + 1 < text.count && text[index + 1] == .lineFeed: continue
        case .lineFeed, .carriageReturn: (line, column) = (line + 1, 1)
        case 0x80..<0xC0: continue  // the rest of a scalar that was counted already
        default: column += 1
        }
    }
    return (line, column)
}

/// Text that may be shown on a terminal or in a log: characters that move, hide or reorder others are written as
/// `\u{…}`, and what makes the text longer than `limit` bytes or so is cut off.
func printable(_ text: String, atMost limit: Int) -> String {
    var shown = ""
    for scalar in text.unicodeScalars {
        guard shown.utf8.count < limit else { return shown + "…" }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse:
            shown += "\\u{" + String(scalar.value, radix: 16) + "}"
        default:
            shown.unicodeScalars.append(scalar)
        }
    }
    return shown
}

/// The bytes that JSON's grammar names.
extension UInt8 {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let tabulator = UInt8(ascii: "\t")
    static let space = UInt8(ascii: " ")
    static let doubleQuote = UInt8(ascii: "\"")
    static let singleQuote = UInt8(ascii: "'")
    static let backslash = UInt8(ascii: "\\")
    static let slash = UInt8(ascii: "/")
    static let asterisk = UInt8(ascii: "*")
    static let comma = UInt8(ascii: ",")
    static let colon = UInt8(ascii: ":")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")
    static let minus = UInt8(ascii: "-")
    static let plus = UInt8(ascii: "+")
    static let point = UInt8(ascii: ".")
    static let zero = UInt8(ascii: "0")

    var isDigit: Bool { self &- .zero < 10 }

    /// What an ASCII identifier of ECMAScript may start with.
    var startsIdentifier: Bool {
        (self | 0x20) &- UInt8(ascii: "a") < 26 || self == UInt8(ascii: "_") || self == UInt8(ascii: "$")
    }

    /// The value of a hexadecimal digit, in either case.
    var hexadecimalValue: UInt32? {
        if isDigit { return UInt32(self &- .zero) }
        let letter = (self | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? UInt32(letter) + 10 : nil
    }
}
