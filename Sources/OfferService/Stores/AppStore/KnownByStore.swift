// SPDX-License-Identifier: Apache-2.0
import OfferDomain

/// One customer as far as a request lets the App Store's knowledge be used: what was sent along, and what may be asked.
///
/// An app on somebody's device may send what the App Store signed, since it has it from the store. It may name a
/// transaction by its id too, but ids are no secret: what the store answers then counts only if it names the account
/// token of the request. A backend is believed in whose transaction it is.
///
/// What is signed of a promotional offer is bound to the names that the request gives, and where an app sends signed data
/// along, a JWS to the account of that; what is signed of an introductory offer, to an account of the store. There, an app
/// has to show by signed data that the account is the customer's, and purchases under the names that it gives tell nothing.
///
/// A class, because it is handed on several times for each request and never changes.
final class KnownByStore: Sendable {
    /// What the request is about.
    enum Target {
        case offer(AppStoreListing)
        /// Any offer of the app; nothing is signed.
        case app(BundleID)
    }

    let knowledge: StoreKnowledge
    /// What is to be signed of this customer; `nil` if nothing is.
    let statement: Statement?
    /// The store's accounts that the customer was shown to have, where what is signed is bound to one.
    private let accounts: [CustomerIdentity]
    /// By which the store knows the account that an introductory offer is signed for.
    private let account: TransactionID?
    private let appTransaction: AppTransaction?
    private let request: SignatureRequest
    private let caller: Caller
    private let evidence: SubscriptionEvidence
    private let bundleID: BundleID
    private let configuration: Snapshot
    /// Looked up where it is used, which for most requests is nowhere.
    private var app: AppStoreApp? { configuration.catalog.apps[bundleID] }

    /// Refuses what is sent along of another account than the request names.
    init(
        _ request: SignatureRequest,
        _ members: VerifiedMembers,
        _ caller: Caller,
        _ target: Target,
        _ configuration: Snapshot
    ) throws(Refusal) {
        let (bundleID, listing): (BundleID, AppStoreListing?) =
            switch target {
            case .offer(let listing): (listing.bundleID, listing)
            case .app(let bundleID): (bundleID, nil)
            }
        // Each is looked at here, and not where it is kept, from where it would be copied.
        let (evidence, appTransaction) = (members.evidence, members.appTransaction)
        if !request.signedData.isEmpty {
            try evidence.refuseOtherAccount(than: request.binding, from: caller, signing: request.subject.forms)
        }
        let shown = ShownAccount(evidence, appTransaction)
        if !caller.role.mayAssertFacts { try shown.refuseOthers() }
        let statement = try Self.statement(request, caller, listing, shown)
        var knowledge = StoreKnowledge()
        Self.addKnowledge(of: request, caller, evidence, configuration, bundleID, to: &knowledge)
        Self.add(shown, configuration, bundleID, to: &knowledge)
        let account: TransactionID?
        switch statement {
        case .introductoryOfferEligibility(let id): account = id
        case .promotionalOffer: account = nil
        case nil: account = request.transactionID ?? shown.ids.first
        }
        let accounts = account == nil ? [] : shown.accounts
        if let account {
            knowledge.successions += configuration.keys(of: bundleID).successions(
                of: [.originalTransaction(account), .appTransaction(account)] + accounts
            )
        }
        if case .introductoryOfferEligibility = statement {
            Self.bind(&knowledge, to: account, accounts, caller, configuration, bundleID)
        }
        self.knowledge = consume knowledge
        self.statement = statement
        self.accounts = accounts
        self.account = account
        self.appTransaction = appTransaction
        self.request = request
        self.caller = caller
        self.evidence = evidence
        self.bundleID = bundleID
        self.configuration = configuration
    }

    /// Leaves what is known of the account for which an introductory offer is signed: an app's names prove nothing.
    func bindToAccount(_ knowledge: inout StoreKnowledge) {
        Self.bind(&knowledge, to: account, accounts, caller, configuration, bundleID)
    }

    private static func bind(
        _ knowledge: inout StoreKnowledge,
        to account: TransactionID?,
        _ accounts: [CustomerIdentity],
        _ caller: Caller,
        _ configuration: Snapshot,
        _ bundleID: BundleID
    ) {
        knowledge.believesNames = caller.role.mayAssertFacts
        guard let account else { return }
        let keys = configuration.keys(of: bundleID)
        knowledge.account = [keys.key(of: .originalTransaction(account)), keys.key(of: .appTransaction(account))]
        knowledge.subjects = knowledge.account + accounts.map(keys.key)
        knowledge.mayAsk = configuration.canAskAppStore(about: bundleID)
    }

