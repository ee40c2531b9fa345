// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
package import Storage

/// What was granted to whom, which caps are counted from.
///
/// Customers come in no order, so writing each grant among those of its customer touches a page of the database for each.
/// New grants are therefore written one after the other, and carried over in the order of customers, many at a time.
/// Meanwhile a table in memory knows where they are; it is made from the database, so nothing is lost with it. A grant
/// may stand in both places; it is counted once, by its id. Used by one thread, inside an open transaction.
package final class GrantTable {
    let connection: any DatabaseConnection
    private let portions: GrantPortions
    /// Where several services share the database, which one this is.
    private let instance: UniqueID?
    private var places = GrantPlaces()
    /// Who may have grants, new ones or others; `nil` where everybody is looked for.
    private var granted: GrantedSubjects?
    /// Of the newest transaction.
    private var stampOfOthers: Int64?
    /// The places are those of all grants that were recorded by an entry before this one.
    private var nextEntry: Int64 = 0
    /// Whether there may be grants that have no place.
    private var isStale = true
    /// The entry that was written for last, and how many rows it has among the new grants.
    private var newest = (entry: Int64(-1), rows: Int64(0))
    private var merge: GrantMerge?
    /// What was read ahead in this transaction, and what was added to it since.
    private var known: [Question: [UniqueID]] = [:]
    /// As long as there are no more new grants than this, none are carried over.
    private var mergesAbove = 0

    /// With `looksForAll`, nothing is read to know who was never granted anything.
    package init(
        connection: any DatabaseConnection,
        portions: GrantPortions = GrantPortions(),
        instance: UniqueID? = nil,
        looksForAll: Bool = false
    ) {
        self.connection = connection
        self.portions = portions
        self.instance = instance
        granted = looksForAll || instance != nil ? nil : GrantedSubjects(room: portions.room)
    }

    // MARK: - The places

    /// A transaction has begun: others may have granted something since the last one, or written other keys for grants.
    func begun() throws(StorageError) {
        guard granted != nil else { return }
        let stamp = try connection.stampOfOthers()
        if stamp == nil { granted = nil }
        if stamp != stampOfOthers { granted?.forgetAll() }
        stampOfOthers = stamp
    }

    /// Somebody else has written to the ledger.
    func ledgerChanged() {
        isStale = true
        known.removeAll(keepingCapacity: true)
    }

    /// What was written since the last commit was undone.
    func undone() {
        places.remove(from: nextEntry)
        isStale = true
        known.removeAll(keepingCapacity: true)
    }

    /// Everything that was added is durable; the next entry of the log will have that index.
    func committed(nextEntry: Int64) {
        if !isStale { self.nextEntry = nextEntry }
        known.removeAll(keepingCapacity: true)
    }

    /// Has the places of all new grants known; what is asked for later does so too.
    func refresh() throws(StorageError) {
        guard isStale else { return }
        var next = nextEntry
        try connection.rows(
            SQL(
                // The second bound tells a planner that knows nothing of the table that few rows are meant.
                """
                SELECT place, subject FROM new_grants WHERE place >= ? AND place < ? ORDER BY place
                """,
                .integer(NewGrantRow.first(of: nextEntry)),
                .integer(.max)
            )
        ) { row in
            let entry = NewGrantRow.entry(ofPlace: row.integer(0))
            let subject = row.blob(1)
            // Nobody asks for others, which only somebody else can have written.
            if subject.count == GrantPlaces.subjectBytes { places.insert(subject, entry: entry) }
            next = max(next, entry + 1)
        }
        (nextEntry, isStale) = (next, false)
    }

    private func entries(of subject: [UInt8]) throws(StorageError) -> [Int64] {
        try refresh()
        return places.entries(of: subject)
    }

    // MARK: - Who was granted something

    /// Whether there is something to be read of who was granted something.
    var isReadingDue: Bool { stampOfOthers != nil && granted?.isReadingDue ?? false }

    /// Reads some of it, between two transactions; the log has that many entries.
    ///
    /// When it throws, everybody is looked for from then on.
    func readGranted(ofLog entries: Int64) throws(StorageError) {
        guard isReadingDue, var granted else { return }
        self.granted = nil
        try granted.readSome(portions.rows, ofLog: entries, from: connection)
        self.granted = granted
    }

    /// Whether there may be grants of the subject, in whichever place.
    private func mayHaveGrants(_ subject: [UInt8]) -> Bool { granted?.mayHave(subject) ?? true }

    // MARK: - Reading

    /// Which grants are asked for: those of an offer to a subject.
    struct Question: Hashable {
        let subject: [UInt8]
        let offerKey: Int64
    }

    private static let newGrants: StaticString =
        "SELECT grant_id FROM new_grants WHERE place >= ? AND place < ? AND subject = ? AND offer_key = ?"
    private static let earlierGrants: StaticString = "SELECT grant_id FROM grants WHERE subject = ? AND offer_key = ?"

    /// The grants of an offer to a subject; some perhaps twice.
    func grants(of offerKey: Int64, to subject: [UInt8]) throws(StorageError) -> [UniqueID] {
        if !known.isEmpty, let known = known[Question(subject: subject, offerKey: offerKey)] { return known }
        guard mayHaveGrants(subject) else { return [] }
        var found: [UniqueID] = []
        for entry in try entries(of: subject) {
            let values = NewGrantRow.places(of: entry) + [.blob(subject), .integer(offerKey)]
            try connection.rows(SQL(Self.newGrants, values)) { row in
                if let id = UniqueID(bytes: row.blob(0)) { found.append(id) }
            }
        }
        try connection.rows(SQL(Self.earlierGrants, .blob(subject), .integer(offerKey))) { row in
            if let id = UniqueID(bytes: row.blob(0)) { found.append(id) }
        }
        return found
    }

    /// Reads the answers to many questions at once; they are known until the transaction ends.
    func readAhead(_ questions: Set<Question>) throws(StorageError) {
        let asked = Array(questions)
        var found = [[UniqueID]](repeating: [], count: asked.count)
        var (placed, values): ([Int], [[SQLValue]]) = ([], [])
        for (number, question) in asked.enumerated() {
            for entry in try entries(of: question.subject) {
                placed.append(number)
                values.append(
                    NewGrantRow.places(of: entry) + [.blob(question.subject), .integer(question.offerKey)]
                )
            }
        }
        try connection.rows(Self.newGrants, forEach: values) { place, row in
            if let id = UniqueID(bytes: row.blob(0)) { found[placed[place]].append(id) }
        }
        let all = asked.map { [SQLValue.blob($0.subject), .integer($0.offerKey)] }
        try connection.rows(Self.earlierGrants, forEach: all) { place, row in
            if let id = UniqueID(bytes: row.blob(0)) { found[place].append(id) }
        }
        for (question, ids) in zip(asked, found) { known[question] = ids }
    }

    /// Another table adds or removes grants of a subject; to be told before it asks for them here.
    func change(_ subject: [UInt8]) {
        known = known.filter { $0.key.subject != subject }
        granted?.insert(subject)
    }

    /// The grants of all offers to a subject, by the offers' keys.
    func grants(to subject: [UInt8]) throws(StorageError) -> [Int64: Set<UniqueID>] {
        guard mayHaveGrants(subject) else { return [:] }
        var found: [Int64: Set<UniqueID>] = [:]
        for entry in try entries(of: subject) {
            try connection.rows(
                SQL(
                    "SELECT offer_key, grant_id FROM new_grants WHERE place >= ? AND place < ? AND subject = ?",
                    NewGrantRow.places(of: entry) + [.blob(subject)]
                )
            ) { row in
                if let id = UniqueID(bytes: row.blob(1)) { found[row.integer(0), default: []].insert(id) }
            }
        }
        try connection.rows(SQL("SELECT offer_key, grant_id FROM grants WHERE subject = ?", .blob(subject))) { row in
            if let id = UniqueID(bytes: row.blob(1)) { found[row.integer(0), default: []].insert(id) }
        }
        return found
    }

    // MARK: - Writing

    /// Adds a grant, which the entry of that index tells of.
    func add(_ grantID: UniqueID, of offerKey: Int64, to subject: [UInt8], entry: Int64) throws(StorageError) {
        if !known.isEmpty { known[Question(subject: subject, offerKey: offerKey)]?.append(grantID) }
        granted?.insert(subject)
        if newest.entry != entry { newest = (entry, 0) }
        let id = SQLValue.blob(grantID.bytes)
        // Who comes again and again is found at once, not in many places.
        guard try entries(of: subject).count < portions.mostPlaces, newest.rows < NewGrantRow.mostOfAnEntry else {
            try connection.enqueue(
                SQL(
                    "INSERT INTO grants (entry_index, subject, offer_key, grant_id) VALUES (?, ?, ?, ?)",
                    .integer(entry),
                    .blob(subject),
                    .integer(offerKey),
                    id
                )
            )
            return
        }
        let place = NewGrantRow.first(of: entry) + newest.rows
        try connection.enqueue(
            SQL(
                "INSERT INTO new_grants (place, subject, offer_key, grant_id) VALUES (?, ?, ?, ?)",
                .integer(place),
                .blob(subject),
                .integer(offerKey),
                id
            )
        )
        newest.rows += 1
        places.insert(subject, entry: entry)
    }

    /// Carries the grants of a subject over at once, so that all of them stand in `grants`.
    func settle(_ subject: [UInt8]) throws(StorageError) {
        for entry in try entries(of: subject) {
            merge?.toCopy?.forget(entry)
            try connection.run(
                SQL(
                    """
                    INSERT INTO grants (subject, offer_key, grant_id, entry_index)
                    SELECT subject, offer_key, grant_id, place / 256 FROM new_grants
                    WHERE place >= ? AND place < ? AND subject = ? ON CONFLICT DO NOTHING
                    """,
                    NewGrantRow.places(of: entry) + [.blob(subject)]
                )
            )
            try connection.run(
                SQL(
                    "DELETE FROM new_grants WHERE place >= ? AND place < ? AND subject = ?",
                    NewGrantRow.places(of: entry) + [.blob(subject)]
                )
            )
        }
    }
}

