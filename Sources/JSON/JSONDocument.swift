// SPDX-License-Identifier: Apache-2.0

/// A JSON text that was read and found well formed.
///
/// It keeps the text, and a flat list of its values beside it. A value is read in place; nothing is converted until a
/// caller asks for it.
package struct JSONDocument: Sendable {
    private let tape: Tape

    /// Reads a text.
    ///
    /// - Throws: The first fault in the text; a repeated name is found when its object ends.
    package init(
        _ bytes: [UInt8],
        dialect: JSONDialect = .strict,
        limits: JSONLimits = .init()
    ) throws(JSONError) {
        var reader = Reader(bytes, dialect: dialect, limits: limits)
        do {
            try reader.readText()
        } catch {
            let pointer = Tape(bytes: bytes, nodes: reader.nodes).pointer(to: reader.nodes.count)
            throw JSONError(kind: error.kind, offset: error.offset, pointer: pointer)
        }
        tape = Tape(bytes: bytes, nodes: reader.nodes)
    }

    /// The value that the text is.
    package var root: JSONValue { JSONValue(tape: tape, index: 0) }

    /// The position of a byte as a text editor counts it: line and column from 1, columns in Unicode scalars.
    package func position(of offset: Int) -> (line: Int, column: Int) {
        textPosition(of: offset, in: tape.bytes)
    }
}
