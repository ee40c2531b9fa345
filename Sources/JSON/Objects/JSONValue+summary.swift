// SPDX-License-Identifier: Apache-2.0

extension JSONKind {
    /// The kind with its article, for messages.
    package var noun: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .boolean: "a boolean"
        case .null: "null"
        }
    }
}

extension JSONValue {
    /// The value, shortened, for messages; control and format characters are not repeated.
    package var summary: String {
        switch kind {
        case .string: string.map { (isLikeAnotherKind($0) ? "the text " : "") + printable($0) } ?? "a string"
        case .number: integer.map { "\($0)" } ?? double.map { "\($0)" } ?? "a number"
        case .boolean: bool == true ? "true" : "false"
        default: kind.noun
        }
    }
}

/// Whether a text would be a number, a boolean or null without its quotes, which then are what is wrong with it.
private func isLikeAnotherKind(_ text: String) -> Bool {
    guard text.utf8.count <= 32, let root = try? JSONDocument(Array(text.utf8)).root else { return false }
    return [.number, .boolean, .null].contains(root.kind)
}

/// Text quoted for a message: at most 64 characters, what is not printable ASCII as U+XXXX.
package func printable(_ text: String) -> String {
    var shown = "“"
    for scalar in text.unicodeScalars.prefix(64) {
        if scalar.value >= 0x20 && scalar.value < 0x7F {
            shown.unicodeScalars.append(scalar)
        } else {
            let digits = String(scalar.value, radix: 16, uppercase: true)
            shown += "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
    }
    return shown + (text.unicodeScalars.count > 64 ? "…”" : "”")
}
