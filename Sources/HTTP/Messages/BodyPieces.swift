// SPDX-License-Identifier: Apache-2.0

/// The rest of a body of any length, made piece by piece while it is sent.
///
/// A class, so that responses without one stay small.
package final class BodyPieces: Sendable {
    /// Something that should have followed can't be had.
    ///
    /// The connection closes, so that the client does not take what it has for the whole.
    package struct Interruption: Error, Hashable, Sendable {
        /// Without a reason: the client sees only that the connection closes.
        package init() {}
    }

    private let make: @Sendable () async throws(Interruption) -> [UInt8]?

    /// `make` is called for each piece once the client has taken the one before, and answers `nil` at the end.
    package init(_ make: @escaping @Sendable () async throws(Interruption) -> [UInt8]?) {
        self.make = make
    }

    /// The next piece that is not empty; `nil` at the end.
    package func next() async throws(Interruption) -> [UInt8]? {
        while let piece = try await make() {
            if !piece.isEmpty { return piece }
        }
        return nil
    }

    /// A piece as it goes over the wire (RFC 9112, section 7.1); of nothing, the end.
    static func chunk(_ piece: [UInt8]?) -> [UInt8] {
        guard let piece else { return Array("0\r\n\r\n".utf8) }
        guard !piece.isEmpty else { return [] }
        return Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8)
    }
}
