// SPDX-License-Identifier: Apache-2.0
package import JSON

/// Something in a JSON text that is not as expected, with where it stands.
package struct Mismatch: Hashable, Sendable {
    /// RFC 6901 pointer to the value.
    package let pointer: String
    /// Byte offset in the text, for line and column.
    package let offset: Int
    /// What was found and what was expected.
    package let message: String

    /// The same with a pointer that begins at `value`, in which it lies.
    func seen(from value: JSONValue) -> Mismatch {
        Mismatch(pointer: String(pointer.dropFirst(value.pointer.count)), offset: offset, message: message)
    }
}

/// Collects mismatches while a text is read, so that they are told at once.
package final class Mismatches {
    /// The first ones, in the order in which they were found.
    package private(set) var all: [Mismatch] = []
    /// How many were found after as many as are kept.
    package private(set) var more = 0
    /// Whether `null` stands for an absent member: in requests it does, in files it may be a slip.
    package let admitsNull: Bool
    private let most: Int

    /// How many mismatches of a request are kept; more than an answer shows.
    package static let mostInRequest = 64

    /// - Parameters:
    ///   - admitsNull: Whether `null` stands for an absent member.
    ///   - most: How many are kept. To say where one is, all that stands before it is passed over, so whoever may send a
    ///     text full of them would else choose how long it takes to refuse it.
    package init(admitsNull: Bool = true, most: Int = Mismatches.mostInRequest) {
        self.admitsNull = admitsNull
        self.most = most
    }

    /// How many were found.
    package var count: Int { all.count + more }

    /// Notes what is wrong with a value that stands in the text.
    package func add(_ value: JSONValue, _ message: String) {
        add(Mismatch(pointer: value.pointer, offset: value.offset, message: message))
    }

    /// Notes one, or counts it without looking where it is.
    func add(_ mismatch: @autoclosure () -> Mismatch) {
        guard all.count < most else { return more += 1 }
        all.append(mismatch())
    }

    /// Like ``add(_:_:)``, as an expression that has no value.
    package func none<Value>(_ value: JSONValue, _ message: String) -> Value? {
        add(value, message)
        return nil
    }
}

