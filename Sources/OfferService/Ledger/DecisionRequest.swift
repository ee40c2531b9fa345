// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
package import OfferDomain
package import Storage

/// A promise that a retried request gets the answer of the first one.
package struct IdempotencyClaim: Hashable, Sendable {
    /// How long a key is remembered: as long as Apple honours what was signed under it.
    package static let lifetimeHours = 24

    /// Over the caller and the key's text, 16 bytes; the text itself is not kept.
    package let keyDigest: [UInt8]
    /// Over the body of the request and the offer that it names, 32 bytes.
    package let requestDigest: [UInt8]
    /// How many bytes at the start of that are over the body alone, so that it can be told which of both differs.
    private let bodyBytes: Int

    package init(callerID: CallerID, key: [UInt8], body: [UInt8]) {
        keyDigest = Array(SHA256.digest(of: Array(callerID.text.utf8) + [0] + key).bytes.prefix(16))
        requestDigest = SHA256.digest(of: body).bytes
        bodyBytes = 0
    }

    /// The claim of an item of a batch.
    init(keyDigest: [UInt8], batchDigest: [UInt8]) {
        self.keyDigest = keyDigest
        requestDigest = batchDigest
        bodyBytes = batchDigest.count
    }

    private init(keyDigest: [UInt8], requestDigest: [UInt8], bodyBytes: Int) {
        self.keyDigest = keyDigest
        self.requestDigest = requestDigest
        self.bodyBytes = bodyBytes
    }

    /// The same claim for the offer that the body names now: a retry never gets another offer than was decided on.
    package func bound(to offer: CatalogOffer) -> IdempotencyClaim {
        let names =
            switch offer.listing {
            case .appStore(let listing): [offer.id.text, listing.offerID?.text ?? "", listing.productID.text]
            case .googlePlay(let listing):
                [offer.id.text, listing.offerID.text, listing.productID.text, listing.basePlanID.text]
            }
        let bytes = names.reduce(requestDigest) { $0 + [0] + Array($1.utf8) }
        let digest = SHA256.digest(of: bytes).bytes
        return IdempotencyClaim(
            keyDigest: keyDigest,
            requestDigest: bodyBytes == 0 ? digest : requestDigest.prefix(bodyBytes) + digest.dropLast(bodyBytes),
            bodyBytes: bodyBytes
        )
    }
}

