// SPDX-License-Identifier: Apache-2.0
import Storage

/// Where the rows of `new_grants` stand: at the number of their entry of the audit log times 256, one behind the other.
///
/// So the key is one number, and each row is added behind all others. The statements that read a row's entry divide by
/// 256 too.
enum NewGrantRow {
    /// A grant that counts for more names than this has further ones in `grants` at once.
    static let mostOfAnEntry: Int64 = 256

    /// The place of an entry's first row.
    static func first(of entry: Int64) -> Int64 { max(0, min(entry, .max / mostOfAnEntry - 1)) * mostOfAnEntry }

    /// The entry that tells of the grant at a place.
    static func entry(ofPlace place: Int64) -> Int64 { place / mostOfAnEntry }

    /// The places of an entry's rows: the first of them, and the one behind the last that it may have.
    static func places(of entry: Int64) -> [SQLValue] {
        [.integer(first(of: entry)), .integer(first(of: entry) + mostOfAnEntry)]
    }

    /// The subjects with these prefixes: the first, and one behind the last.
    static func subjects(of prefixes: Range<Int>) -> [SQLValue] {
        let ends = [prefixes.lowerBound, prefixes.upperBound - 1].map { prefix in
            [16, 8, 0].map { UInt8(truncatingIfNeeded: prefix >> $0) }
        }
        return [.blob(ends[0]), .blob(ends[1] + [UInt8](repeating: 0xFF, count: 14))]
    }
}