/// How many grants there may be in the order of time, and how they are carried over.
package struct GrantPortions: Sendable {
    /// So many are carried over together at the least: the more, the fewer pages are written for each.
    package var fewest = 65_536
    /// So many at the most, which bounds the memory.
    package var most = 1 << 20
    /// Between these, one for so many entries of the log: as there come to be more customers, fewer share a page.
    package var entriesForEach: Int64 = 16
    /// So many are carried over in one transaction.
    package var step = 512
    /// Before, about so many at the most are read together, which takes some 60 bytes for each.
    package var mostToCopy = 73_728
    /// That is done for so many parts at the most: all rows are read for each, and for more parts looking for each costs less.
    package var mostParts = 16
    /// So many grants of one subject are new at most.
    package var mostPlaces = 8
    /// For so many subjects with grants there is room in memory at first.
    package var room = 65_536
    /// So many of them are read at a time.
    package var rows = 1024

    package init() {}

    func size(ofLog entries: Int64) -> Int {
        max(fewest, min(most, Int(clamping: entries / entriesForEach)))
    }

    /// In how many parts so many are read before they are copied; 0 where each is looked for.
    func parts(of count: Int) -> Int {
        let parts = (count + mostToCopy - 1) / mostToCopy
        return parts > mostParts ? 0 : parts
    }
}

