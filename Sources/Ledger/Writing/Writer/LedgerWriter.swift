// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain
package import Storage
package import TransparencyLog

/// Decides and records inside the open transaction of one connection; used by one thread, the committer's.
///
/// A cap is checked where it is reserved: the rule is evaluated on what the ledger holds within the very
/// transaction that adds the grant, so there is no race between check and reservation.
package final class LedgerWriter {
    package let connection: any DatabaseConnection
    /// The service that writes, where several share the database.
    let instance: UniqueID?
    let log: LogTables
    /// The log's tree with the entries of this transaction.
    private(set) var tree = TreeEdge()
    /// The newest tree that is known to be durable; the log must continue from it.
    package private(set) var durableHead: TreeHead?
    private(set) var isTreeRead = false
    /// Whether the commit of the current transaction was sent; from then on, without an answer, its outcome is unknown.
    private(set) var isCommitting = false
    /// What is sealed or disabled, as this transaction sees it.
    package private(set) var stops = SigningStops()
    private(set) var keyUses = KeyUses()
    /// Secrets that a newer one has replaced: a request under one does not see data stored under the newest.
    private(set) var outdatedVersions: Set<String> = []
    /// When the secret version in force began, if there was another before it.
    private(set) var newestVersion: (firstEntry: Int64, begunAt: Timestamp)?
    /// Whether the secret of a version was destroyed, and what was granted under it is forgotten.
    private(set) var hasForgotten = false
    private var mustReadSecrets = true
    /// What was asked ahead in the current transaction.
    var asked = AskedAhead()
    /// How many transactions have begun since others have last written.
    private var quietTransactions = AskedAhead.mostQuiet
    /// The time of the entries of this transaction.
    private(set) var recordedAt = Timestamp(milliseconds: 0)
    /// The entries of other instances since the last transaction, and those of this one; if they are many, the first.
    private(set) var newEntries = EntryBuffer()
    var days: GrantDays
    let chains: ChainTable
    let holders: SubscriptionHolders
    let links: CustomerLinks
    let attributeTable: StoredAttributeTable
    let grants: GrantTable
    let issued: IssuedGrantTable
    /// What need not be written again for reconciliation.
    var reconciliation = ReconciliationMemory()
    let redemptions: RedemptionTable
    private let rotatedKeys: SecretRotation
    /// The answers under idempotency keys, as they were read for many requests of this transaction.
    var claimsReadAhead: [[UInt8]: KeptAnswer?] = [:]
    /// The same under the keys of batches, by the first digest of each.
    var batchesReadAhead: [[UInt8]: [[UInt8]: KeptAnswer]] = [:]
    /// Data of one customer while several offers are previewed for them; `nil` otherwise.
    var memory: CustomerMemory?
    private let appRefusals: AppRefusals?
    /// Refusals of this transaction without their own entry.
    private var countedRefusals: [CountedRefusal] = []
    /// The redemptions that are new in this transaction.
    package internal(set) var newRedemptions: [MatchedRedemption] = []
    /// Purchases in this transaction that followed a grant and were made without its offer.
    var boughtWithoutOffer: [BoughtWithoutOffer] = []
    /// Redemptions in this transaction, with the client that had asked for the offer.
    var redeemedClients: [ClientRedemption] = []
    let retentionAnswers: RetentionAnswerTable
    /// The outcomes of answers to real-time requests that are new in this transaction.
    var retentionOutcomes: [RetentionOutcome] = []
    let purchases: PurchaseTable
    let googlePlayAccounts: GooglePlayAccounts
    let notifications: ProcessedNotifications

    /// Writes through a connection that has ``LedgerSchema`` applied.
    ///
    /// A log that does not begin with the tree of `durableHead` is not written to.
    package init(
        connection: any DatabaseConnection,
        after durableHead: TreeHead? = nil,
        compaction: CompactionOptions = CompactionOptions(),
        instance: UniqueID? = nil,
        appRefusals: AppRefusals? = nil
    ) {
        self.appRefusals = appRefusals
        self.connection = connection
        self.instance = instance
        self.durableHead = durableHead
        log = LogTables(connection: connection)
        days = GrantDays(connection: connection)
        chains = ChainTable(connection: connection)
        grants = GrantTable(connection: connection, compaction: compaction)
        rotatedKeys = SecretRotation(grants)
        holders = SubscriptionHolders(connection: connection)
        links = CustomerLinks(connection: connection)
        attributeTable = StoredAttributeTable(connection: connection)
        issued = IssuedGrantTable(connection: connection)
        redemptions = RedemptionTable(grants)
        retentionAnswers = RetentionAnswerTable(connection: connection)
        purchases = PurchaseTable(connection: connection)
        googlePlayAccounts = GooglePlayAccounts(connection: connection)
        notifications = ProcessedNotifications(connection: connection)
    }

    /// Begins a transaction, as below, without jobs that are known beforehand.
    @discardableResult
    package func begin(at now: Timestamp) throws(LedgerError) -> Bool { try begin(at: now, for: []) {} }

    /// Begins a transaction.
    ///
    /// Its entries get the time `now`, or that of the entry before them if the clock was set back.
    ///
    /// The queries of `jobs` are sent together with those for the writes of other instances. `meanwhile` may send more
    /// with ``ask(for:)``; it is called repeatedly while another connection writes.
    ///
    /// - Returns: Whether others may have written since the last transaction; then the stops were read again.
    func begin(
        at now: Timestamp,
        for jobs: [Committer.Job],
        _ meanwhile: () throws(StorageError) -> Void
    ) throws(LedgerError) -> Bool {
        isCommitting = false
        days.forget()
        claimsReadAhead.removeAll(keepingCapacity: true)
        batchesReadAhead.removeAll()
        newRedemptions.removeAll(keepingCapacity: true)
        boughtWithoutOffer.removeAll(keepingCapacity: true)
        redeemedClients.removeAll(keepingCapacity: true)
        retentionOutcomes.removeAll(keepingCapacity: true)
        newEntries.removeAll()
        try database(connection.beginWithoutWaiting())
        try database(grants.begun())
        try database(askAhead(for: jobs))
        try database(connection.awaitTurn(meanwhile))
        let mayHaveChanged: Bool
        do throws(AuditReadError) { mayHaveChanged = try readTree() } catch { throw LedgerError(error) }
        if mayHaveChanged {
            try readStops()
            try database(keyUses.read(connection))
            try readSecrets()
        }
        recordedAt = max(recordedAt, now)
        return mayHaveChanged
    }

    /// Gives the entries that follow in this transaction the time `now`, unless that is earlier.
    func goOn(at now: Timestamp) {
        recordedAt = max(recordedAt, now)
    }

    private func readSecrets() throws(LedgerError) {
        guard mustReadSecrets else { return }
        let versions = try database(SecretVersionTable(connection: connection).all())
        (outdatedVersions, mustReadSecrets) = (Set(versions.dropLast().map(\.name)), false)
        newestVersion = versions.count > 1 ? versions.last.map { ($0.firstEntry, $0.begunAt) } : nil
        hasForgotten = versions.contains { $0.destroyedAt != nil }
    }

    /// Reads what is sealed or disabled from within this transaction.
    package func readStops() throws(LedgerError) {
        stops = try database(SealStore(connection: connection).stops())
    }

    /// The head of the log, after a check that its right edge is whole; no transaction may be open.
    package func checkedHead() throws(LedgerError) -> TreeHead {
        defer { rollback() }
        try begin(at: Timestamp(milliseconds: 0))
        return durableHead ?? .empty
    }

    /// Reads the right edge of the tree, unless this writer left it so; checks it against the head and the entries.
    ///
    /// The edge may differ after entries of an earlier run or of a command, or after a transaction that was undone.
    ///
    /// - Returns: Whether it may differ.
    private func readTree() throws(AuditReadError) -> Bool {
        let (head, count) = try log.headAndEntryCount()
        guard head.size == count else { throw .log(.sizeDiffers(head: head.size, entries: count)) }
        quietTransactions += 1
        if isTreeRead, head == durableHead, tree.size == count { return false }
        if isTreeRead { quietTransactions = 0 }
        try reading(askOfOthers())
        if try !follow(to: head) {
            mustReadSecrets = true
            tree = try log.edge()
            if let durableHead, durableHead != head { try requireContinuation(of: durableHead, in: head) }
            if count > 0 { recordedAt = max(recordedAt, try time(ofEntry: count - 1)) }
        }
        (durableHead, isTreeRead) = (head, true)
        links.ledgerChanged()
        grants.ledgerChanged()
        return true
    }

    /// Adds newer entries of other instances to the known tree, which costs less than reading its edge again.
    ///
    /// - Returns: False if no tree is known, or too many entries were added.
    private func follow(to head: TreeHead) throws(AuditReadError) -> Bool {
        guard isTreeRead, let durableHead, tree.size == durableHead.size,
            tree.size < head.size, head.size - tree.size <= Self.mostFollowed
        else { return false }
        var (next, last, isMovedAway) = (tree, recordedAt, false)
        try log.newestEntries(from: tree.size, upTo: head.size, atMost: Self.mostFollowed) { entry in
            if newEntries.bytes.count < NewEntryFeed.mostBytes { newEntries.append(entry, index: next.size) }
            next.append(TreeHash.leaf(entry))
            let beginning = AuditEntry.beginning(of: entry)
            last = max(last, Timestamp(milliseconds: beginning.recordedMilliseconds ?? 0))
            if [.secretVersionBegin, .secretVersionDestroy].contains(beginning.event) { mustReadSecrets = true }
            if beginning.event == .ledgerLeft { isMovedAway = true }
        }
        if isMovedAway { throw .log(.movedAway) }
        guard next.head == head else { throw .log(.notContinued(size: durableHead.size)) }
        // The instance that added them has written their tiles.
        _ = next.takeChanges()
        (tree, recordedAt) = (next, last)
        return true
    }

    /// Whether other instances write too, so that it is worth asking ahead what they have written.
    var expectsOthers: Bool { isTreeRead && quietTransactions < AskedAhead.mostQuiet }

    /// Adding more entries than this takes longer than reading the edge of the tree.
    static let mostFollowed: Int64 = 512

    private func requireContinuation(of known: TreeHead, in head: TreeHead) throws(AuditReadError) {
        guard known.size <= head.size,
            try LogReader(connection: connection).rootHash(ofSize: known.size) == known.rootHash
        else { throw .log(.notContinued(size: known.size)) }
    }

    private func time(ofEntry index: Int64) throws(AuditReadError) -> Timestamp {
        var milliseconds: Int64 = 0
        var isMovedAway = false
        try log.entries(in: index..<index + 1) { entry in
            milliseconds = AuditEntry.recordedMilliseconds(entry) ?? 0
            isMovedAway = AuditEntry.beginning(of: entry).event == .ledgerLeft
        }
        if isMovedAway { throw .log(.movedAway) }
        return Timestamp(milliseconds: milliseconds)
    }

    /// Makes everything since ``begin(at:)`` durable.
    package func commit() throws(LedgerError) {
        try database(days.write())
        let head = try writeTree()
        try database(keyUses.write(connection))
        isCommitting = true
        try database(connection.commit())
        durableHead = head
        for refusal in countedRefusals { appRefusals?.counted.count(refusal, at: recordedAt) }
        countedRefusals.removeAll(keepingCapacity: true)
        links.committed(nextEntry: tree.size)
        grants.committed(nextEntry: tree.size)
    }

    /// Brings tiles and head up to the entries of this transaction.
    private func writeTree() throws(LedgerError) -> TreeHead? {
        if let durableHead, durableHead.size == tree.size { return durableHead }
        let head = tree.head
        try database(log.write(tree.takeChanges(), head))
        return head
    }

    /// Changes what is only derived from the log, in a transaction of its own that adds no entry.
    func derive(_ body: Committer.Derivation) throws(LedgerError) {
        try database(connection.transaction { () throws(StorageError) in try body(connection) })
    }

    /// Forgets everything since ``begin(at:)``.
    package func rollback() {
        connection.rollback()
        countedRefusals.removeAll(keepingCapacity: true)
        newEntries.removeAll()
        // What was read within it may have been written within it.
        isTreeRead = false
        grants.undone()
        reconciliation = ReconciliationMemory()
    }

    /// Whether this transaction has added entries.
    var addsEntries: Bool { tree.size != durableHead?.size }

    /// Adds one entry to the log.
    @discardableResult
    package func append(_ event: AuditEvent) throws(LedgerError) -> Int64 {
        let entry = AuditEntry.bytes(of: event, recordedAt: recordedAt)
        let index = tree.size
        try insert([.integer(index), .blob(entry)], into: Self.entries)
        tree.append(TreeHash.leaf(entry))
        if newEntries.bytes.count < NewEntryFeed.mostBytes { newEntries.append(entry, index: index) }
        keyUses.note(event, at: recordedAt)
        return index
    }

    private static let entries = Insertion(into: "audit_entries", columns: "entry_index, entry")

    /// Decides, and records what was decided.
    package func decide(_ request: DecisionRequest) throws(LedgerError) -> Verdict {
        guard let claim = request.idempotency else { return try decide(request, after: nil) }
        return try decide(request, after: try keptAnswer(under: claim, at: request.receivedAt))
    }

    /// The same when the answer under the request's idempotency key is known; `nil` if there is none.
    func decide(_ request: DecisionRequest, after kept: KeptAnswer?) throws(LedgerError) -> Verdict {
        try apply(request.rotatedKeys)
        if let claim = request.idempotency, let kept {
            guard kept.requestDigest == claim.requestDigest else { return .idempotencyKeyReused }
            // The earlier grant can't be had any more, so there is nothing to answer a second time.
            if let obstacle = request.grantable.obstacle { return .obstructed(obstacle) }
            guard appRefusals?.allowsReplay(request) != false else { return .diskIsFull }
            return try replay(kept, request)
        }
        let evaluation = try evaluate(request)
        let decision = evaluation.decision
        if !evaluation.storeNeeds.isEmpty { return .storeNeeded(evaluation.storeNeeds) }
        if decision.outcome == .undecided, request.knowledge.isStoreDown { return .storeSilent }
        guard let allows = request.grantable.allows(on: decision.outcome) else {
            try refuse(request, evaluation)
            return .refused(try explained(decision, of: request, with: evaluation.subscriptions))
        }
        if let obstacle = request.grantable.obstacle {
            if case .fault = obstacle { try refuse(request, evaluation) }
            return .obstructed(obstacle)
        }
        guard appRefusals?.allowsGrant(request) != false else { return .diskIsFull }
        return try grant(request, on: evaluation, allows: allows)
    }

    /// Records a refusal; for an app that was refused very often lately, it is only counted, after the commit.
    private func refuse(_ request: DecisionRequest, _ evaluation: Evaluation) throws(LedgerError) {
        let decision = evaluation.decision
        if let appRefusals, !appRefusals.isRecordedSingly(request) {
            return countedRefusals.append(CountedRefusal(request, decision))
        }
        let record = RefusalRecord(request: request, decision: decision, stored: evaluation.stored)
        try append(.refusal(record))
    }

    /// What the rules decide from the known facts, and what to ask the store first if that may change the decision.
    func evaluate(_ request: DecisionRequest) throws(LedgerError) -> Evaluation {
        let known = try knownCustomer(request)
        let attributes = try attributes(of: request)
        var context = try context(request, known, attributes: attributes.all)
        var decision = request.offer.policy.decide(context)
        var stored = StoredNames(attributes: attributes.stored)
        var storeNeeds = FactNeeds()
        if decision.outcome == .undecided {
            storeNeeds = self.storeNeeds(request, known)
            // A store's answer takes precedence over what a backend has stored.
            if storeNeeds.isEmpty, let (facts, names) = try factsWithStored(known.facts, of: request) {
                context.facts = facts
                let filled = request.offer.policy.decide(context)
                if filled != decision { (decision, stored.facts) = (filled, names) }
            }
        }
        if decision.outcome == .undecided { decision = decision.explained(by: known.explanations(request)) }
        return Evaluation(
            decision: decision,
            subscriptions: known.subscriptions,
            stored: stored,
            storeNeeds: storeNeeds
        )
    }

    /// The result of the rules.
    struct Evaluation {
        let decision: Decision
        /// The keys of the subscription that the offer is for.
        let subscriptions: [[UInt8]]
        /// What a backend had stored before, and was used.
        let stored: StoredNames
        /// What the store should be asked for before the decision counts.
        let storeNeeds: FactNeeds
    }

    /// Moves data under earlier secrets to the keys in force; costs nothing if there is only one secret.
    func apply(_ rotatedKeys: [RotatedKey]) throws(LedgerError) {
        guard !rotatedKeys.isEmpty else { return }
        links.expectMoves()
        try database(self.rotatedKeys.apply(rotatedKeys))
    }

    // MARK: - What the rules ask

    private func context(
        _ request: DecisionRequest,
        _ known: KnownCustomer,
        attributes: Attributes?
    ) throws(LedgerError) -> EvaluationContext {
        var history = GrantHistory()
        let offer = request.offer
        if offer.needs.customerGrants {
            let subjects = try customerSubjects(request, known)
            history.byCustomer = try grantTimes(of: subjects, offer.ledgerKey)
            if offer.needs.otherStore, let key = offer.otherStoreKey {
                history.byCustomerInOtherStore = try grantTimes(of: subjects, key)
            }
        }
        if offer.needs.originalTransactionGrants {
            history.byOriginalTransaction = try grantTimes(
                of: request.subscriptions(with: known.subscriptions),
                offer.ledgerKey
            )
        }
        if offer.needs.redemptions { history.redeemable = try redeemable(request, known, among: history) }
        if let span = offer.needs.budget {
            let today = request.receivedAt.utcDay
            history.offerGrantsPerDay = try grantsPerDay(offer.ledgerKey, span, until: today)
            if offer.needs.otherStore, let key = offer.otherStoreKey {
                history.otherStoreGrantsPerDay = try grantsPerDay(key, span, until: today)
            }
        }
        var context = EvaluationContext(
            facts: known.facts,
            owners: request.owners,
            isProven: request.isProven,
            grants: history,
            now: request.receivedAt
        )
        context.attributes = attributes
        context.knowsSubscription = !known.subscriptions.isEmpty
        return context
    }

    /// When the offer was granted to any of the subjects, each grant once, in order.
    private func grantTimes(of subjects: [[UInt8]], _ offerKey: Int64) throws(LedgerError) -> [Timestamp] {
        let found = try grantIDs(of: subjects, offerKey)
        // Most customers have none, and a set is an allocation.
        return found.isEmpty ? [] : Set(found).map(\.timestamp).sorted()
    }

    /// The grants of the offer to any of the subjects; some perhaps several times.
    func grantIDs(of subjects: [[UInt8]], _ offerKey: Int64) throws(LedgerError) -> [UniqueID] {
        if memory != nil { return try rememberedGrants(of: subjects, offerKey) }
        var found: [UniqueID] = []
        for subject in subjects {
            let ids = try database(grants.grants(of: offerKey, to: subject))
            if !ids.isEmpty { found += ids }
        }
        return found
    }

    private func grantsPerDay(
        _ offerKey: Int64,
        _ span: BudgetSpan,
        until today: Int
    ) throws(LedgerError) -> [GrantHistory.DayCount] {
        try database(days.counts(of: offerKey, from: span.firstDay(until: today)))
    }

    // MARK: - SQL

    func insert(_ row: [SQLValue], into insertion: Insertion) throws(LedgerError) {
        try database(connection.insert(row, into: insertion))
    }

    func rows(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(LedgerError) {
        try database(connection.rows(sql, each))
    }
}
