// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import ServiceRuntime
import Stores

/// What the App Store's evidence says of one customer: what the request contains, and what the store answers.
///
/// An app may send data that the App Store signed. It may also name a transaction by its ID, but IDs are not secret:
/// the store's answer then counts only if it names the account token of the request. If the signature is bound to an
/// account (``AccountBinding``), purchases under names that an app states prove nothing.
///
/// A class, because it is passed on several times for each request and never changes.
final class VerifiedEvidence: StoreLookup {
    private let binding: AccountBinding
    /// `nil` if nothing is signed.
    private let subject: SigningSubject?
    private let bundleID: BundleID
    private let store: AppStore
    private let log: Log
    /// The ID by which the store knows the account that an introductory offer is signed for.
    private let account: TransactionID?

    /// `store` is asked if what the request contains does not decide.
    init(
        _ binding: AccountBinding,
        signing subject: SigningSubject?,
        of bundleID: BundleID,
        askedOf store: AppStore,
        log: Log
    ) {
        self.binding = binding
        self.subject = subject
        self.bundleID = bundleID
        self.store = store
        self.log = log
        switch subject {
        case .introductoryOfferEligibility(let id): account = id
        case .promotionalOffer: account = nil
        case nil: account = binding.namedOrShown
        }
    }

    private var customer: StatedCustomer { binding.customer }
    private var snapshot: Snapshot { binding.context.snapshot }
    /// Looked up only on use, because most requests do not need it.
    private var app: AppStoreApp? { snapshot.catalog.apps[bundleID] }
    /// The keys under which evidence of the app is filed; made where they are used, which most requests don't.
    private var keys: AppPseudonyms { AppPseudonyms(snapshot.pseudonyms, in: AppName(bundleID)) }
    private var transactions: [AppStoreTransaction] { binding.shown.transactions }
    /// Whether there is a key to ask the App Store with.
    private var canAsk: Bool { snapshot.keyRing.activeKey(for: bundleID, purpose: .appStoreServerAPI) != nil }

    /// What the request states, and what its signed data shows.
    func knowledge() -> StoreKnowledge {
        var knowledge = StoreKnowledge()
        knowledge.isVouchedFor = binding.context.isBelieved
        knowledge.add(binding.context.caller.user, snapshot.pseudonyms, in: AppName(bundleID))
        if !transactions.isEmpty {
            let report = report(binding.shown, of: vouchedFor)
            knowledge.reports[.appStore] = report
            knowledge.chains = report.chains
        }
        if binding.context.isBelieved, let id = customer.transactionID { addNamed(id, to: &knowledge) }
        knowledge.mayAsk = mayAsk && canAsk
        addShownNames(of: binding.shown, to: &knowledge)
        if let account {
            knowledge.rotatedKeys += keys.rotatedKeys(
                of: [.originalTransaction(account), .appTransaction(account)] + binding.shown.accounts
            )
        }
        if case .introductoryOfferEligibility = subject { bindToAccount(&knowledge) }
        return knowledge
    }

    /// Limits the knowledge to the account that an introductory offer is signed for: an app's names prove nothing.
    func bindToAccount(_ knowledge: inout StoreKnowledge) {
        knowledge.believesNames = binding.context.isBelieved
        guard let account else { return }
        let keys = keys
        knowledge.account = [keys.key(of: .originalTransaction(account)), keys.key(of: .appTransaction(account))]
        knowledge.subjects = knowledge.account + binding.shown.accounts.map(keys.key)
        knowledge.mayAsk = canAsk
    }

    /// Adds the transaction that a trusted caller names.
    private func addNamed(_ id: TransactionID, to knowledge: inout StoreKnowledge) {
        let keys = keys
        knowledge.subjects = [keys.key(of: .originalTransaction(id))]
        knowledge.rotatedKeys = keys.rotatedKeys(of: [.originalTransaction(id)])
        guard customer.isFromAppStore else { return }
        let name = CustomerIdentity.originalTransaction(id)
        knowledge.shownNames = [PseudonymizedName(name, keys.pseudonym(of: name))]
        knowledge.chains = [keys.chainKey(of: id)]
    }