// MARK: - Carrying over

/// How far new grants are carried over.
private struct GrantMerge {
    /// The grants that were recorded before this entry.
    let end: Int64
    /// About how many they are.
    let count: Int
    /// In so many parts they are read before they are copied; 0 where each is looked for.
    let parts: Int
    /// The subjects with a prefix before this are done.
    var prefix = 0
    /// Those of the part at hand.
    var toCopy: GrantsToCopy?

    var hasAll: Bool { prefix == 1 << GrantPlaces.subjectBits }

    /// The prefixes of the part that begins where it stands.
    var nextPart: Range<Int> {
        let all = 1 << GrantPlaces.subjectBits
        let width = (all + parts - 1) / parts
        return prefix..<min(all, (prefix / width + 1) * width)
    }
}

extension GrantTable {
    /// Whether there are so many new grants that some should be carried over.
    var isMergeDue: Bool {
        !isStale && (merge != nil || places.count > max(mergesAbove, portions.size(ofLog: nextEntry)))
    }

    /// Carries some grants over, in a transaction of its own, between two others; nobody need wait for it.
    ///
    /// Until all up to the last are there, none are removed. So it may stop anywhere, and begin anew after a crash.
    func mergeSome() throws(StorageError) {
        if isMergeDue, merge == nil, let instance { try leaveToOthers(instance) }
        guard isMergeDue else { return }
        var current =
            merge ?? GrantMerge(end: nextEntry, count: places.count, parts: portions.parts(of: places.count))
        // What was read has no other owner, or else each change would copy it.
        merge = nil
        do throws(StorageError) {
            if current.hasAll {
                let end = current.end
                guard try connection.transaction({ () throws(StorageError) in try removeSome(before: end) }) else {
                    merge = current
                    return
                }
                places.remove(before: end)
                mergesAbove = 0
            } else {
                try connection.transaction { () throws(StorageError) in
                    if try !readSomeToCopy(&current) { try copySome(&current) }
                }
                merge = current
            }
        } catch {
            // There may be no room for it; what is asked for must not wait until there is.
            mergesAbove = places.count + portions.fewest
            throw error
        }
    }