    private static func statement(
        _ request: SignatureRequest,
        _ caller: Caller,
        _ listing: AppStoreListing?,
        _ shown: ShownAccount
    ) throws(Refusal) -> Statement? {
        switch request.subject {
        case .promotionalOffer(_, let forms):
            guard let offerID = listing?.offerID else { throw .decision(.unknownOffer(.offer)) }
            let transactionID =
                forms.contains(.jws) ? try tied(request.transactionID, caller, shown) : request.transactionID
            return .promotionalOffer(offerID, transactionID: transactionID, forms: forms)
        case .introductoryOffer:
            guard let id = request.transactionID ?? shown.ids.first,
                caller.role.mayAssertFacts || shown.ids.contains(id)
            else { throw .request(.transactionNotShown) }
            return .introductoryOfferEligibility(id)
        case .preview: return nil
        }
    }

    /// The transaction whose account a JWS is for: where an app has the offer decided on purchases that it shows, one of
    /// these, or it could be signed for another account.
    private static func tied(
        _ named: TransactionID?,
        _ caller: Caller,
        _ shown: ShownAccount
    ) throws(Refusal) -> TransactionID? {
        guard !caller.role.mayAssertFacts, let first = shown.ids.first else { return named }
        guard let named else { return first }
        guard shown.ids.contains(named) else { throw .request(.transactionNotShown) }
        return named
    }

    /// Adds what the request tells and what it sends along.
    private static func addKnowledge(
        of request: SignatureRequest,
        _ caller: Caller,
        _ evidence: SubscriptionEvidence,
        _ configuration: Snapshot,
        _ bundleID: BundleID,
        to knowledge: inout StoreKnowledge
    ) {
        knowledge.isVouchedFor = caller.role.mayAssertFacts
        knowledge.add(caller.user, configuration.pseudonyms, in: AppName(bundleID))
        if !evidence.transactions.isEmpty {
            let report = SubscriptionReport(
                evidence,
                keys: configuration.keys(of: bundleID),
                bundleID: bundleID,
                catalog: configuration.catalog,
                customers: vouchedFor(request, caller)
            )
            knowledge.report = report
            knowledge.chains = Set(report.history.chains.keys)
        }
        if caller.role.mayAssertFacts, let id = request.transactionID {
            let keys = configuration.keys(of: bundleID)
            knowledge.subjects = [keys.key(of: .originalTransaction(id))]
            knowledge.successions = keys.successions(of: [.originalTransaction(id)])
            if request.isFromAppStore {
                let name = CustomerIdentity.originalTransaction(id)
                knowledge.shownNames = [PseudonymizedName(name, keys.pseudonym(of: name))]
                knowledge.chains = [keys.chainKey(of: id)]
            }
        }
        knowledge.mayAsk = mayAsk(request, caller, evidence) && configuration.canAskAppStore(about: bundleID)
    }

    /// Adds whom signed data shows.
    private static func add(
        _ shown: ShownAccount,
        _ configuration: Snapshot,
        _ bundleID: BundleID,
        to knowledge: inout StoreKnowledge
    ) {
        let names = shown.names
        guard !names.isEmpty else { return }
        let keys = configuration.keys(of: bundleID)
        var known = knowledge.shownNames
        for name in names where !known.contains(where: { $0.identity == name }) {
            known.append(PseudonymizedName(name, keys.pseudonym(of: name)))
        }
        knowledge.shownNames = known
    }

    /// The names of the customer that a trusted caller says belong to the transactions.
    private static func vouchedFor(_ request: SignatureRequest, _ caller: Caller) -> [CustomerIdentity] {
        guard caller.role.mayAssertFacts else { return [] }
        return CustomerIdentity.vouchedFor(
            customer: request.customerID,
            anonymous: request.anonymousID,
            binding: request.binding
        )
    }

    /// What to ask the store; `nil` if the request names nothing that could be asked about.
    func question(_ needs: FactNeeds) -> AppStore.Question? {
        guard let app, let id = questionedID else { return nil }
        return AppStore.Question(
            transactionID: id,
            app: app,
            environment: evidence.transactions.first?.environment ?? appTransaction?.environment,
            needs: needs,
            party: caller.party
        )
    }

