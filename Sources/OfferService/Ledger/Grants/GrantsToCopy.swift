// SPDX-License-Identifier: Apache-2.0
import Storage

/// New grants of some subjects, read one behind the other and put in the order in which they are carried over: to look for
/// each where it stands costs several times as much.
///
/// Nothing rests on it: what it does not have is looked for in the table. Of an entry's grants to its subjects it has all or
/// none. Only for a database that tells whether others have written to it.
struct GrantsToCopy {
    /// Of whom they are.
    let prefixes: Range<Int>
    /// Those that were recorded before this entry.
    private let end: Int64
    /// Of the newest transaction of others: in a later one they may have removed some, or written other keys for them.
    private let stamp: Int64
    /// From this entry on they are yet to be read.
    private var next: Int64
    private var isForgotten = false
    /// Of these it has none.
    private var forgotten: Set<Int64> = []
    /// In the order in which they were given; the other lists have a place for each, too.
    private var entries: [Int64] = []
    private var offerKeys: [Int64] = []
    /// The subject of each, and its id.
    private var keys: [UInt8] = []
    /// The prefix of each above its number in the lists: in the order of prefixes, once all are read.
    private var order: [UInt64] = []
    /// So many of these are copied.
    private var copied = 0

    private static let subjectBytes = GrantPlaces.subjectBytes
    private static let keyBytes = 32
    private static let numberBits: UInt64 = 40

    /// Has room for so many, and has none yet.
    init(of prefixes: Range<Int>, in span: Range<Int64>, stamp: Int64, room: Int) {
        (self.prefixes, self.stamp) = (prefixes, stamp)
        (next, end) = (span.lowerBound, span.upperBound)
        entries.reserveCapacity(room)
        offerKeys.reserveCapacity(room)
        keys.reserveCapacity(room * Self.keyBytes)
        order.reserveCapacity(room)
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
        if next == end { order = order.sorted(byBits: Self.numberBits..<UInt64(UInt64.bitWidth)) }
        return true
    }

    private mutating func add(_ row: borrowing Row) {
        let (entry, start) = (NewGrantRow.entry(ofPlace: row.integer(0)), keys.count)
        let (subject, id) = (row.append(blob: 1, to: &keys), row.append(blob: 3, to: &keys))
        // Others, which only somebody else can have written, have no room here.
        guard subject == Self.subjectBytes, subject + id == Self.keyBytes else {
            keys.removeLast(subject + id)
            forget(entry)
            return
        }
        let prefix = GrantPlaces.prefix(of: keys.span.extracting(start..<start + subject))
        order.append(UInt64(prefix) << Self.numberBits | UInt64(entries.count))
        entries.append(entry)
        offerKeys.append(row.integer(2))
    }

    // MARK: - What was read

    /// Whether it has all that were to be read.
    var hasAll: Bool { next == end && !isForgotten && forgotten.isEmpty }

    /// Whether it has the grants of an entry, if there are any.
    func has(_ entry: Int64) -> Bool { next == end && !isForgotten && !forgotten.contains(entry) }

    /// Copies the grants of the next subjects, those with a prefix before this one, unless they are there already.
    mutating func copy(before prefix: Int, in connection: any DatabaseConnection) throws(StorageError) {
        while copied < order.count, order[copied] >> Self.numberBits < UInt64(prefix) {
            let number = Int(order[copied] & (1 << Self.numberBits - 1))
            copied += 1
            if forgotten.isEmpty || !forgotten.contains(entries[number]) { try copy(number, in: connection) }
        }
    }

    private func copy(_ number: Int, in connection: any DatabaseConnection) throws(StorageError) {
        let start = number * Self.keyBytes
        let idStart = start + Self.subjectBytes
        try connection.enqueue(
            SQL(
                """
                INSERT INTO grants (subject, offer_key, grant_id, entry_index) VALUES (?, ?, ?, ?)
                ON CONFLICT DO NOTHING
                """,
                .blob(bytes(start..<idStart)),
                .integer(offerKeys[number]),
                .blob(bytes(idStart..<start + Self.keyBytes)),
                .integer(entries[number])
            )
        )
    }

    /// The compiler copies these many at once; an array of a slice is made byte by byte.
    private func bytes(_ range: Range<Int>) -> [UInt8] {
        [UInt8](capacity: range.count) { bytes in for index in range { bytes.append(keys[index]) } }
    }

    /// Some of an entry's grants may be carried over by other ways, and get other keys.
    mutating func forget(_ entry: Int64) { forgotten.insert(entry) }

    /// Forgets everything, and reads nothing more, if others have written to the database.
    mutating func forgetAll(unless stamp: Int64) {
        guard stamp != self.stamp else { return }
        isForgotten = true
        (entries, offerKeys, keys, order, forgotten) = ([], [], [], [], [])
        next = end
    }
}
