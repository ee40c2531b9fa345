// SPDX-License-Identifier: Apache-2.0
import Storage

/// Where in the log grants are that are no longer known in memory, of those that were recorded before an entry.
///
/// Each row is a block of places in the order of subjects, so what came in the order of time is found by its subject, and
/// many new places share a row that is written. Like a place in memory, one may name what is none, or none any more. A grant
/// has its place here, or is in `grants`. Used by one thread, inside an open transaction. Only for a database that takes
/// one transaction at a time.
struct GrantPlaceTable {
    let connection: any DatabaseConnection
    /// So many places are in a block at the most: as many as fit a page of SQLite, which has 4,096 bytes.
    var mostWords = 500
    /// So many places of one prefix: who looks for a grant reads the row at each.
    var mostOfPrefix = 4

    private static let prefixes = 0..<1 << GrantPlaces.subjectBits

    /// Every grant that was recorded before this entry has its place here, or is in `grants`.
    func end() throws(StorageError) -> Int64 {
        try connection.first(SQL("SELECT before_entry FROM grant_places_state")) { $0.integer(0) } ?? 0
    }

    /// Every grant that was recorded before that entry has its place here now, or is in `grants`.
    func setEnd(_ entry: Int64) throws(StorageError) {
        try connection.run(SQL("UPDATE grant_places_state SET before_entry = ?", .integer(entry)))
    }

    /// The entries at which there may be grants of a subject, by what was here before the transaction.
    func entries(of subject: [UInt8]) throws(StorageError) -> [Int64] {
        let prefix = GrantPlaces.prefix(of: subject)
        var entries: [Int64] = []
        try connection.earlierRows(SQL(Self.blockOfPrefix, .integer(Int64(prefix)))) {
            entries = GrantPlaceBlock.entries(of: prefix, inBytes: $0.blob(1))
        }
        return entries
    }

    private static let blockOfPrefix: StaticString =
        "SELECT first_prefix, places FROM grant_places WHERE first_prefix <= ? ORDER BY first_prefix DESC LIMIT 1"

    // MARK: - Writing

    /// Adds places, which are in order and of subjects with prefixes in a range.
    ///
    /// Where there come to be too many of one prefix, the grants at all of them are copied to `grants`, and the places are
    /// not kept; it tells to whom these grants are. To remove the grants, too, would mean to write the page of each.
    func add(
        _ words: [UInt64],
        in prefixes: Range<Int>,
        copying: ([UInt8]) -> Void = { _ in }
    ) throws(StorageError) {
        if words.isEmpty { return }
        let blocks = try blocks(in: prefixes)
        let ends = blocks.dropFirst().map(\.firstPrefix) + [Self.prefixes.upperBound]
        var start = 0
        for (var block, end) in zip(blocks, ends) {
            let next = words[start...].firstIndex { GrantPlaces.prefix($0) >= end } ?? words.count
            guard next > start else { continue }
            block.add(Array(words[start..<next]))
            start = next
            for word in block.takeOften(moreThan: mostOfPrefix) { try copy(word, telling: copying) }
            for part in block.split(atMost: mostWords) { try write(part) }
        }
    }

    /// The blocks that have prefixes of a range; the first begins with 0 if there is none before it.
    private func blocks(in prefixes: Range<Int>) throws(StorageError) -> [GrantPlaceBlock] {
        func block(_ row: borrowing Row) -> GrantPlaceBlock {
            GrantPlaceBlock(firstPrefix: Int(row.integer(0)), bytes: row.blob(1))
        }
        let first = try connection.first(SQL(Self.blockOfPrefix, .integer(Int64(prefixes.lowerBound)))) { block($0) }
        let others = try connection.all(
            SQL(
                """
                SELECT first_prefix, places FROM grant_places
                WHERE first_prefix > ? AND first_prefix < ? ORDER BY first_prefix
                """,
                .integer(Int64(prefixes.lowerBound)),
                .integer(Int64(prefixes.upperBound))
            )
        ) { block($0) }
        return [first ?? GrantPlaceBlock(firstPrefix: 0)] + others
    }

    private func write(_ block: GrantPlaceBlock) throws(StorageError) {
        try connection.run(
            SQL(
                """
                INSERT INTO grant_places (first_prefix, places) VALUES (?, ?)
                ON CONFLICT (first_prefix) DO UPDATE SET places = excluded.places
                """,
                .integer(Int64(block.firstPrefix)),
                .blob(block.bytes)
            )
        )
    }

    /// Copies the grants at a place.
    private func copy(_ word: UInt64, telling: ([UInt8]) -> Void) throws(StorageError) {
        let (prefix, entry) = (GrantPlaces.prefix(word), GrantPlaces.entry(word))
        let question = SQL(
            """
            SELECT subject, offer_key, grant_id FROM new_grants
            WHERE place >= ? AND place < ? AND subject >= ? AND subject < ?
            """,
            NewGrantRow.places(of: entry) + NewGrantRow.subjects(of: prefix..<prefix + 1)
        )
        for row in try connection.all(question, { (subject: $0.blob(0), offerKey: $0.integer(1), id: $0.blob(2)) }) {
            telling(row.subject)
            let grant: [SQLValue] = [.blob(row.subject), .integer(row.offerKey), .blob(row.id), .integer(entry)]
            try connection.insert(grant, into: Self.copies)
        }
    }

    private static let copies = Insertion(
        into: "grants",
        columns: "subject, offer_key, grant_id, entry_index",
        onConflict: .keeps
    )

    // MARK: - Making it anew

    /// Makes all places anew from what there is, so that none is left of grants that were removed.
    ///
    /// Reads the grants once for so many of them as are put in order in memory, eight bytes each.
    func remake(inMemory most: Int = 4_000_000) throws(StorageError) {
        let end = try end()
        let question = SQL(
            "SELECT place, subject FROM new_grants WHERE place < ?",
            .integer(NewGrantRow.first(of: end))
        )
        let count = try connection.first(SQL("SELECT count(*) FROM new_grants")) { $0.integer(0) } ?? 0
        let width = Self.prefixes.count / (Int(count) / most + 1)
        try connection.run(SQL("DELETE FROM grant_places"))
        for first in stride(from: 0, to: Self.prefixes.upperBound, by: width) {
            let part = first..<min(first + width, Self.prefixes.upperBound)
            var words: [UInt64] = []
            try connection.rows(question) { row in
                let subject = row.blob(1)
                guard subject.count == GrantPlaces.subjectBytes, part.contains(GrantPlaces.prefix(of: subject)) else {
                    return
                }
                words.append(
                    GrantPlaces.word(GrantPlaces.prefix(of: subject), NewGrantRow.entry(ofPlace: row.integer(0)))
                )
            }
            try add(words.sorted(), in: part)
        }
    }
}
