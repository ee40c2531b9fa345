// SPDX-License-Identifier: Apache-2.0
import Storage

/// Says of most subjects, without asking the database, that nothing was carried over to them.
///
/// A filter of everybody who was ever granted something. It is told of each grant, and reads some at a time what was there
/// before; until it has read everything, it knows of nobody that there is nothing. Only for a database that one service has to
/// itself. Used by one thread.
struct GrantedSubjects {
    /// A filter that is being made.
    fileprivate struct Reading {
        var filter: SubjectFilter
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

    /// Room for so many subjects at the most, which are 8 MB; of more, it mistakes more strangers for one of them.
    static let mostRoom = 1 << 22

    /// For so many subjects there will be room in the next filter.
    private var room: Int
    /// `nil` until everything was read.
    private var filter: SubjectFilter?
    private var reading: Reading?

    /// Knows nothing yet, and will have room for so many subjects at first.
    init(room: Int) { self.room = room }

    /// Whether there may be grants of the subject in `grants`.
    func mayHave(_ subject: [UInt8]) -> Bool { filter?.mayContain(subject) ?? true }

    /// There is a grant of the subject now, or will be.
    mutating func insert(_ subject: [UInt8]) {
        filter?.insert(subject)
        reading?.filter.insert(subject)
    }

    /// Somebody else may have granted something: all is to be read anew.
    mutating func forgetAll() { (filter, reading) = (nil, nil) }

    // MARK: - Reading

    /// Whether there is something to be read: all of it at first, and again for a filter with more room.
    var isReadingDue: Bool { reading != nil || filter?.needsMoreRoom ?? true }

    /// Reads at most so many rows, between two transactions; the log has that many entries.
    ///
    /// When it throws, it has forgotten everything.
    mutating func readSome(
        _ rows: Int,
        ofLog entries: Int64,
        from connection: any DatabaseConnection
    ) throws(StorageError) {
        var current = reading ?? nextReading(entries)
        // The filter that is read into has no other owner, or else each portion would copy it.
        reading = nil
        let isAll: Bool
        do throws(StorageError) { isAll = try current.read(rows, from: connection) } catch {
            forgetAll()
            throw error
        }
        if current.filter.needsMoreRoom {
            makeRoom(beyond: current.filter)
            reading = nextReading(entries)
        } else if isAll {
            filter = current.filter
        } else {
            reading = current
        }
    }

    private mutating func nextReading(_ entries: Int64) -> Reading {
        if let filter { makeRoom(beyond: filter) }
        return Reading(filter: SubjectFilter(capacity: room), end: entries)
    }

    private mutating func makeRoom(beyond filter: SubjectFilter) {
        room = min(max(room, 4 * filter.capacity), Self.mostRoom)
    }
}

extension GrantedSubjects.Reading {
    /// Reads on; answers whether that was all.
    mutating func read(_ most: Int, from connection: any DatabaseConnection) throws(StorageError) -> Bool {
        switch place {
        case .newGrants(let previous):
            let last = try read(
                SQL(
                    "SELECT subject, place FROM new_grants WHERE place > ? AND place < ? ORDER BY place LIMIT ?",
                    .integer(previous),
                    .integer(NewGrantRow.first(of: end)),
                    .integer(Int64(most))
                ),
                most,
                from: connection
            ) { .newGrants(after: $0.integer(1)) }
            place = last ?? .grants(subject: [])
            return false
        case .grants(let subject):
            let last = try read(
                SQL(
                    "SELECT subject FROM grants WHERE subject > ? ORDER BY subject LIMIT ?",
                    .blob(subject),
                    .integer(Int64(most))
                ),
                most,
                from: connection
            ) { .grants(subject: $0.blob(0)) }
            if let last { place = last }
            return last == nil
        }
    }

    /// Inserts the subjects of an answer; answers where its last row is, or `nil` if the table has no more.
    private mutating func read(
        _ sql: SQL,
        _ most: Int,
        from connection: any DatabaseConnection,
        _ place: (borrowing Row) -> GrantedSubjects.Place
    ) throws(StorageError) -> GrantedSubjects.Place? {
        var count = 0
        var last: GrantedSubjects.Place?
        try connection.rows(sql) { row in
            let subject = row.blob(0)
            // Nobody asks for others, which only somebody else can have written.
            if subject.count == GrantPlaces.subjectBytes { filter.insert(subject) }
            count += 1
            if count == most { last = place(row) }
        }
        return last
    }
}

extension SubjectFilter {
    /// Whether another with more room would make fewer mistakes, and may be made.
    fileprivate var needsMoreRoom: Bool { isFull && capacity < GrantedSubjects.mostRoom }
}
