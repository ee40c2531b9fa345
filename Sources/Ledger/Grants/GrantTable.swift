// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
package import Storage

/// What was granted to whom, which caps are counted from.
///
/// Customers come in no order, so writing each grant among those of its customer touches a page of the database for each.
/// Grants are therefore written one after the other. A table in memory knows where the new ones are; it is made from the
/// database, so nothing is lost with it. When there are many, SQLite gets their places in the order of customers
/// (`GrantPlaceTable`), and a server the grants themselves, which are carried over to `grants`. A grant may stand in both
/// tables; it is counted once, by its id. Used by one thread, inside an open transaction.
package final class GrantTable {
    let connection: any DatabaseConnection
    private let portions: GrantPortions
    /// Where several services share the database, which one this is.
    private let instance: UniqueID?
    private var places = GrantPlaces()
    /// Where all others are; `nil` where grants are carried over to `grants` in place of that.
    private let placed: GrantPlaceTable?
    /// Who may have grants, new ones or others; `nil` where everybody is looked for.
    private var granted: GrantedSubjects?
    /// Of the newest transaction.
    private var stampOfOthers: Int64?
    /// The places are those of all grants that were recorded by an entry before this one, and are not ``placed``.
    private var nextEntry: Int64 = 0
    /// Whether there may be grants that have no place.
    private var isStale = true
    /// The entry that was written for last, and how many rows it has among the new grants.
    private var newest = (entry: Int64(-1), rows: Int64(0))
    private var merge: GrantMerge?
    /// What was read ahead in this transaction, and what was added to it since.
    private var known: [Question: [UniqueID]] = [:]
    /// New grants of others, as they were read in this transaction; `nil` where their places alone were.
    private var others: [Question: [UniqueID]]?
    /// Questions of this transaction that were asked ahead.
    private var askedAhead: [AskedGrants] = []
    /// What was read last of ``placed`` in this transaction: who is asked about may be granted something next.
    private var knownPlaces: [(subject: [UInt8], entries: [Int64])] = []
    /// A request rarely has more names.
    private static let mostKnownPlaces = 4
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
        placed =
            connection.isRemote
            ? nil
            : GrantPlaceTable(
                connection: connection,
                mostWords: portions.mostWords,
                mostOfPrefix: portions.mostOfPrefix
            )
        granted = looksForAll || instance != nil ? nil : GrantedSubjects(room: portions.room)
    }

    // MARK: - The places

    /// A transaction has begun: others may have granted something since the last one, or written other keys for grants.
    func begun() throws(StorageError) {
        askedAhead.removeAll(keepingCapacity: true)
        let stamp = try connection.stampOfOthers()
        if stamp == nil { granted = nil }
        if stamp != stampOfOthers {
            granted?.forgetAll()
            // They may have removed grants, whose places are to be left nowhere.
            (places, nextEntry, merge, isStale) = (GrantPlaces(), 0, nil, true)
        }
        stampOfOthers = stamp
    }

    /// Somebody else has written to the ledger.
    func ledgerChanged() {
        isStale = true
        forgetKnown()
    }

    /// What was written since the last commit was undone.
    func undone() {
        places.remove(from: nextEntry)
        isStale = true
        forgetKnown()
    }

    /// Everything that was added is durable; the next entry of the log will have that index.
    func committed(nextEntry: Int64) {
        if !isStale { self.nextEntry = nextEntry }
        forgetKnown()
    }

    private func forgetKnown() {
        known.removeAll(keepingCapacity: true)
        knownPlaces.removeAll(keepingCapacity: true)
        others = nil
    }

    /// Has the places of all new grants known; what is asked for later does so too.
    func refresh() throws(StorageError) {
        guard isStale else { return }
        if nextEntry == 0, let placed { nextEntry = try placed.end() }
        var next = nextEntry
        others = placed == nil && nextEntry > 0 ? [:] : nil
        try connection.rows(newestGrants) { row in
            let entry = NewGrantRow.entry(ofPlace: row.integer(0))
            let subject = row.blob(1)
            // Nobody asks for others, which only somebody else can have written.
            if subject.count == GrantPlaces.subjectBytes { places.insert(subject, entry: entry) }
            if others != nil, let id = UniqueID(bytes: row.blob(3)) {
                others?[Question(subject: subject, offerKey: row.integer(2)), default: []].append(id)
            }
            next = max(next, entry + 1)
        }
        (nextEntry, isStale) = (next, false)
    }

    /// The new grants that are not known; with what they are of, where others have made them.
    private var newestGrants: SQL {
        // The second bound tells a planner that knows nothing of the table that few rows are meant.
        let bounds: [SQLValue] = [.integer(NewGrantRow.first(of: nextEntry)), .integer(.max)]
        guard placed == nil, nextEntry > 0 else {
            return SQL("SELECT place, subject FROM new_grants WHERE place >= ? AND place < ? ORDER BY place", bounds)
        }
        return SQL(
            """
            SELECT place, subject, offer_key, grant_id FROM new_grants WHERE place >= ? AND place < ? ORDER BY place
            """,
            bounds
        )
    }

    private func entries(of subject: [UInt8]) throws(StorageError) -> [Int64] {
        try refresh()
        let new = places.entries(of: subject)
        let old = try placedEntries(of: subject)
        return old.isEmpty ? new : new + old.filter { !new.contains($0) }
    }

    private func placedEntries(of subject: [UInt8]) throws(StorageError) -> [Int64] {
        guard let placed else { return [] }
        if let known = knownPlaces.last(where: { $0.subject == subject }) { return known.entries }
        let entries = try placed.entries(of: subject)
        if knownPlaces.count == Self.mostKnownPlaces { knownPlaces.removeAll(keepingCapacity: true) }
        knownPlaces.append((subject, entries))
        return entries
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

    /// Whether some of them may be in `grants`.
    private func mayHaveMovedGrants(_ subject: [UInt8]) -> Bool { granted?.mayHaveMoved(subject) ?? true }

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
            let first = NewGrantRow.first(of: entry)
            let question = SQL(
                Self.newGrants,
                .integer(first),
                .integer(first + NewGrantRow.mostOfAnEntry),
                .blob(subject),
                .integer(offerKey)
            )
            try rows(question, of: entry) { row in
                if let id = UniqueID(bytes: row.blob(0)) { found.append(id) }
            }
        }
        guard mayHaveMovedGrants(subject) else { return found }
        try connection.rows(SQL(Self.earlierGrants, .blob(subject), .integer(offerKey))) { row in
            if let id = UniqueID(bytes: row.blob(0)) { found.append(id) }
        }
        return found
    }

    /// Hands out rows of an entry, which may be one of this transaction.
    private func rows(_ sql: SQL, of entry: Int64, _ each: (borrowing Row) -> Void) throws(StorageError) {
        if entry < nextEntry { try connection.earlierRows(sql, each) } else { try connection.rows(sql, each) }
    }

    /// Asks ahead where others have made new grants, if the others are known.
    func askNewest() throws(StorageError) {
        if nextEntry > 0 { try connection.ask(newestGrants) }
    }

    /// Asks many questions at once, whose answers ``readAhead()`` reads; grants that others make meanwhile are among them.
    func ask(_ questions: Set<Question>) throws(StorageError) {
        // Grants that have no place yet come with their places.
        if nextEntry == 0 { try refresh() }
        let asked = try AskedGrants(Array(questions)) { subject throws(StorageError) in
            try placed == nil ? places.entries(of: subject) : entries(of: subject)
        }
        try connection.ask(Self.newGrants, forEach: asked.placedValues)
        try connection.ask(Self.earlierGrants, forEach: asked.values)
        askedAhead.append(asked)
    }

    /// Reads the answers to what was asked ahead; they are known until the transaction ends.
    func readAhead() throws(StorageError) {
        try refresh()
        for asked in askedAhead {
            var found = asked.questions.map { others?[$0] ?? [] }
            try connection.rows(Self.newGrants, forEach: asked.placedValues) { place, row in
                if let id = UniqueID(bytes: row.blob(0)) { found[asked.placed[place]].append(id) }
            }
            try connection.rows(Self.earlierGrants, forEach: asked.values) { place, row in
                if let id = UniqueID(bytes: row.blob(0)) { found[place].append(id) }
            }
            for (question, ids) in zip(asked.questions, found) { known[question] = ids }
        }
        askedAhead.removeAll(keepingCapacity: true)
    }

    /// Another table adds or removes grants of a subject; to be told before it asks for them here.
    func change(_ subject: [UInt8]) {
        askedAhead.removeAll()
        known = known.filter { $0.key.subject != subject }
        granted?.insertMoved(subject)
    }

    /// The grants of all offers to a subject, by the offers' keys.
    func grants(to subject: [UInt8]) throws(StorageError) -> [Int64: Set<UniqueID>] {
        guard mayHaveGrants(subject) else { return [:] }
        var found: [Int64: Set<UniqueID>] = [:]
        for entry in try entries(of: subject) {
            let question = SQL(
                "SELECT offer_key, grant_id FROM new_grants WHERE place >= ? AND place < ? AND subject = ?",
                NewGrantRow.places(of: entry) + [.blob(subject)]
            )
            try rows(question, of: entry) { row in
                if let id = UniqueID(bytes: row.blob(1)) { found[row.integer(0), default: []].insert(id) }
            }
        }
        guard mayHaveMovedGrants(subject) else { return found }
        try connection.rows(SQL("SELECT offer_key, grant_id FROM grants WHERE subject = ?", .blob(subject))) { row in
            if let id = UniqueID(bytes: row.blob(1)) { found[row.integer(0), default: []].insert(id) }
        }
        return found
    }

    // MARK: - Writing

    /// Adds a grant, which the entry of that index tells of.
    func add(_ grantID: UniqueID, of offerKey: Int64, to subject: [UInt8], entry: Int64) throws(StorageError) {
        if !known.isEmpty { known[Question(subject: subject, offerKey: offerKey)]?.append(grantID) }
        // What was asked before it does not have this one.
        if !askedAhead.isEmpty { askedAhead.removeAll() }
        try refresh()
        // Who comes again and again is found at once, not in many places.
        let isOften = mayHaveGrants(subject) ? try entries(of: subject).count >= portions.mostPlaces : false
        granted?.insert(subject)
        if newest.entry != entry { newest = (entry, 0) }
        let isPlaced = !isOften && newest.rows < NewGrantRow.mostOfAnEntry
        let place = isPlaced ? NewGrantRow.first(of: entry) + newest.rows : entry
        let row: [SQLValue] = [.integer(place), .blob(subject), .integer(offerKey), .blob(grantID.bytes)]
        try connection.insert(row, into: isPlaced ? Self.placedGrants : Self.otherGrants)
        guard isPlaced else {
            granted?.insertMoved(subject)
            return
        }
        newest.rows += 1
        places.insert(subject, entry: entry)
    }

    private static let otherGrants = Insertion(into: "grants", columns: "entry_index, subject, offer_key, grant_id")
    private static let placedGrants = Insertion(into: "new_grants", columns: "place, subject, offer_key, grant_id")

    /// Removes what is in `grants` already of a subject's grants, where it is not looked for; once they are settled.
    func removeCopies(of subject: [UInt8]) throws(StorageError) {
        guard placed != nil, mayHaveMovedGrants(subject) else { return }
        try connection.run(
            SQL(
                """
                DELETE FROM new_grants WHERE place IN (
                    SELECT new_grants.place FROM grants JOIN new_grants ON new_grants.place >= grants.entry_index * 256
                        AND new_grants.place < grants.entry_index * 256 + 256 AND new_grants.subject = grants.subject
                    WHERE grants.subject = ?
                )
                """,
                .blob(subject)
            )
        )
    }

    /// Carries the grants of a subject over at once, so that all of them stand in `grants`.
    func settle(_ subject: [UInt8]) throws(StorageError) {
        guard mayHaveGrants(subject) else { return }
        for entry in try entries(of: subject) {
            granted?.insertMoved(subject)
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

// MARK: - Carrying over

/// How far new grants, or their places, are carried over.
private struct GrantMerge {
    /// The grants that were recorded before this entry.
    let end: Int64
    /// The subjects with a prefix before this are done.
    var prefix = 0

    var hasAll: Bool { prefix == 1 << GrantPlaces.subjectBits }
}

extension GrantTable {
    /// Whether there are so many new grants that some should be carried over.
    var isMergeDue: Bool {
        !isStale && (merge != nil || places.count > max(mergesAbove, portions.size(ofLog: nextEntry)))
    }

    /// Carries some over, in a transaction of its own, between two others; nobody need wait for it.
    ///
    /// Until all up to the last are there, none are removed or forgotten. So it may stop anywhere, and begin anew after a
    /// crash.
    func mergeSome() throws(StorageError) {
        if isMergeDue, merge == nil, let instance { try leaveToOthers(instance) }
        guard isMergeDue else { return }
        var current = merge ?? GrantMerge(end: nextEntry)
        merge = nil
        do throws(StorageError) {
            let isDone = try connection.transaction { () throws(StorageError) in
                if let placed { return try place(&current, in: placed) }
                if current.hasAll { return try removeSome(before: current.end) }
                try copySome(&current)
                return false
            }
            merge = isDone ? nil : current
            guard isDone else { return }
            places.remove(before: current.end)
            mergesAbove = 0
        } catch {
            // There may be no room for it; what is asked for must not wait until there is.
            mergesAbove = places.count + portions.fewest
            throw error
        }
    }

    /// Adds the places of the next subjects; answers whether those were the last.
    ///
    /// Nothing, if others have written meanwhile: they may have removed some. ``begun()`` sees that, too.
    private func place(_ merge: inout GrantMerge, in placed: GrantPlaceTable) throws(StorageError) -> Bool {
        guard try connection.stampOfOthers() == stampOfOthers else { return false }
        let prefixes = nextPrefixes(merge, portions.placesAtOnce)
        try placed.add(places.words(in: prefixes, before: merge.end), in: prefixes) { subject in
            if subject.count == GrantPlaces.subjectBytes { granted?.insertMoved(subject) }
        }
        merge.prefix = prefixes.upperBound
        if merge.hasAll { try placed.setEnd(merge.end) }
        return merge.hasAll
    }

    /// The prefixes of about so many of the new grants.
    private func nextPrefixes(_ merge: GrantMerge, _ count: Int) -> Range<Int> {
        let all = 1 << GrantPlaces.subjectBits
        return merge.prefix..<min(all, merge.prefix + max(1, all * count / max(1, places.count)))
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

    /// Copies the grants of the next subjects.
    private func copySome(_ merge: inout GrantMerge) throws(StorageError) {
        let prefixes = nextPrefixes(merge, portions.step)
        for word in places.words(in: prefixes, before: merge.end) { try copy(word) }
        merge.prefix = prefixes.upperBound
    }

    /// Copies what stands at a place, if it still does.
    private func copy(_ word: UInt64) throws(StorageError) {
        let prefix = GrantPlaces.prefix(word)
        let bounds = NewGrantRow.places(of: GrantPlaces.entry(word)) + NewGrantRow.subjects(of: prefix..<prefix + 1)
        try connection.insert(bounds, into: Self.copies)
    }

    private static let copies = Insertion(
        into: "grants",
        columns: "subject, offer_key, grant_id, entry_index",
        selecting: """
            SELECT subject, offer_key, grant_id, place / 256 FROM new_grants
            WHERE place >= ? AND place < ? AND subject >= ? AND subject < ?
            """
    )

    /// Removes what was copied, from its beginning; answers whether that was all.
    private func removeSome(before end: Int64) throws(StorageError) -> Bool {
        guard let first = try firstNewEntry(), first < end else { return true }
        let last = min(end, first + Int64(4 * portions.step))
        try connection.run(SQL("DELETE FROM new_grants WHERE place < ?", .integer(NewGrantRow.first(of: last))))
        return last == end
    }
}