/// What is to be decided, and recorded, in one transaction of the ledger.
///
/// A class, because it is handed on several times for each request and never changes. What the committer looks at for every
/// request comes first, and what it would have to work out is worked out here: it is on another thread, and so perhaps another
/// core, to which each cache line of this has to come.
package final class DecisionRequest: Sendable {
    package let offer: CatalogOffer
    /// What the customer gets if the decision is one that it has an answer to.
    package let deliverable: Deliverable
    /// The epoch of the secret that those pseudonyms, and all other keys of the request, are made with.
    package let epoch: String
    /// What is stated, and of the subscription group that the offer's plan is in, as far as it says of which it is.
    package let facts: SharedFacts
    /// Whether nothing is missing there that the offer's rules read.
    let hasAllFacts: Bool
    package let idempotency: IdempotencyClaim?
    /// What the ledger may have of the customer under earlier secrets.
    let successions: [KeySuccession]
    /// The keys of all names, each once.
    let namedSubjects: [[UInt8]]
    /// The keys of the names alone, without those of subscriptions.
    let customers: [[UInt8]]
    /// The key of the account that purchases made with the grant will name, if the request says it.
    let account: [UInt8]?
    /// Whose grants those keys lead to.
    let owners: GrantOwners
    /// What records call the customer: a JSON list of pseudonyms.
    let users: [UInt8]
    /// `nil` if nobody who is believed stated any.
    package let attributes: Attributes?
    /// What is granted if it is granted, and not as what was granted before under the same idempotency key.
    package let terms: GrantTerms
    package let callerID: CallerID
    /// The policy in force, `sha256:…` over the offers file.
    package let policyName: String
    /// Everything the customer is known as.
    package let names: [CustomerIdentity]
    /// Of each name the pseudonym that caps count under.
    package let pseudonyms: [Pseudonym]
    /// What the store itself says of the customer, and how far it is known.
    package let knowledge: StoreKnowledge
    /// For which subscription purchases at Google Play are looked at; `nil` if the entry is in the App Store alone.
    package let googlePlayScope: GooglePlayScope?

    package init(
        terms: GrantTerms,
        callerID: CallerID,
        offer: CatalogOffer,
        names: [CustomerIdentity],
        pseudonyms: [Pseudonym],
        epoch: String,
        facts: SharedFacts,
        knowledge: StoreKnowledge = StoreKnowledge(),
        googlePlayScope: GooglePlayScope? = nil,
        attributes: Attributes?,
        idempotency: IdempotencyClaim?,
        deliverable: Deliverable,
        policyName: String
    ) {
        precondition(names.count == pseudonyms.count, "each name has its pseudonym")
        self.terms = terms
        self.callerID = callerID
        self.offer = offer
        self.names = names
        self.pseudonyms = pseudonyms
        (namedSubjects, customers) = Self.subjects(names, pseudonyms)
        account = Self.account(deliverable, names, pseudonyms)
        owners = GrantOwners(names)
        users = Self.users(pseudonyms)
        successions = pseudonyms.compactMap(KeySuccession.init) + knowledge.successions
        self.epoch = epoch
        let facts = facts.asked(of: offer.subscriptionGroupID)
        hasAllFacts = facts.isComplete(for: offer.factNeeds)
        self.facts = facts
        self.knowledge = knowledge
        self.googlePlayScope = googlePlayScope
        self.attributes = attributes
        self.idempotency = idempotency
        self.deliverable = deliverable
        self.policyName = policyName
    }

    /// UUIDv7.
    package var requestID: UniqueID { terms.id }
    package var receivedAt: Timestamp { terms.signedAt }

    private static func subjects(
        _ names: [CustomerIdentity],
        _ pseudonyms: [Pseudonym]
    ) -> (all: [[UInt8]], ofCustomers: [[UInt8]]) {
        var subjects: [[UInt8]] = []
        subjects.reserveCapacity(names.count)
        for pseudonym in pseudonyms where !subjects.contains(pseudonym.ledgerKey) {
            subjects.append(pseudonym.ledgerKey)
        }
        // Mostly these are the same.
        if subjects.count == names.count, names.allSatisfy(\.namesCustomer) { return (subjects, subjects) }
        return (subjects, zip(names, pseudonyms).filter(\.0.namesCustomer).map(\.1.ledgerKey))
    }

    /// See ``account``: a user name of StoreKit 1 that is no UUID is on no transaction.
    private static func account(
        _ deliverable: Deliverable,
        _ names: [CustomerIdentity],
        _ pseudonyms: [Pseudonym]
    ) -> [UInt8]? {
        switch deliverable {
        case .signature(let plan):
            switch plan.binding {
            case .none: nil
            case .applicationUsername(let name) where !name.isUniqueID: nil
            case .appAccountToken, .applicationUsername:
                names.firstIndex(where: \.isPurchaseBinding).map { pseudonyms[$0].ledgerKey }
            }
        case .authorization: pseudonyms.first?.ledgerKey
        case .preview: nil
        }
    }

    private static func users(_ pseudonyms: [Pseudonym]) -> [UInt8] {
        var writer = JSONWriter(reserving: 2 + 64 * pseudonyms.count)
        writer.beginArray()
        for pseudonym in pseudonyms { writer.string { $0.append(contentsOf: pseudonym.recordText) } }
        writer.endArray()
        return writer.bytes
    }

    /// Each name with its pseudonym.
    var identities: [(identity: CustomerIdentity, pseudonym: Pseudonym)] {
        zip(names, pseudonyms).map { ($0, $1) }
    }

    /// The same request when more is known of the customer.
    package func with(_ knowledge: StoreKnowledge) -> DecisionRequest {
        DecisionRequest(
            terms: terms,
            callerID: callerID,
            offer: offer,
            names: names,
            pseudonyms: pseudonyms,
            epoch: epoch,
            facts: facts,
            knowledge: knowledge,
            googlePlayScope: googlePlayScope,
            attributes: attributes,
            idempotency: idempotency,
            deliverable: deliverable,
            policyName: policyName
        )
    }
}

