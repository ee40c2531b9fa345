// SPDX-License-Identifier: Apache-2.0

/// What a provider adds to the address that it sends the browser back to; parameters that are not known are passed over.
///
/// Source: RFC 6749 section 4.1.2.
struct CallbackParameters {
    private var values: [String: String] = [:]
    private var repeated: Set<String> = []

    init(_ query: [UInt8]?) {
        for pair in (query ?? []).split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = Self.decoded(parts[0]), let value = Self.decoded(parts[1]) else {
                continue
            }
            if values.updateValue(value, forKey: name) != nil { repeated.insert(name) }
        }
    }

    /// The value of a parameter; `nil` if it is missing, empty, or repeated.
    subscript(_ name: String) -> String? {
        guard let value = values[name], !value.isEmpty, !repeated.contains(name) else { return nil }
        return value
    }

    /// The same as text for a page: at most 200 printable ASCII characters.
    func shown(_ name: String) -> String? {
        self[name].map { text in
            String(text.unicodeScalars.filter { (0x20...0x7E).contains($0.value) }.prefix(200).map(Character.init))
        }
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        let spaced = text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return PercentEncoding.decoded(spaced[...]).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
