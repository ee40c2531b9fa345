// SPDX-License-Identifier: Apache-2.0

/// The secret by which an identity provider knows this service; held in locked memory.
package final class ClientSecret: Sendable {
    private let contents: SecureBytes

    /// Takes the contents of a file: 1 to 512 visible ASCII characters; white space may stand before and after them.
    package init?(_ contents: SecureBytes) {
        self.contents = contents
        let isVisible = contents.withSpan { bytes in
            let range = Self.range(of: bytes)
            return (1...512).contains(range.count) && range.allSatisfy { (0x21...0x7E).contains(bytes[$0]) }
        }
        guard isVisible else { return nil }
    }

    /// A copy in ordinary memory, for one request.
    package var text: String {
        contents.withSpan { bytes in String(decoding: Self.range(of: bytes).map { bytes[$0] }, as: UTF8.self) }
    }

    private static func range(of bytes: borrowing Span<UInt8>) -> Range<Int> {
        var (start, end) = (0, bytes.count)
        while start < end, isWhiteSpace(bytes[start]) { start += 1 }
        while end > start, isWhiteSpace(bytes[end - 1]) { end -= 1 }
        return start..<end
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