/// What exactly may be signed, or bought, upon a grant.
///
/// Known before anything is decided: the thread that asks makes them, and has them at hand when it signs.
package final class GrantTerms: Sendable {
    /// UUIDv7 of the request.
    package let id: UniqueID
    /// UUIDv4; what is signed carries it.
    package let nonce: UniqueID
    /// When it was asked for; the timestamp inside what is signed.
    package let signedAt: Timestamp
    /// Whether what may be signed allows the offer; only then does it count against caps.
    package let allows: Bool
    /// Exactly what may be signed, one for each form; none of an offer that is not signed.
    package let intents: [SigningIntent]

    /// - Throws: `PayloadError` as ``SigningPlan/intents(allows:nonce:at:)``.
    init(
        of deliverable: Deliverable,
        id: UniqueID,
        nonce: UniqueID,
        signedAt: Timestamp,
        allows: Bool = true
    ) throws(PayloadError) {
        self.id = id
        self.nonce = nonce
        self.signedAt = signedAt
        self.allows = allows
        intents = try deliverable.intents(allows: allows, nonce: nonce, at: signedAt)
    }

    /// Of what is not delivered, and only looked at.
    init(id: UniqueID, at instant: Timestamp) {
        (self.id, nonce, signedAt) = (id, id, instant)
        (allows, intents) = (true, [])
    }
}

/// Permission to sign, or to buy, already on disk.
package struct Grant: Sendable {
    package let terms: GrantTerms
    package let basis: Basis

    package var id: UniqueID { terms.id }

    /// What a grant rests on.
    package enum Basis: Sendable {
        /// The rules, just now.
        case decision(Decision)
        /// An earlier request with the same idempotency key.
        indirect case replay(RecordedDecision)
    }
}

/// What a ``DecisionRequest`` brings along of the store's own knowledge.
package struct StoreKnowledge: Sendable {
    /// Kept apart, because they are large, and most requests bring none.
    private final class Reports: Sendable {
        let appStore: SubscriptionReport?
        let googlePlay: GooglePlayPurchaseReport?

        init?(_ appStore: SubscriptionReport?, _ googlePlay: GooglePlayPurchaseReport?) {
            if appStore == nil, googlePlay == nil { return nil }
            self.appStore = appStore
            self.googlePlay = googlePlay
        }
    }

    private var reports: Reports?
    /// What the request sent along, or what the store has just answered; it is merged into the ledger first.
    package var report: SubscriptionReport? {
        get { reports?.appStore }
        set { reports = Reports(newValue, reports?.googlePlay) }
    }
    /// The same of purchases at Google Play.
    package var googlePlayReport: GooglePlayPurchaseReport? {
        get { reports?.googlePlay }
        set { reports = Reports(reports?.appStore, newValue) }
    }
    /// Whether it tells what the ledger may not have.
    var isTold: Bool { reports != nil || namesPurchases }
    /// The purchases at Google Play that are surely the customer's.
    package var googlePlayPurchases: Set<PurchaseKey> = []
    /// Keys of pseudonyms by which the ledger may look for purchases, beside those of the customer: of a transaction
    /// that a trusted caller named, or of the account below.
    package var subjects: [[UInt8]] = []
    /// The keys of pseudonyms that the account of the store has in the ledger, if what is signed is bound to one.
    ///
    /// Then nobody else's history stands for its own. Empty if it is bound to none.
    package var account: [[UInt8]] = []
    /// Whether purchases under the names of the request are the customer's.
    ///
    /// Those under names that an app gives are not, where what is signed is bound to an account and not to the name.
    package var believesNames = true
    /// Whether a trusted caller gave the names; then purchases under an anonymous id, or by who is linked to the
    /// customer, are the customer's too.
    package var isVouchedFor = false
    /// Whether there is a store that can still be asked.
    package var mayAsk = false
    /// Whether it was asked and did not answer.
    package var isStoreDown = false
    /// When asking it again makes sense, if it said so.
    package var retryAfterSeconds: Int?
    /// The chains that are surely the customer's.
    package var chains: Set<ChainKey> = []
    /// What the ledger may have of what the request names under earlier secrets.
    package var successions: [KeySuccession] = []
    /// When the store listed all subscriptions of a customer who is surely this one.
    package var statusesReadAt: Timestamp?
    /// When it listed all transactions.
    package var historyReadAt: Timestamp?

    package init() {}

    /// The same, together with what a store has answered to another request about the same customer; what is to be
    /// merged into the ledger is left out, and so is what only that request believes.
    func told(by other: StoreKnowledge) -> StoreKnowledge {
        var knowledge = self
        (knowledge.report, knowledge.googlePlayReport) = (nil, nil)
        knowledge.chains.formUnion(other.chains)
        knowledge.googlePlayPurchases.formUnion(other.googlePlayPurchases)
        knowledge.mayAsk = other.mayAsk
        knowledge.isStoreDown = other.isStoreDown
        knowledge.retryAfterSeconds = other.retryAfterSeconds
        knowledge.statusesReadAt = other.statusesReadAt
        knowledge.historyReadAt = other.historyReadAt
        return knowledge
    }

    /// Whether it names subscriptions that are surely the customer's.
    var namesPurchases: Bool { !chains.isEmpty || !googlePlayPurchases.isEmpty }
}

