// SPDX-License-Identifier: Apache-2.0
import OfferDomain
package import Storage

/// All grants by subject, which caps are counted from; used by one thread, inside an open transaction.
///
/// On a server, all grants are rows of `grants`. In SQLite, most are in a `GrantLog`. A
/// grant in both counts once, by its ID.
package final class GrantTable {
    let connection: any DatabaseConnection
    /// `nil` on a server.
    let log: GrantLog?
    /// What was read ahead in this transaction, and what was added to it since.
    private var known: [Question: [UniqueID]] = [:]
    /// Questions of this transaction that were asked ahead.
    private var askedAhead: [[Question]] = []

    /// `compaction` counts on SQLite alone.
    package init(connection: any DatabaseConnection, compaction: CompactionOptions = CompactionOptions()) {
        self.connection = connection
        log = connection.isRemote ? nil : GrantLog(connection, compaction)
    }

    // MARK: - Transactions

    /// A transaction has begun: others may have granted something since the last one, or written other keys for grants.
    func begun() throws(StorageError) {
        askedAhead.removeAll(keepingCapacity: true)
        try log?.begun()
    }

    /// Another connection has written to the ledger.
    func ledgerChanged() {
        known.removeAll(keepingCapacity: true)
        log?.ledgerChanged()
    }

    /// What was written since the last commit was undone.
    func undone() {
        known.removeAll(keepingCapacity: true)
        log?.undone()
    }

    /// Everything that was added is durable; the next entry of the log will have that index.
    func committed(nextEntry: Int64) {
        known.removeAll(keepingCapacity: true)
        log?.committed(nextEntry: nextEntry)
    }

    // MARK: - Reading

    /// Which grants are asked for: those of an offer to a subject.
    struct Question: Hashable {
        let subject: [UInt8]
        let offerKey: Int64
    }

    private static let grants: StaticString = "SELECT grant_id FROM grants WHERE subject = ? AND offer_key = ?"

    /// The grants of an offer to a subject; some perhaps twice.
    func grants(of offerKey: Int64, to subject: [UInt8]) throws(StorageError) -> [UniqueID] {
        if !known.isEmpty, let known = known[Question(subject: subject, offerKey: offerKey)] { return known }
        var found = try log?.grants(of: offerKey, to: subject) ?? []
        guard log?.mayHaveCopies(subject) ?? true else { return found }
        try connection.rows(SQL(Self.grants, .blob(subject), .integer(offerKey))) { row in
            if let id = UniqueID(bytes: row.blob(0)) { found.append(id) }
        }
        return found
    }

    /// The grants of all offers to a subject, by the offers' keys.
    func grants(to subject: [UInt8]) throws(StorageError) -> [Int64: Set<UniqueID>] {
        var found = try log?.grants(to: subject) ?? [:]
        guard log?.mayHaveCopies(subject) ?? true else { return found }
        try connection.rows(SQL("SELECT offer_key, grant_id FROM grants WHERE subject = ?", .blob(subject))) { row in
            if let id = UniqueID(bytes: row.blob(1)) { found[row.integer(0), default: []].insert(id) }
        }
        return found
    }

    /// Sends many questions at once on a server, where each is a round trip; ``readAhead()`` reads the answers.
    func ask(_ questions: Set<Question>) throws(StorageError) {
        guard log == nil, !questions.isEmpty else { return }
        let questions = Array(questions)
        try connection.ask(Self.grants, forEach: questions.map(\.values))
        askedAhead.append(questions)
    }

    /// Reads the answers to what was asked ahead; they are known until the transaction ends.
    func readAhead() throws(StorageError) {
        for questions in askedAhead {
            for question in questions { known[question] = [] }
            try connection.rows(Self.grants, forEach: questions.map(\.values)) { place, row in
                if let id = UniqueID(bytes: row.blob(0)) { known[questions[place]]?.append(id) }
            }
        }
        askedAhead.removeAll(keepingCapacity: true)
    }

    // MARK: - Writing

    /// Adds a grant, which the entry of that index records.
    func add(_ grantID: UniqueID, of offerKey: Int64, to subject: [UInt8], entry: Int64) throws(StorageError) {
        if !known.isEmpty { known[Question(subject: subject, offerKey: offerKey)]?.append(grantID) }
        // What was asked before it does not have this one.
        if !askedAhead.isEmpty { askedAhead.removeAll() }
        if let log, try log.add(grantID, of: offerKey, to: subject, entry: entry) { return }
        let row: [SQLValue] = [.integer(entry), .blob(subject), .integer(offerKey), .blob(grantID.bytes)]
        try connection.insert(row, into: Self.insertion)
        log?.noteCopies(subject)
    }

    private static let insertion = Insertion(into: "grants", columns: "entry_index, subject, offer_key, grant_id")

    /// Another table adds or removes grants of a subject; to be called before its grants are asked for here.
    func change(_ subject: [UInt8]) {
        askedAhead.removeAll()
        known = known.filter { $0.key.subject != subject }
        log?.noteCopies(subject)
    }

    /// Has all grants of a subject in `grants`.
    func settle(_ subject: [UInt8]) throws(StorageError) { try log?.moveOut(subject) }

    /// Has them nowhere else, once they are settled.
    func removeCopies(of subject: [UInt8]) throws(StorageError) { try log?.removeCopied(of: subject) }
}

extension GrantTable.Question {
    fileprivate var values: [SQLValue] { [.blob(subject), .integer(offerKey)] }
}
