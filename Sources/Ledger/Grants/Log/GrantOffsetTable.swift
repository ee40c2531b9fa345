// SPDX-License-Identifier: Apache-2.0
import Configuration
import Storage

/// The offsets of all grants but the newest, in the order of subjects: sorted blocks, one to a row.
///
/// Many new offsets share a written block, and a look-up reads one block. Some offsets may be of removed grants. Used
/// by one thread, inside an open transaction.
struct GrantOffsetTable {
    let connection: any DatabaseConnection
    var options = CompactionOptions()

    /// Every grant that was recorded before this entry has its offset here, or is in `grants`.
    func end() throws(StorageError) -> Int64 {
        try connection.first(SQL("SELECT before_entry FROM grant_offsets_state")) { $0.integer(0) } ?? 0
    }

    /// Every grant that was recorded before that entry has its offset here now, or is in `grants`.
    func setEnd(_ entry: Int64) throws(StorageError) {
        try connection.run(SQL("UPDATE grant_offsets_state SET before_entry = ?", .integer(entry)))
    }

    /// The entries at which there may be grants of a subject, by what was here before the transaction.
    func entries(of subject: [UInt8]) throws(StorageError) -> [Int64] {
        let prefix = GrantOffset.prefix(of: subject)
        var entries: [Int64] = []
        try connection.earlierRows(SQL(Self.blockOfPrefix, .integer(Int64(prefix)))) {
            entries = GrantOffsetBlock.entries(of: prefix, inBytes: $0.blob(1))
        }
        return entries
    }

    private static let blockOfPrefix: StaticString =
        "SELECT first_prefix, offsets FROM grant_offsets WHERE first_prefix <= ? ORDER BY first_prefix DESC LIMIT 1"

    // MARK: - Writing

    /// Adds offsets, which are in order and of subjects with prefixes in a range.
    ///
    /// If one prefix gets too many offsets, the grants at all of them are copied to `grants` and the offsets are
    /// dropped; `copying` gets the subjects. The grants stay in the log, because removing each would write its page.
    func add(
        _ offsets: [GrantOffset],
        in prefixes: Range<Int>,
        copying: ([UInt8]) -> Void = { _ in }
    ) throws(StorageError) {
        if offsets.isEmpty { return }
        let blocks = try blocks(in: prefixes)
        let ends = blocks.dropFirst().map(\.firstPrefix) + [GrantOffset.prefixes.upperBound]
        var start = 0
        for (var block, end) in zip(blocks, ends) {
            let next = offsets[start...].firstIndex { $0.prefix >= end } ?? offsets.count
            guard next > start else { continue }
            block.merge(Array(offsets[start..<next]))
            start = next
            for offset in block.takeFrequent(moreThan: options.mostOffsetsOfPrefix) { try copy(offset, copying) }
            for part in block.split(atMost: options.mostOffsetsOfBlock) { try write(part) }
        }
    }

    /// The blocks with prefixes of a range; the first begins with 0 if no block is before it.
    private func blocks(in prefixes: Range<Int>) throws(StorageError) -> [GrantOffsetBlock] {
        func block(_ row: borrowing Row) -> GrantOffsetBlock {
            GrantOffsetBlock(firstPrefix: Int(row.integer(0)), bytes: row.blob(1))
        }
        let first = try connection.first(SQL(Self.blockOfPrefix, .integer(Int64(prefixes.lowerBound)))) { block($0) }
        let others = try connection.all(
            SQL(
                """
                SELECT first_prefix, offsets FROM grant_offsets
                WHERE first_prefix > ? AND first_prefix < ? ORDER BY first_prefix
                """,
                .integer(Int64(prefixes.lowerBound)),
                .integer(Int64(prefixes.upperBound))
            )
        ) { block($0) }
        return [first ?? GrantOffsetBlock(firstPrefix: 0)] + others
    }

    private func write(_ block: GrantOffsetBlock) throws(StorageError) {
        try connection.run(
            SQL(
                """
                INSERT INTO grant_offsets (first_prefix, offsets) VALUES (?, ?)
                ON CONFLICT (first_prefix) DO UPDATE SET offsets = excluded.offsets
                """,
                .integer(Int64(block.firstPrefix)),
                .blob(block.bytes)
            )
        )
    }

    /// Copies the grants at an offset.
    private func copy(_ offset: GrantOffset, _ copying: ([UInt8]) -> Void) throws(StorageError) {
        let question = SQL(
            """
            SELECT subject, offer_key, grant_id FROM grants_by_time
            WHERE place >= ? AND place < ? AND subject >= ? AND subject < ?
            """,
            GrantLogRow.places(of: offset.entry) + GrantLogRow.subjects(with: offset.prefix)
        )
        for row in try connection.all(question, { (subject: $0.blob(0), offerKey: $0.integer(1), id: $0.blob(2)) }) {
            copying(row.subject)
            let grant: [SQLValue] = [
                .blob(row.subject), .integer(row.offerKey), .blob(row.id), .integer(offset.entry),
            ]
            try connection.insert(grant, into: Self.copies)
        }
    }

    private static let copies = Insertion(
        into: "grants",
        columns: "subject, offer_key, grant_id, entry_index",
        onConflict: .keeps
    )

    // MARK: - Rebuilding

    /// Makes all offsets again from the existing grants, so that no offset of a removed grant is left.
    ///
    /// Sorts the offsets in parts in memory, 8 bytes each, and reads all grants once for each part.
    func rebuild(inMemory most: Int = 4_000_000) throws(StorageError) {
        let question = SQL(
            "SELECT place, subject FROM grants_by_time WHERE place < ?",
            .integer(GrantLogRow.first(of: try end()))
        )
        let count = try connection.first(SQL("SELECT count(*) FROM grants_by_time")) { $0.integer(0) } ?? 0
        let (all, parts) = (GrantOffset.prefixes.upperBound, Int(count) / most + 1)
        try connection.run(SQL("DELETE FROM grant_offsets"))
        for first in stride(from: 0, to: all, by: all / parts) {
            let part = first..<min(first + all / parts, all)
            var offsets: [GrantOffset] = []
            try connection.rows(question) { row in
                let subject = row.blob(1)
                guard subject.count == LedgerKey.byteCount else { return }
                let prefix = GrantOffset.prefix(of: subject)
                guard part.contains(prefix) else { return }
                offsets.append(GrantOffset(prefix: prefix, entry: GrantLogRow.entry(ofPlace: row.integer(0))))
            }
            try add(offsets.sorted(), in: part)
        }
    }
}
