// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// Reads the members of signed data: checks the type of what it reads, and ignores all other members.
///
/// Apple adds members and values without notice, and neither may break anything. `null` counts as absent, and so does
/// an empty text.
struct PayloadReader {
    private let object: JSONObject
    private let pointer: String

    /// The members of a signed text.
    init(_ payload: [UInt8], limits: JSONLimits = limits) throws(SignedDataFault) {
        let document: JSONDocument
        do { document = try JSONDocument(payload, limits: limits) } catch { throw .notJSON(offset: error.offset) }
        try self.init(document.root)
    }

    private init(_ value: JSONValue) throws(SignedDataFault) {
        guard let object = value.object else { throw .notObject(pointer: value.pointer) }
        self.object = object
        pointer = value.pointer
    }

    /// Room for what Apple may add; the verifier has already limited the bytes.
    private static let limits = JSONLimits(
        maximumBytes: 131_072,
        maximumDepth: 16,
        maximumNodes: 16_384,
        maximumStringBytes: 65_536
    )

    func place(of name: String) -> String { "\(pointer)/\(name)" }

    /// The object of that name, if there is one.
    func object(_ name: String) throws(SignedDataFault) -> PayloadReader? {
        guard let value = value(name) else { return nil }
        return try PayloadReader(value)
    }

    private func value(_ name: String) -> JSONValue? {
        guard let value = object[name], !value.isNull, value.stringSlice?.isEmpty != true else { return nil }
        return value
    }

    /// Throws if the members belong to another kind of signed data; an unknown kind is read as requested.
    func require(_ kind: SignedDataKind) throws(SignedDataFault) {
        guard let found = SignedDataKind(object), found != kind else { return }
        throw .otherKind(found: found, expected: kind)
    }

    /// The member as `parse` reads it; `parse` answers nil for a value of another type.
    private func read<Value>(
        _ name: String,
        _ expected: SignedDataFault.Expectation,
        as parse: (JSONValue) -> Value?
    ) throws(SignedDataFault) -> Value? {
        guard let value = value(name) else { return nil }
        guard let parsed = parse(value) else { throw .unfit(pointer: place(of: name), expected: expected) }
        return parsed
    }

    /// The member's value, where it has one.
    func required<Value>(_ name: String, _ value: Value?) throws(SignedDataFault) -> Value {
        guard let value else { throw .missing(pointer: place(of: name)) }
        return value
    }
}

// MARK: - Types

extension PayloadReader {
    /// A text of at most 255 bytes that is not empty.
    func text(_ name: String) throws(SignedDataFault) -> String? {
        try read(name, .text) { value in
            value.string.flatMap { (1...255).contains($0.utf8.count) ? $0 : nil }
        }
    }

    func identifier<Kind>(_ name: String) throws(SignedDataFault) -> Identifier<Kind>? {
        try read(name, .identifier) { $0.string.flatMap { try? Identifier<Kind>($0) } }
    }

    /// A text that is an identifier if it has the shape of one; another shape is a value that we don't know.
    func identifierIfKnown<Kind>(_ name: String) throws(SignedDataFault) -> Identifier<Kind>? {
        try text(name).flatMap { try? Identifier<Kind>($0) }
    }

    /// Whole milliseconds since 1970.
    func instant(_ name: String) throws(SignedDataFault) -> Timestamp? {
        try read(name, .instant) { $0.integer.flatMap(Timestamp.init(exactlyMilliseconds:)) }
    }

    func integer(_ name: String) throws(SignedDataFault) -> Int64? {
        try read(name, .integer, as: \.integer)
    }

    func boolean(_ name: String) throws(SignedDataFault) -> Bool? {
        try read(name, .boolean, as: \.bool)
    }

    /// 0 for no and 1 for yes; another number is a value that we don't know.
    func flag(_ name: String) throws(SignedDataFault) -> Bool? {
        switch try integer(name) {
        case 0: false
        case 1: true
        default: nil
        }
    }

    func uuid(_ name: String) throws(SignedDataFault) -> UniqueID? {
        try read(name, .uuid) { $0.string.flatMap { UniqueID($0) } }
    }

    /// One of a list of texts.
    func code<Known>(_ name: String) throws(SignedDataFault) -> Reported<Known>? {
        try text(name).map { Reported($0) }
    }

    /// One of a list of numbers.
    func numberedCode<Known>(_ name: String) throws(SignedDataFault) -> Reported<Known>? {
        try integer(name).map { Reported("\($0)") }
    }

    /// The first 64 texts of at most 255 bytes; others are left out, since a long list is no reason to lose the rest.
    func texts(_ name: String) throws(SignedDataFault) -> [String]? {
        try read(name, .texts) { value in
            guard let array = value.array else { return nil }
            let texts = array.lazy.compactMap { $0.string.flatMap { (1...255).contains($0.utf8.count) ? $0 : nil } }
            return Array(texts.prefix(64))
        }
    }

    /// The ASCII of a JWS; whether it is one is for its verifier to say.
    func signedData(_ name: String) throws(SignedDataFault) -> [UInt8]? {
        try read(name, .signedData) { value in
            value.stringBytes.flatMap { $0.isEmpty ? nil : $0 }
        }
    }
}
