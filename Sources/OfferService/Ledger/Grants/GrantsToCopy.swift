// SPDX-License-Identifier: Apache-2.0
import Storage

/// New grants of some subjects as they were read one behind the other: to look for each where it stands costs several times as much.
///
/// Nothing rests on it: what it does not have is looked for in the table. Of the grants of one entry to subjects with one
/// prefix it has all or none. Only for a database that tells whether others have written to it.
struct GrantsToCopy {
    /// Of whom they are.
    let prefixes: Range<Int>
    /// Those that were recorded before this entry.
    private let end: Int64
    /// Of the newest transaction of others: in a later one they may have removed some, or written other keys for them.
    private let stamp: Int64
    /// From this entry on they are yet to be read.
    private var next: Int64
    /// In their order; the other lists have a place for each, too.
    private var entries: [Int64] = []
    private var offerKeys: [Int64] = []
    /// The subject of each, and its id.
    private var keys: [UInt8] = []
    private var isForgotten: [Bool] = []

    private static let subjectBytes = 16
    private static let keyBytes = 32

    /// Has room for so many, and has none yet.
    init(of prefixes: Range<Int>, in span: Range<Int64>, stamp: Int64, room: Int) {
        (self.prefixes, self.stamp) = (prefixes, stamp)
        (next, end) = (span.lowerBound, span.upperBound)
        entries.reserveCapacity(room)
        offerKeys.reserveCapacity(room)
        keys.reserveCapacity(room * Self.keyBytes)
        isForgotten.reserveCapacity(room)
    }

    // MARK: - Reading

    /// Reads those of so many entries; answers whether any were still to be read.
    mutating func readSome(_ count: Int, from connection: any DatabaseConnection) throws(StorageError) -> Bool {
        guard next < end else { return false }
        // Whole entries, or else it would have some of one and not the others.
        let last = next + min(Int64(count), end - next)
        try connection.rows(
            SQL(
                """
                SELECT place, subject, offer_key, grant_id FROM new_grants
                WHERE place >= ? AND place < ? AND subject >= ? AND subject < ? ORDER BY place
                """,
                [.integer(NewGrantRow.first(of: next)), .integer(NewGrantRow.first(of: last))]
                    + NewGrantRow.subjects(of: prefixes)
            )
        ) { add($0) }
        next = last
        return true
    }

    private mutating func add(_ row: borrowing Row) {
        let (subject, id) = (row.blob(1), row.blob(3))
        // Others, which only somebody else can have written, have no room here.
        let fits = subject.count == Self.subjectBytes && subject.count + id.count == Self.keyBytes
        entries.append(NewGrantRow.entry(ofPlace: row.integer(0)))
        offerKeys.append(row.integer(2))
        keys += fits ? subject : [UInt8](repeating: 0, count: Self.subjectBytes)
        keys += fits ? id : [UInt8](repeating: 0, count: Self.keyBytes - Self.subjectBytes)
        isForgotten.append(!fits)
    }

    // MARK: - What was read

    /// Copies the grants at a place, unless they are there already; false if they are to be looked for.
    func copy(_ place: (prefix: Int, entry: Int64), in connection: any DatabaseConnection) throws(StorageError) -> Bool
    {
        let indices = indices(of: place.entry)
        guard !isForgotten[indices].contains(true) else { return false }
        var isFound = false
        for index in indices {
            let start = index * Self.keyBytes
            let subject = Array(keys[start..<start + Self.subjectBytes])
            guard GrantPlaces.prefix(of: subject) == place.prefix else { continue }
            try connection.enqueue(
                SQL(
                    """
                    INSERT INTO grants (subject, offer_key, grant_id, entry_index) VALUES (?, ?, ?, ?)
                    ON CONFLICT DO NOTHING
                    """,
                    .blob(subject),
                    .integer(offerKeys[index]),
                    .blob(Array(keys[start + Self.subjectBytes..<start + Self.keyBytes])),
                    .integer(place.entry)
                )
            )
            isFound = true
        }
        return isFound
    }

    /// Some of an entry's grants may be carried over by other ways, and get other keys.
    mutating func forget(_ entry: Int64) {
        for index in indices(of: entry) { isForgotten[index] = true }
    }

    /// Forgets everything, and reads nothing more, if others have written to the database.
    mutating func forgetAll(unless stamp: Int64) {
        guard stamp != self.stamp else { return }
        (entries, offerKeys, keys, isForgotten) = ([], [], [], [])
        next = end
    }

    private func indices(of entry: Int64) -> Range<Int> {
        var (first, last) = (0, entries.count)
        while first < last {
            let middle = (first + last) / 2
            if entries[middle] < entry { first = middle + 1 } else { last = middle }
        }
        while last < entries.count, entries[last] == entry { last += 1 }
        return first..<last
    }
}
