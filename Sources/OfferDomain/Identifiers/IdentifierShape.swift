// SPDX-License-Identifier: Apache-2.0

/// What the bytes of a kind of identifier may be: an allow-list, never a deny-list.
///
/// It checks bytes, since `String` compares by canonical equivalence and does not find a U+2063 before a combining
/// mark.
package struct IdentifierShape: Sendable {
    /// The allowed bytes except the space; for it, see ``admitsInnerSpaces``.
    let allowed: ByteSet
    let length: ClosedRange<Int>
    /// What the first byte may be; a subset of ``allowed``.
    let leading: ByteSet
    /// Whether single spaces are allowed between other characters.
    let admitsInnerSpaces: Bool
    /// Whether it may be zeros alone.
    private(set) var admitsZero = true
    /// What is expected, if one phrase can say it; for other shapes, the error says what does not fit.
    let expectation: StaticString?
    /// What a wrong text looks like, if the service recognizes it; it is added to the expectation.
    private(set) var recognized: @Sendable (Span<UInt8>) -> StaticString? = { _ in nil }

    init(
        _ allowed: ByteSet,
        length: ClosedRange<Int> = 1...255,
        leading: ByteSet? = nil,
        admitsInnerSpaces: Bool = false,
        expectation: StaticString? = nil
    ) {
        self.allowed = allowed
        self.length = length
        self.leading = leading ?? allowed
        self.admitsInnerSpaces = admitsInnerSpaces
        self.expectation = expectation
    }

    /// The same shape, which does not admit zeros alone.
    func excludingZero() -> IdentifierShape {
        var shape = self
        shape.admitsZero = false
        return shape
    }

    /// The same shape, which also says what a wrong text looks like.
    func recognizing(_ look: @escaping @Sendable (Span<UInt8>) -> StaticString?) -> IdentifierShape {
        var shape = self
        shape.recognized = look
        return shape
    }

    /// Throws unless `bytes` have this shape.
    func check(_ bytes: Span<UInt8>) throws(IdentifierError) {
        guard bytes.count > 0 else { throw .empty }
        if let expectation, !length.contains(bytes.count) { throw wrongShape(expectation, bytes) }
        guard bytes.count <= length.upperBound else { throw .tooLong(limit: length.upperBound) }
        // Most texts have no spaces and no faults, so the position of each byte does not matter.
        if !leading.contains(bytes[0]) || !allContained(bytes) { try checkPlaces(bytes) }
        guard admitsZero || !isZero(bytes) else { throw .wrongShape(expected: "\(expectation ?? "a number above 0")") }
    }

    private func wrongShape(_ expectation: StaticString, _ bytes: Span<UInt8>) -> IdentifierError {
        .wrongShape(expected: "\(expectation)" + (recognized(bytes).map { "; \($0)" } ?? ""))
    }

    private func allContained(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices where !allowed.contains(bytes[index]) { return false }
        return true
    }

    private func isZero(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices where bytes[index] != 0x30 { return false }
        return true
    }

    /// Checks each byte and its position.
    private func checkPlaces(_ bytes: Span<UInt8>) throws(IdentifierError) {
        var followsSpace = true
        for offset in bytes.indices {
            let byte = bytes[offset]
            let isSpace = byte == 0x20
            let fits = allowed.contains(byte) && (offset > 0 || leading.contains(byte))
            guard fits || isSpace && admitsInnerSpaces else {
                if let expectation { throw wrongShape(expectation, bytes) }
                throw .notAllowed(OffendingCharacter(in: bytes, at: offset), offset: offset)
            }
            if isSpace, followsSpace || offset == bytes.count - 1 { throw .misplacedSpace(offset: offset) }
            followsSpace = isSpace
        }
    }
}

extension IdentifierShape {
    /// A team's name for a customer, or an app's name for an anonymous user.
    static let customerName = IdentifierShape(
        .visible,
        length: 1...64,
        expectation: "1 to 64 printable ASCII characters without spaces"
    )
}
