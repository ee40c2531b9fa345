// SPDX-License-Identifier: Apache-2.0
import Storage

/// Says of most subjects, without asking the database, that nothing was ever granted to them.
///
/// A filter of everybody who was ever granted something. It is told of each grant, and reads some at a time what was there
/// before; until it has read everything, it knows of nobody that there is nothing. Only for a database that one service has to
/// itself. Used by one thread.
struct GrantedSubjects {
    /// What is read of the grants that were there before.
    fileprivate struct Reading {
        /// Of new grants, those that were recorded before this entry: of later ones it is told.
        let end: Int64
        var place = Place.newGrants(after: -1)
    }

    /// Behind which row to go on.
    ///
    /// First the new grants, then those that were carried over: so one that is carried over meanwhile is met in one of the
    /// two places, if not in both.
    fileprivate enum Place {
        case newGrants(after: Int64)
        case grants(subject: [UInt8])
    }

    private var filter: GrowingSubjectFilter
    /// Of those alone who may have some in `grants`.
    private var moved: GrowingSubjectFilter
    private var reading: Reading?
    private var hasAll = false

    /// Knows nothing yet, and has room for so many subjects at first.
    init(room: Int) {
        filter = GrowingSubjectFilter(room: room)
        moved = GrowingSubjectFilter(room: min(room, Self.roomForMoved))
    }

    /// In SQLite few grants are in `grants`.
    private static let roomForMoved = 4_096

    /// Whether there may be grants of the subject, new ones or others.
    func mayHave(_ subject: [UInt8]) -> Bool { !hasAll || filter.mayContain(subject) }

    /// Whether some of them may be in `grants`.
    func mayHaveMoved(_ subject: [UInt8]) -> Bool { !hasAll || moved.mayContain(subject) }

    /// There is a grant of the subject now, or will be.
    mutating func insert(_ subject: [UInt8]) { filter.insert(subject) }

    /// There is one in `grants` now, or will be.
    mutating func insertMoved(_ subject: [UInt8]) {
        filter.insert(subject)
        moved.insert(subject)
    }

    /// Somebody else may have granted something: all is to be read anew, into a filter with room for about as many.
    mutating func forgetAll() { self = Self(room: filter.capacity) }

    // MARK: - Reading

    /// Whether there is something to be read.
    var isReadingDue: Bool { !hasAll }

    /// Reads at most so many rows, between two transactions; the log has that many entries.
    ///
    /// When it throws, it has forgotten everything.
    mutating func readSome(
        _ rows: Int,
        ofLog entries: Int64,
        from connection: any DatabaseConnection
    ) throws(StorageError) {
        var current = reading ?? Reading(end: entries)
        do throws(StorageError) { hasAll = try current.read(rows, into: &filter, &moved, from: connection) } catch {
            forgetAll()
            throw error
        }
        reading = hasAll ? nil : current
    }
}

extension GrantedSubjects.Reading {
    /// Reads on; answers whether that was all.
    mutating func read(
        _ most: Int,
        into filter: inout GrowingSubjectFilter,
        _ moved: inout GrowingSubjectFilter,
        from connection: any DatabaseConnection
    ) throws(StorageError) -> Bool {
        switch place {
        case .newGrants(let previous):
            let question = SQL(
                "SELECT subject, place FROM new_grants WHERE place > ? AND place < ? ORDER BY place LIMIT ?",
                .integer(previous),
                .integer(NewGrantRow.first(of: end)),
                .integer(Int64(most))
            )
            let last = try read(question, most, from: connection) {
                filter.insert($0)
            } place: {
                .newGrants(after: $0.integer(1))
            }
            place = last ?? .grants(subject: [])
            return false
        case .grants(let subject):
            let question = SQL(
                "SELECT subject FROM grants WHERE subject > ? ORDER BY subject LIMIT ?",
                .blob(subject),
                .integer(Int64(most))
            )
            let last = try read(question, most, from: connection) { subject in
                filter.insert(subject)
                moved.insert(subject)
            } place: {
                .grants(subject: $0.blob(0))
            }
            if let last { place = last }
            return last == nil
        }
    }

    /// Inserts the subjects of an answer; answers where its last row is, or `nil` if the table has no more.
    private func read(
        _ sql: SQL,
        _ most: Int,
        from connection: any DatabaseConnection,
        _ insert: ([UInt8]) -> Void,
        place: (borrowing Row) -> GrantedSubjects.Place
    ) throws(StorageError) -> GrantedSubjects.Place? {
        var count = 0
        var last: GrantedSubjects.Place?
        try connection.rows(sql) { row in
            let subject = row.blob(0)
            // Nobody asks for others, which only somebody else can have written.
            if subject.count == GrantPlaces.subjectBytes { insert(subject) }
            count += 1
            if count == most { last = place(row) }
        }
        return last
    }
}
