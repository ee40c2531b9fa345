// SPDX-License-Identifier: Apache-2.0

/// Characters that are not seen, or that change how others are shown: a terminal may take them for commands.
///
/// The service writes none of them into the log, but a person who changes an entry in the database can.
package enum HiddenCharacters {
    /// The text with each of them as `\uXXXX`, which is what they are in JSON.
    package static func escaped(_ text: String) -> String {
        var shown = ""
        for scalar in text.unicodeScalars {
            if isHidden(scalar) { shown += escape(scalar) } else { shown.unicodeScalars.append(scalar) }
        }
        return shown
    }

    /// The same for UTF-8; pure ASCII stays as it is, including control characters, which JSON does not contain.
    package static func escaped(_ utf8: [UInt8]) -> [UInt8] {
        if utf8.allSatisfy({ $0 < 0x80 }) { return utf8 }
        return Array(escaped(String(decoding: utf8, as: UTF8.self)).utf8)
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
        default: false
        }
    }

    /// In UTF-16, as JSON escapes are.
    private static func escape(_ scalar: Unicode.Scalar) -> String {
        Character(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}
