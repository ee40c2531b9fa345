// SPDX-License-Identifier: Apache-2.0

/// Reads the members of one JSON object into typed values, and notes what does not fit.
///
/// The same code reads requests and configuration files: take each member by its name, then call
/// ``finish()``, which reports the members that were not asked for, with a suggestion for a misspelled name.
/// A value that does not fit gives `nil` and a mismatch; an absent optional member gives `nil` alone.
///
/// Generic functions are inlinable, so that other targets get them compiled for their own types.
package struct ObjectReader {
    private let value: JSONValue
    private let isObject: Bool
    @usableFromInline let mismatches: Mismatches
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
        // A request lacks most members that it may have, and few of their names are as long as one that it has.
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
    @usableFromInline
    mutating func requiredMember(_ name: StaticString, _ expected: @autoclosure () -> String) -> JSONValue? {
        guard isObject else { return nil }
        let value = member(name)
        if value == nil { note(name, "is missing; expected \(expected())") }
        return value
    }

    /// The member of that name as `parse` reads it; `parse` answers `nil` for a value that does not fit.
    @inlinable
    package mutating func optional<Value>(
        _ name: StaticString,
        _ expected: @autoclosure () -> String,
        as parse: (JSONValue) -> Value?
    ) -> Value? {
        guard let found = member(name) else { return nil }
        return read(found, expected(), as: parse)
    }

    @inlinable
    func read<Value>(
        _ found: JSONValue,
        _ expected: @autoclosure () -> String,
        as parse: (JSONValue) -> Value?
    ) -> Value? {
        if let parsed = parse(found) { return parsed }
        mismatches.add(found, "expected \(expected()), found \(found.summary)")
        return nil
    }

    /// Like ``optional(_:_:as:)``, but an absent member is a mismatch too.
    @inlinable
    package mutating func required<Value>(
        _ name: StaticString,
        _ expected: @autoclosure () -> String,
        as parse: (JSONValue) -> Value?
    ) -> Value? {
        guard let found = requiredMember(name, expected()) else { return nil }
        return read(found, expected(), as: parse)
    }

    /// The string member of that name, through a throwing initializer whose error says what is wrong.
    ///
    /// `make` gets the string's UTF-8.
    @inlinable
    package mutating func optional<Value, Failure: Error & CustomStringConvertible>(
        _ name: StaticString,
        text make: (ArraySlice<UInt8>) throws(Failure) -> Value
    ) -> Value? {
        guard let found = member(name) else { return nil }
        return read(found, text: make)
    }

    @inlinable
    func read<Value, Failure: Error & CustomStringConvertible>(
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
    @inlinable
    package mutating func required<Value, Failure: Error & CustomStringConvertible>(
        _ name: StaticString,
        text make: (ArraySlice<UInt8>) throws(Failure) -> Value
    ) -> Value? {
        guard let found = requiredMember(name, "a string") else { return nil }
        return read(found, text: make)
    }

    /// Reads each element of an array member; an absent member gives an empty array.
    @inlinable
    package mutating func elements<Value>(
        _ name: StaticString,
        atMost: Int = 10_000,
        _ read: (JSONValue) -> Value?
    ) -> [Value] {
        guard let found = member(name) else { return [] }
        return elements(of: found, atMost: atMost, read)
    }

    /// Reads each element of a member that is there.
    @inlinable
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
            // Each suggestion takes time, and a reader does not need a hundred.
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