    /// Adds the customer's names that the evidence shows.
    private func addShownNames(of shown: SubscriptionEvidence, to knowledge: inout StoreKnowledge) {
        let names = shown.customerNames
        guard !names.isEmpty else { return }
        let keys = keys
        var known = knowledge.shownNames
        for name in names where !known.contains(where: { $0.identity == name }) {
            known.append(PseudonymizedName(name, keys.pseudonym(of: name)))
        }
        knowledge.shownNames = known
    }

    private func report(_ evidence: SubscriptionEvidence, of customers: [CustomerIdentity]) -> SubscriptionReport {
        SubscriptionReport(
            evidence,
            keys: keys,
            bundleID: bundleID,
            catalog: snapshot.catalog,
            customers: customers
        )
    }

    /// The names of the customer that a trusted caller says belong to the transactions.
    private var vouchedFor: [CustomerIdentity] { binding.context.isBelieved ? customer.vouchedFor : [] }
}

// MARK: - The store's answer

extension VerifiedEvidence {
    func fetch(_ needs: FactNeeds, for request: DecisionRequest) async throws(Refusal) -> StoreKnowledge {
        var knowledge = request.knowledge
        knowledge.mayAsk = false
        guard let question = question(needs) else { return knowledge }
        let (app, now) = (question.app.bundleID.text, request.receivedAt)
        do {
            let answer = try await store.evidence(question, at: now)
            add(answer, to: &knowledge)
            if answer.isPartial { knowledge.findings.append(.entryUnreadable) }
        } catch .notFound {
            // The store knows no such transaction, so nothing more is known of the customer.
            knowledge.findings.append(.transactionUnknown(questionedMember))
        } catch {
            if let code = error.finalCode {
                throw .request(.refusedByStore(.appStore, pointer: questionedMember.pointer, code: code))
            }
            return knowledge.without(error, of: .appStore, app: app, at: now, log: log)
        }
        return knowledge
    }

    /// What to ask the store; `nil` if the request names nothing that could be asked about.
    private func question(_ needs: FactNeeds) -> AppStore.Question? {
        guard let app, let id = questionedID else { return nil }
        return AppStore.Question(
            transactionID: id,
            app: app,
            environment: transactions.first?.environment ?? binding.shown.appTransaction?.environment,
            needs: needs,
            party: binding.context.caller.party
        )
    }

    /// The ID to ask about: if the signature is bound to an account, that account's ID.
    private var questionedID: TransactionID? {
        switch subject {
        case .promotionalOffer, nil: transactions.first?.transactionID ?? customer.transactionID
        case .introductoryOfferEligibility(let id): id
        }
    }

    /// The member of the request that names the transaction that is asked about.
    private var questionedMember: TransactionMember {
        if case .introductoryOfferEligibility = subject, customer.transactionID != nil { return .transactionID }
        if !transactions.isEmpty { return .signedTransaction }
        return customer.transactionID == nil ? .signedAppTransaction : .transactionID
    }

    /// Adds the store's answer; an answer about another account is only kept for the ledger and not used here.
    private func add(_ answer: SubscriptionEvidence, to knowledge: inout StoreKnowledge) {
        let isCustomers = isOfCustomer(answer)
        let report = report(answer, of: isCustomers ? vouchedFor : [])
        knowledge.reports[.appStore] = report
        guard isCustomers else { return }
        addShownNames(of: answer, to: &knowledge)
        knowledge.chains.formUnion(report.chains)
        knowledge.statusesReadAt = answer.statusesReadAt
        knowledge.historyReadAt = answer.historyReadAt
    }

    /// Whether the store's answer could count: for a transaction that an app names, only if the request names the
    /// account token that the answer must have too.
    private var mayAsk: Bool {
        if customer.isFromAppStore { return false }
        if !transactions.isEmpty { return true }
        guard customer.transactionID != nil else { return false }
        if binding.context.isBelieved { return true }
        return if case .appAccountToken = customer.binding { true } else { false }
    }

    private func isOfCustomer(_ answer: SubscriptionEvidence) -> Bool {
        if binding.context.isBelieved || !transactions.isEmpty { return true }
        if case .introductoryOfferEligibility = subject { return true }
        guard case .appAccountToken(let token) = customer.binding else { return false }
        return answer.transactions.contains { $0.appAccountToken == token }
    }
}
