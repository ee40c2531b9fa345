// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage
import TransparencyLog

/// What was asked ahead in a transaction, where each question would be a round trip of its own.
struct AskedAhead {
    /// For requests that came together.
    struct Group {
        var grants: Set<GrantTable.Question> = []
        /// The values of the statement for idempotency keys.
        var claims: [[SQLValue]] = []
        var days: Set<Days> = []
        var batches: [(claim: BatchClaim, at: Timestamp)] = []
    }

    /// The grants of an offer from a day on.
    struct Days: Hashable {
        let offerKey: Int64
        let first: Int
    }

    /// Whether the writes of other instances were asked for.
    var isOfOthers = false
    var groups: [Group] = []
    /// Of all groups.
    var days: Set<Days> = []

    /// After this number of transactions without entries of other instances, only the head is asked ahead.
    static let mostQuiet = 16
}

// MARK: - Reading for many requests at once

extension LedgerWriter {
    /// Asks ahead what the beginning transaction is going to read; this only changes how long it takes.
    func askAhead(for jobs: [Committer.Job]) throws(StorageError) {
        asked = AskedAhead()
        guard connection.isRemote else { return }
        try log.askHead()
        if expectsOthers { try askOfOthers() }
        try ask(for: jobs)
    }

    /// Asks what other instances have recorded, sealed, disabled and linked, unless it was asked already.
    func askOfOthers() throws(StorageError) {
        guard connection.isRemote, isTreeRead, !asked.isOfOthers else { return }
        asked.isOfOthers = true
        try log.askNewestEntries(from: tree.size, atMost: Self.mostFollowed)
        try SealStore(connection: connection).ask()
        try KeyUses.ask(connection)
        try links.ask()
    }

    /// Asks what jobs of the transaction are going to ask; ``readAhead()`` reads the answers.
    func ask(for jobs: [Committer.Job]) throws(StorageError) {
        guard connection.isRemote, !jobs.isEmpty else { return }
        var group = AskedAhead.Group()
        for job in jobs { group.add(job) }
        group.days.subtract(asked.days)
        asked.days.formUnion(group.days)
        try grants.ask(group.grants)
        if !group.claims.isEmpty { try ask(group.claims) }
        for each in group.batches { try ask(each.claim, at: each.at) }
        for each in group.days { try days.ask(each.offerKey, from: each.first) }
        asked.groups.append(group)
    }

    /// Reads the answers to ``ask(for:)``, before anything is written; they are known until the transaction ends.
    func readAhead() throws(LedgerError) {
        guard !asked.groups.isEmpty else { return }
        try database(grants.readAhead())
        for group in asked.groups {
            if !group.claims.isEmpty { try database(readAhead(group.claims)) }
            for each in group.batches { try database(readAhead(each.claim, at: each.at)) }
            for each in group.days { _ = try database(days.counts(of: each.offerKey, from: each.first)) }
        }
        asked.groups.removeAll()
    }
}

extension AskedAhead.Group {
    fileprivate mutating func add(_ job: Committer.Job) {
        for request in job.requests { add(request) }
        if case .decide(let asked) = job, let claim = asked.request.idempotency {
            claims.append([.blob(claim.keyDigest)] + LedgerWriter.known(at: asked.request.receivedAt))
        }
        guard case .decideAll(let batch, _) = job, let claim = batch.idempotency, let first = batch.requests.first
        else {
            return
        }
        batches.append((claim, first.receivedAt))
    }

    private mutating func add(_ request: DecisionRequest) {
        let (needs, keys) = (request.offer.needs, request.offer.countedKeys)
        if needs.customerGrants || needs.originalTransactionGrants {
            for key in keys {
                for subject in request.namedSubjects { grants.insert(.init(subject: subject, offerKey: key)) }
            }
        }
        if let span = needs.budget {
            let first = span.firstDay(until: request.receivedAt.utcDay)
            for key in keys { days.insert(.init(offerKey: key, first: first)) }
        }
    }
}

extension CatalogOffer {
    /// The keys under which its grants are counted: its own, and that of the other store if a rule needs it.
    fileprivate var countedKeys: [Int64] { [ledgerKey] + (needs.otherStore ? [otherStoreKey].compactMap(\.self) : []) }
}

extension BudgetSpan {
    /// The first of its days, where the last is today.
    func firstDay(until today: Int) -> Int {
        switch self {
        case .forever: 0
        case .days(let days): today - days + 1
        }
    }
}
