// SPDX-License-Identifier: Apache-2.0

/// Something in a JSON text that is not as expected, and its place.
package struct Mismatch: Hashable, Sendable {
    /// RFC 6901 pointer to the value.
    package let pointer: String
    /// Byte offset in the text, for line and column.
    package let offset: Int
    /// What was found and what was expected.
    package let message: String

    package init(pointer: String, offset: Int, message: String) {
        self.pointer = pointer
        self.offset = offset
        self.message = message
    }

    /// The same with a pointer that begins at `value`, in which it lies.
    package func seen(from value: JSONValue) -> Mismatch {
        Mismatch(pointer: String(pointer.dropFirst(value.pointer.count)), offset: offset, message: message)
    }
}

/// Collects mismatches while a text is read, so that all are reported at once.
package final class Mismatches {
    /// The first ones, in the order in which they were found.
    package private(set) var all: [Mismatch] = []
    /// How many were found after as many as are kept.
    package private(set) var more = 0
    /// Whether `null` means an absent member: in requests it does, in files it may be a slip.
    package let admitsNull: Bool
    private let most: Int

    /// How many mismatches of a request are kept; more than an answer shows.
    package static let mostInRequest = 64

    /// - Parameters:
    ///   - admitsNull: Whether `null` means an absent member.
    ///   - most: How many are kept. Locating a mismatch means walking the text before it. Without a limit, the sender
    ///     of a text full of mismatches could choose how long the refusal takes.
    package init(admitsNull: Bool = true, most: Int = Mismatches.mostInRequest) {
        self.admitsNull = admitsNull
        self.most = most
    }

    /// How many were found.
    package var count: Int { all.count + more }

    /// Notes what is wrong with a value of the text.
    package func add(_ value: JSONValue, _ message: String) {
        add(Mismatch(pointer: value.pointer, offset: value.offset, message: message))
    }

    /// Notes one, or counts it without looking where it is.
    package func add(_ mismatch: @autoclosure () -> Mismatch) {
        guard all.count < most else { return more += 1 }
        all.append(mismatch())
    }

    /// Like ``add(_:_:)``, as an expression that has no value.
    @inlinable
    package func none<Value>(_ value: JSONValue, _ message: String) -> Value? {
        add(value, message)
        return nil
    }
}