    /// Of several services the oldest carries over for all; each of the others waits for one portion more, in case that
    /// those before it are gone.
    private func leaveToOthers(_ instance: UniqueID) throws(StorageError) {
        places.remove(before: try firstNewEntry() ?? nextEntry)
        let older = try InstanceTable(connection: connection).count(before: instance)
        mergesAbove = portions.size(ofLog: nextEntry) * (older + 1)
    }

    private func firstNewEntry() throws(StorageError) -> Int64? {
        try connection.first(SQL("SELECT min(place) FROM new_grants")) { $0.optionalInteger(0) }.flatMap(\.self)
            .map(NewGrantRow.entry(ofPlace:))
    }

    /// Reads some of the grants of the part at hand; answers whether there were any to read.
    private func readSomeToCopy(_ merge: inout GrantMerge) throws(StorageError) -> Bool {
        guard merge.parts > 0, let stamp = try connection.stampOfOthers() else { return false }
        if merge.prefix >= merge.toCopy?.prefixes.upperBound ?? 0 {
            // Before the next ones need memory.
            merge.toCopy = nil
            merge.toCopy = GrantsToCopy(
                of: merge.nextPart,
                in: min(try firstNewEntry() ?? merge.end, merge.end)..<merge.end,
                stamp: stamp,
                room: merge.count / merge.parts * 33 / 32
            )
        }
        merge.toCopy?.forgetAll(unless: stamp)
        return try merge.toCopy?.readSome(8 * portions.step, from: connection) ?? false
    }

    /// Copies the grants of the next subjects.
    private func copySome(_ merge: inout GrantMerge) throws(StorageError) {
        let all = 1 << GrantPlaces.subjectBits
        let width = max(1, all * portions.step / max(1, places.count))
        let prefixes = merge.prefix..<min(merge.toCopy?.prefixes.upperBound ?? all, merge.prefix + width)
        try merge.toCopy?.copy(before: prefixes.upperBound, in: connection)
        if merge.toCopy?.hasAll != true {
            for place in places.places(in: prefixes, before: merge.end)
            where merge.toCopy?.has(place.entry) != true {
                try copy(place)
            }
        }
        merge.prefix = prefixes.upperBound
        if merge.hasAll { merge.toCopy = nil }
    }

    /// Copies what stands at a place, if it still does.
    private func copy(_ place: (prefix: Int, entry: Int64)) throws(StorageError) {
        try connection.enqueue(
            SQL(
                """
                INSERT INTO grants (subject, offer_key, grant_id, entry_index)
                SELECT subject, offer_key, grant_id, place / 256 FROM new_grants
                WHERE place >= ? AND place < ? AND subject >= ? AND subject < ? ON CONFLICT DO NOTHING
                """,
                NewGrantRow.places(of: place.entry) + NewGrantRow.subjects(of: place.prefix..<place.prefix + 1)
            )
        )
    }

    /// Removes what was copied, from its beginning; answers whether that was all.
    private func removeSome(before end: Int64) throws(StorageError) -> Bool {
        guard let first = try firstNewEntry(), first < end else { return true }
        let last = min(end, first + Int64(4 * portions.step))
        try connection.run(SQL("DELETE FROM new_grants WHERE place < ?", .integer(NewGrantRow.first(of: last))))
        return last == end
    }
}
