// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TransparencyLog

/// Where a caller goes on, and in which log: `INDEX`, or `INDEX-HASH` with the mark of the entry before.
///
/// After a backup was restored, the log may go on differently, and its entries from there on are new to the caller.
package struct EventCursor: Hashable, Sendable, CustomStringConvertible {
    /// The index of the next entry to look at.
    package let index: Int64
    /// The mark of the entry before; `nil` if the caller does not check which log it reads.
    package let mark: String?

    /// `index` is the first entry that the caller has not seen.
    package init(index: Int64, mark: String? = nil) {
        self.index = index
        self.mark = mark
    }

    /// Reads what ``description`` has written, or an index alone.
    init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let number = parts.first, number.count <= 18, number.allSatisfy(digits.contains),
            let index = Int64(String(Substring(number)))
        else { return nil }
        guard parts.count == 2 else {
            self.init(index: index)
            return
        }
        let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        let isMark =
            parts[1].count == Self.markBytes && parts[1].allSatisfy { digits.contains($0) || letters.contains($0) }
        guard isMark else { return nil }
        self.init(index: index, mark: String(Substring(parts[1])))
    }

    private static let markBytes = 16

    /// The form that callers send back.
    package var description: String { mark.map { "\(index)-\($0)" } ?? String(index) }

    /// The first 8 bytes, in hexadecimal, of an entry's leaf hash: another log's entry of that index has another.
    static func mark(of entry: [UInt8]) -> String { String(TreeHash.leaf(entry).hex.prefix(markBytes)) }
}
