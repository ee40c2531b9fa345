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
        let (entry, subject, id) = (NewGrantRow.entry(ofPlace: row.integer(0)), row.blob(1), row.blob(3))
        // Others, which only somebody else can have written, have no room here.
        guard subject.count == Self.subjectBytes, subject.count + id.count == Self.keyBytes else {
            forget(entry)
            return
        }
        order.append(UInt64(GrantPlaces.prefix(of: subject)) << Self.numberBits | UInt64(entries.count))
        entries.append(entry)
        offerKeys.append(row.integer(2))
        keys += subject
        keys += id
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
        let (start, end) = (number * Self.keyBytes, (number + 1) * Self.keyBytes)
        try connection.enqueue(
            SQL(
                """
                INSERT INTO grants (subject, offer_key, grant_id, entry_index) VALUES (?, ?, ?, ?)
                ON CONFLICT DO NOTHING
                """,
                .blob(Array(keys[start..<start + Self.subjectBytes])),
                .integer(offerKeys[number]),
                .blob(Array(keys[start + Self.subjectBytes..<end])),
                .integer(entries[number])
            )
        )
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