/// Reads the members of one JSON object into typed values, and notes what does not fit.
///
/// Requests and configuration files are read by the same code: take each member by its name, then call
/// ``finish()``, which reports the members nobody asked for, with a suggestion for a misspelt name.
/// A value that does not fit gives `nil` and a mismatch; an absent optional member gives `nil` alone.
package struct ObjectReader {
    private let value: JSONValue
    private let isObject: Bool
    private let mismatches: Mismatches
    private let nameLengths: UInt64
    private var asked: [StaticString] = []
    /// Which members were found, a bit for each of the first 64; ``finish()`` looks closer where there are more.
    private var found: UInt64 = 0

    /// Begins to read `value`, noting a mismatch if it is no object.
    package init(_ value: JSONValue, into mismatches: Mismatches) {
        self.value = value
        isObject = value.kind == .object
        nameLengths = value.nameLengths
        self.mismatches = mismatches
        asked.reserveCapacity(16)
        if !isObject { mismatches.add(value, "expected an object, found \(value.kind.noun)") }
    }

    /// Notes that a member is missing or does not fit.
    package func note(_ name: StaticString, _ message: String) {
        mismatches.add(
            Mismatch(
                pointer: "\(value.pointer)/\(name)",
                offset: value.find(name)?.value.offset ?? value.offset,
                message: message
            )
        )
    }

    /// The member of that name; absent or `null` is `nil`.
    package mutating func member(_ name: StaticString) -> JSONValue? {
        asked.append(name)
        // Most members that a request may have, it has not, and few of those are as long as one that it has.
        guard nameLengths >> UInt64(min(63, name.utf8CodeUnitCount)) & 1 == 1,
            let (place, value) = value.find(name)
        else { return nil }
        // Some members are asked for twice and count once.
        let bit: UInt64 = place < 64 ? 1 << UInt64(place) : 0
        defer { found |= bit }
        guard value.isNull else { return value }
        if !mismatches.admitsNull, found & bit == 0 {
            mismatches.add(value, "is null; leave the member out instead")
        }
        return nil
    }

    /// Like ``member(_:)``, where a file may say `null` too, so that one sees that there is to be none.
    package mutating func nullableMember(_ name: StaticString) -> JSONValue? {
        guard value.find(name)?.value.isNull != true else {
            asked.append(name)
            if let place = value.find(name)?.place, place < 64 { found |= 1 << UInt64(place) }
            return nil
        }
        return member(name)
    }

    /// Like ``member(_:)``, but an absent one is a mismatch.
    private mutating func requiredMember(_ name: StaticString, _ expected: @autoclosure () -> String) -> JSONValue? {
        guard isObject else { return nil }
        let value = member(name)
        if value == nil { note(name, "is missing; expected \(expected())") }
        return value
    }

    /// The member of that name as `parse` reads it; `parse` answers `nil` for a value that does not fit.
    package mutating func optional<Value>(
        _ name: StaticString,
        _ expected: @autoclosure () -> String,
        _ parse: (JSONValue) -> Value?
    ) -> Value? {
        guard let found = member(name) else { return nil }
        return read(found, expected(), parse)
    }

    private func read<Value>(
        _ found: JSONValue,
        _ expected: @autoclosure () -> String,
        _ parse: (JSONValue) -> Value?
    ) -> Value? {
        if let parsed = parse(found) { return parsed }
        mismatches.add(found, "expected \(expected()), found \(found.summary)")
        return nil
    }

    /// Like ``optional(_:_:_:)``, but an absent member is a mismatch too.
    package mutating func required<Value>(
        _ name: StaticString,
        _ expected: @autoclosure () -> String,
        _ parse: (JSONValue) -> Value?
    ) -> Value? {
        guard let found = requiredMember(name, expected()) else { return nil }
        return read(found, expected(), parse)
    }

    /// The member of that name, a string, through a throwing initialiser whose error says what is wrong.
    ///
    /// `make` is given the string's UTF-8.
    package mutating func optional<Value, Failure: Error & CustomStringConvertible>(
        _ name: StaticString,
        text make: (ArraySlice<UInt8>) throws(Failure) -> Value
    ) -> Value? {
        guard let found = member(name) else { return nil }
        return read(found, text: make)
    }

    private func read<Value, Failure: Error & CustomStringConvertible>(
        _ found: JSONValue,
        text make: (ArraySlice<UInt8>) throws(Failure) -> Value
    ) -> Value? {
        guard let text = found.stringSlice else {
            mismatches.add(found, "expected a string, found \(found.summary)")
            return nil
        }
        do {
            return try make(text)
        } catch {
            mismatches.add(found, "\(error)")
            return nil
        }
    }

    /// Like ``optional(_:text:)``, but an absent member is a mismatch too.
    package mutating func required<Value, Failure: Error & CustomStringConvertible>(
        _ name: StaticString,
        text make: (ArraySlice<UInt8>) throws(Failure) -> Value
    ) -> Value? {
        guard let found = requiredMember(name, "a string") else { return nil }
        return read(found, text: make)
    }

    /// Reads each element of an array member; an absent member gives an empty array.
    package mutating func elements<Value>(
        _ name: StaticString,
        atMost: Int = 10_000,
        _ read: (JSONValue) -> Value?
    ) -> [Value] {
        guard let found = member(name) else { return [] }
        return elements(of: found, atMost: atMost, read)
    }

    /// Reads each element of a member that is there.
    package func elements<Value>(
        of found: JSONValue,
        atMost: Int,
        _ read: (JSONValue) -> Value?
    ) -> [Value] {
        guard let array = found.array else {
            mismatches.add(found, "expected an array, found \(found.summary)")
            return []
        }
        guard array.count <= atMost else {
            mismatches.add(found, "expected at most \(atMost) elements, found \(array.count)")
            return []
        }
        return array.compactMap(read)
    }

    /// Reports every member that was not asked for.
    package func finish() {
        // Names in an object differ, so if every member was found, none is unknown.
        guard isObject, found.nonzeroBitCount < value.memberCount, let object = value.object else { return }
        let names = asked.map(\.description)
        let known = names.isEmpty ? "there is none here" : "known: " + Set(names).sorted().joined(separator: ", ")
        var count = 0
        for member in object where !names.contains(member.name) {
            count += 1
            // Each suggestion takes time, and nobody reads a hundred.
            guard count <= Self.mostUnknownMembers else { continue }
            let suggestion = nearest(to: member.name, among: names).map { "; did you mean “\($0)”?" } ?? ""
            mismatches.add(member.value, "is not a known member\(suggestion) (\(known))")
        }
        if count > Self.mostUnknownMembers {
            mismatches.add(value, "has \(count - Self.mostUnknownMembers) more members that are not known")
        }
    }

    private static let mostUnknownMembers = 20
}

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
    /// What stands here, shortened, for messages; control and format characters are not repeated.
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