    /// Where what is signed is bound to an account, it is that account that is asked about.
    private var questionedID: TransactionID? {
        switch statement {
        case .promotionalOffer, nil: evidence.transactions.first?.transactionID ?? request.transactionID
        case .introductoryOfferEligibility(let id): id
        }
    }

    /// The member of the request that names the transaction that is asked about.
    var questionedMember: TransactionMember {
        if case .introductoryOfferEligibility = statement, request.transactionID != nil { return .transactionID }
        if evidence.transactions.isEmpty == false { return .signedTransaction }
        return request.transactionID == nil ? .signedAppTransaction : .transactionID
    }

    /// Takes the store's answer in; of somebody else's account it is kept for the ledger, and tells nothing here.
    func add(_ answer: SubscriptionEvidence, to knowledge: inout StoreKnowledge) {
        let isCustomers = isOfCustomer(answer)
        let report = SubscriptionReport(
            answer,
            keys: configuration.keys(of: bundleID),
            bundleID: app?.bundleID ?? request.bundleID,
            catalog: configuration.catalog,
            customers: isCustomers ? Self.vouchedFor(request, caller) : []
        )
        knowledge.report = report
        guard isCustomers else { return }
        Self.add(ShownAccount(answer, nil), configuration, bundleID, to: &knowledge)
        knowledge.chains.formUnion(report.history.chains.keys)
        knowledge.statusesReadAt = answer.statusesReadAt
        knowledge.historyReadAt = answer.historyReadAt
    }

    /// Whether the store's answer could tell something: of a transaction that an app names, only where the request names the
    /// account token that the answer has to name too.
    private static func mayAsk(_ request: SignatureRequest, _ caller: Caller, _ evidence: SubscriptionEvidence) -> Bool
    {
        if request.isFromAppStore { return false }
        if !evidence.transactions.isEmpty { return true }
        guard request.transactionID != nil else { return false }
        if caller.role.mayAssertFacts { return true }
        return if case .appAccountToken = request.binding { true } else { false }
    }

    private func isOfCustomer(_ answer: SubscriptionEvidence) -> Bool {
        if caller.role.mayAssertFacts || !evidence.transactions.isEmpty { return true }
        if case .introductoryOfferEligibility = statement { return true }
        guard case .appAccountToken(let token) = request.binding else { return false }
        return answer.transactions.contains { $0.appAccountToken == token }
    }
}

extension Snapshot {
    /// The keys under which evidence of one app is filed; made where they are used, which most requests don't.
    fileprivate func keys(of bundleID: BundleID) -> AppPseudonyms {
        AppPseudonyms(pseudonyms, in: AppName(bundleID))
    }

    /// Whether there is a key to ask the App Store with.
    fileprivate func canAskAppStore(about bundleID: BundleID) -> Bool {
        keyRing.activeKey(for: bundleID, purpose: .appStoreServerAPI) != nil
    }
}

extension SubscriptionEvidence {
    /// Refuses transactions that name another account than the request does.
    ///
    /// A backend is believed in whose transactions they are; what names no account is anybody's. A signature of the first
    /// form is bound to the account that the request names and to nothing else, so there it has to name that of the
    /// transactions, as token or as the user name that StoreKit 1 made the token of. For a JWS they may name one at most.
    func refuseOtherAccount(
        than binding: PurchaseBinding,
        from caller: Caller,
        signing forms: [SignatureForm] = []
    ) throws(Refusal) {
        guard !caller.role.mayAssertFacts else { return }
        let token: UniqueID?
        switch binding {
        case .appAccountToken(let named): token = named
        // What a user's token proves holds for every form; the request cannot contradict it.
        case .applicationUsername where caller.user?.appAccountToken != nil: token = caller.user?.appAccountToken
        case .applicationUsername(let name) where forms.contains(.v1): token = UniqueID(name.text)
        case .none where forms.contains(.v1): token = nil
        case .applicationUsername where !forms.isEmpty, .none where !forms.isEmpty:
            token = transactions.compactMap(\.appAccountToken).first
        case .applicationUsername, .none: return
        }
        for (index, transaction) in transactions.enumerated() {
            guard let other = transaction.appAccountToken, other != token else { continue }
            let pointer = EvidenceFault.Piece.transaction(index).pointer
            throw .request(.signedDataOfOtherAccount(pointer: pointer, member: "appAccountToken"))
        }
    }
}
