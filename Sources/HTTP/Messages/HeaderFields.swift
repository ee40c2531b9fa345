// SPDX-License-Identifier: Apache-2.0

/// The header fields of a request or of an answer, in the order of their arrival.
///
/// All names and values lie in one buffer of bytes and are found by their ranges, so reading a head costs two
/// allocations however many fields it has. Names are compared without regard to the case of ASCII letters.
/// Source: RFC 9110, section 5.
package struct HeaderFields: Sendable {
    /// Where a field lies in the buffer; offsets in bytes.
    struct Field: Hashable, Sendable {
        var nameStart: UInt32
        var nameEnd: UInt32
        var valueStart: UInt32
        var valueEnd: UInt32

        var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
        var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
    }

    private var bytes: [UInt8]
    private var fields: [Field]

    /// Holds no field.
    package init() {
        bytes = []
        fields = []
    }

    /// Takes over a head's bytes and where the fields lie in it.
    init(bytes: [UInt8], fields: [Field]) {
        self.bytes = bytes
        self.fields = fields
    }

    /// How many fields there are, those of the same name counted one by one.
    package var count: Int { fields.count }

    /// Adds a field at the end.
    ///
    /// Nothing is checked: what came over a socket was checked by `RequestHeadScanner`.
    package mutating func append(_ name: String, _ value: String) {
        let nameStart = bytes.count
        bytes.append(contentsOf: name.utf8)
        let nameEnd = bytes.count
        bytes.append(contentsOf: value.utf8)
        fields.append(
            Field(
                nameStart: UInt32(nameStart),
                nameEnd: UInt32(nameEnd),
                valueStart: UInt32(nameEnd),
                valueEnd: UInt32(bytes.count)
            )
        )
    }

    /// The value of the first field of that name, without the white space around it; `nil` if there is none.
    package func first(_ name: StaticString) -> [UInt8]? {
        fields.first { matches($0, name) }.map { Array(bytes[$0.value]) }
    }

    /// The value of the field of that name if there is one such field, and not several.
    package func only(_ name: StaticString) -> ArraySlice<UInt8>? {
        var found: Field?
        for field in fields where matches(field, name) {
            guard found == nil else { return nil }
            found = field
        }
        return found.map { bytes[$0.value] }
    }

    /// The values of all fields of that name, in their order.
    package func values(of name: StaticString) -> [ArraySlice<UInt8>] {
        fields.filter { matches($0, name) }.map { bytes[$0.value] }
    }

    /// How many fields have that name.
    package func count(of name: StaticString) -> Int {
        fields.count { matches($0, name) }
    }

    /// The fields one by one, as text; a byte that is not UTF-8 becomes U+FFFD.
    package var all: [(name: String, value: String)] {
        fields.map {
            (String(decoding: bytes[$0.name], as: UTF8.self), String(decoding: bytes[$0.value], as: UTF8.self))
        }
    }

    /// Whether no name and no value could end its line and begin another: names are tokens, values hold no control
    /// character but tabs.
    var areSendable: Bool {
        fields.allSatisfy { field in
            !field.name.isEmpty && bytes[field.name].allSatisfy(ASCII.isToken)
                && bytes[field.value].allSatisfy(ASCII.isFieldValue)
        }
    }

    private func matches(_ field: Field, _ name: StaticString) -> Bool {
        // Lengths mostly differ, and are quickly compared.
        field.name.count == name.utf8CodeUnitCount
            && ASCII.equalsIgnoringCase(bytes.span.extracting(field.name), name)
    }
}

extension ArraySlice<UInt8> {
    /// Whether the bytes begin with `text`, which is ASCII, without regard to the case of its letters.
    package func startsIgnoringCase(with text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        return count >= length && ASCII.equalsIgnoringCase(span.extracting(0..<length), text)
    }
}

extension HeaderFields {
    /// What follows the scheme `Bearer`, in any letter case, and one space (RFC 6750 section 2.1), in the only field
    /// `Authorization`.
    package var bearerCredential: ArraySlice<UInt8>? {
        guard let value = only("Authorization"), value.startsIgnoringCase(with: "bearer ") else { return nil }
        return value.dropFirst(7)
    }
}