/// What came of a ``DecisionRequest``, all of it recorded and durable.
package enum Verdict: Sendable {
    /// On the terms of the request, or on those of a grant before it, or that it may not be had.
    case granted(Grant.Basis, otherTerms: GrantTerms?)
    case refused(Decision)
    /// The customer might have it, but the offer is not as it must be at the store, or that isn't known; nothing is
    /// granted.
    case obstructed(AuthorizationObstacle)
    /// Nothing is decided yet: the store must be asked for these facts.
    case storeNeeded(FactNeeds)
    /// Nothing could be decided, because the store was asked and did not answer; this is not recorded as a refusal.
    case storeSilent
    /// The idempotency key was used before, with another body.
    case idempotencyKeyReused
    /// Nothing is decided, because the service is sealed or the key is switched off.
    case stopped(KeyStop)
}

/// Why the ledger recorded nothing; nothing may be signed then.
package enum LedgerError: Error, Hashable, Sendable {
    /// More requests wait than the ledger will hold.
    case overloaded
    /// The database refused; nothing of the batch is on disk.
    case database(StorageError)
    /// The file of the database was moved, removed or replaced; nothing is believed to be on disk.
    case databaseGone
    /// The service is stopping.
    case stopped
    /// What should have been signed could not be built; a mistake of ours.
    case unbuildable(PayloadError)
    /// The audit log is not as it was written; nothing is added to it.
    case log(LogFault)
    /// It was made into keys under a secret that another took over from, so it would be kept where nobody looks for it.
    case outdatedSecret
}

extension LedgerError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .overloaded: "More requests wait for the ledger than it holds."
        case .database(let error): error.description
        case .databaseGone:
            "The database is not where it was opened: put the file back, or start the service anew."
        case .stopped: "The ledger is closed, because the service is stopping."
        case .unbuildable(let error): error.description
        case .log(let fault): fault.description
        case .outdatedSecret:
            "Customers are kept under a newer secret than the one that was read here: nothing was kept; try again."
        }
    }

    /// One word for metrics.
    package var label: String {
        switch self {
        case .overloaded: "overloaded"
        case .database(.diskFull): "disk-full"
        case .database(.readOnly): "read-only"
        case .database(.busy): "busy"
        case .database(.ioFailure): "io-failure"
        case .database: "database"
        case .databaseGone: "database-gone"
        case .stopped: "stopped"
        case .unbuildable: "unbuildable"
        case .log: "log-damaged"
        case .outdatedSecret: "outdated-secret"
        }
    }
}
