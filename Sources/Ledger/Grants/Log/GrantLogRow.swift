// SPDX-License-Identifier: Apache-2.0
import Storage

/// The keys of rows in `grants_by_time`: the index of the grant's entry times 256, plus one for each further row.
///
/// The key is one number, so each row is added at the end. Statements that read a row's entry divide by 256 too.
enum GrantLogRow {
    /// A grant that counts for more names than this has further rows in `grants`.
    static let mostOfAnEntry: Int64 = 256

    /// The place of an entry's first row.
    static func first(of entry: Int64) -> Int64 { max(0, min(entry, .max / mostOfAnEntry - 1)) * mostOfAnEntry }

    /// The entry that records the grant at a place.
    static func entry(ofPlace place: Int64) -> Int64 { place / mostOfAnEntry }

    /// The places of an entry's rows: the first of them, and the one after the last that it may have.
    static func places(of entry: Int64) -> [SQLValue] {
        [.integer(first(of: entry)), .integer(first(of: entry) + mostOfAnEntry)]
    }

    /// The subjects with a prefix: the first, and one after the last.
    static func subjects(with prefix: Int) -> [SQLValue] {
        let first = [16, 8, 0].map { UInt8(truncatingIfNeeded: prefix >> $0) }
        return [.blob(first), .blob(first + [UInt8](repeating: 0xFF, count: 14))]
    }
}
