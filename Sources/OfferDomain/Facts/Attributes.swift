// SPDX-License-Identifier: Apache-2.0

/// What a trusted caller says of a customer in words of its own, as `churnRisk: 0.8`.
package struct Attributes: Hashable, Sendable {
    /// One attribute.
    package struct Entry: Hashable, Sendable {
        /// See ``Attributes/admits(name:)``.
        package let name: String
        /// A value without a fault.
        package let value: AttributeValue
    }

    /// In the order of their names.
    package let entries: [Entry]

    /// None, and a caller who might have stated some said so.
    package init() { entries = [] }

    /// Takes at most 64 attributes; the keys are their names.
    package init(_ values: [String: AttributeValue]) throws(AttributeError) {
        try self.init(values.map { ($0.key, $0.value) })
    }

    /// At most 64 pairs.
    package init(_ pairs: [(name: String, value: AttributeValue)]) throws(AttributeError) {
        guard pairs.count <= Attributes.limit else { throw .tooMany(limit: Attributes.limit) }
        var entries: [Entry] = []
        entries.reserveCapacity(pairs.count)
        for (index, pair) in pairs.enumerated() {
            guard Attributes.admits(name: pair.name) else { throw .unfitName(index: index) }
            if let fault = pair.value.fault { throw .unfitValue(name: pair.name, fault) }
            entries.append(Entry(name: pair.name, value: pair.value))
        }
        // Names are ASCII, so order and equality are those of their bytes.
        entries.sort { $0.name < $1.name }
        for (one, next) in zip(entries, entries.dropFirst()) where one.name == next.name {
            throw .repeated(name: one.name)
        }
        self.entries = entries
    }

    /// Takes entries with distinct names.
    init(merging entries: [Entry]) { self.entries = entries.sorted { $0.name < $1.name } }

    /// The value of that attribute; nil if the caller did not state it.
    package subscript(name: String) -> AttributeValue? {
        entries.first { $0.name == name }?.value
    }

    /// Whether `name` is 1 to 128 printable ASCII characters, none of them a space.
    package static func admits(name: String) -> Bool {
        (1...128).contains(name.utf8.count) && name.utf8.allSatisfy(ByteSet.visible.contains)
    }

    /// How many there may be.
    package static let limit = 64
}

/// The value of an attribute.
package enum AttributeValue: Hashable, Sendable {
    case boolean(Bool)
    /// Finite.
    case number(Double)
    /// At most 128 Unicode scalars.
    case text(String)

    /// Why no attribute may have this value, if so.
    package var fault: AttributeFault? {
        switch self {
        case .boolean: nil
        case .number(let number): number.isFinite ? nil : .notFinite
        case .text(let text): text.unicodeScalars.count > 128 ? .textTooLong(limit: 128) : nil
        }
    }

    /// Whether the two have the same type and value: texts by their bytes, so that é is not e with an accent.
    ///
    /// Nil if they differ in type.
    func matches(_ other: AttributeValue) -> Bool? {
        switch (self, other) {
        case (.boolean(let one), .boolean(let two)): one == two
        case (.number(let one), .number(let two)): one == two
        case (.text(let one), .text(let two)): one.utf8.elementsEqual(two.utf8)
        default: nil
        }
    }
}

/// What is wrong with an attribute's value.
package enum AttributeFault: Hashable, Sendable, CustomStringConvertible {
    case notFinite
    /// More than `limit` Unicode scalars.
    case textTooLong(limit: Int)

    /// A sentence without its subject, which is the attribute.
    package var description: String {
        switch self {
        case .notFinite: "is not a finite number"
        case .textTooLong(let limit): "is longer than \(limit) characters"
        }
    }
}

/// Why attributes are refused; these are all the ways.
package enum AttributeError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooMany(limit: Int)
    /// The name of the attribute at `index`, counted from zero, is not 1 to 128 visible ASCII characters.
    case unfitName(index: Int)
    case unfitValue(name: String, AttributeFault)
    case repeated(name: String)

    /// A sentence for the caller, with the attribute's name and never its value.
    package var description: String {
        switch self {
        case .tooMany(let limit): "there are more than \(limit) attributes"
        case .unfitName(let index): "the name of attribute \(index) is not 1 to 128 printable ASCII characters"
        case .unfitValue(let name, let fault): "the attribute \(name) \(fault)"
        case .repeated(let name): "the attribute \(name) is stated twice"
        }
    }
}
