// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// Who can tell more of a customer, if the ledger needs more to decide.
package protocol KnowledgeSource: Sendable {
    /// What is known once the store was asked; that it can't be asked is knowledge too, and it is asked only once.
    func learn(_ needs: FactNeeds, for request: DecisionRequest) async throws(Refusal) -> StoreKnowledge
}

/// A request that is to be decided, and who can tell more of its customer.
package struct OfferCandidate<Source: KnowledgeSource>: Sendable {
    package let request: DecisionRequest
    package let source: Source

    package init(request: DecisionRequest, source: Source) {
        self.request = request
        self.source = source
    }
}

/// Has the ledger decide, and turns every verdict but a grant into its refusal.
///
/// A class, because each request is handed to it several times over.
package final class OfferDecider: Sendable {
    let committer: Committer
    let admission: Admission
    private let showsFindingsToApps: Bool
    private let metrics: Metrics
    private let log: Log

    /// `showsFindingsToApps` says whether an app on somebody's device is told which rule said no.
    package init(committer: Committer, admission: Admission, showsFindingsToApps: Bool, runtime: Runtime) {
        self.committer = committer
        self.admission = admission
        self.showsFindingsToApps = showsFindingsToApps
        metrics = runtime.metrics
        log = runtime.log
    }

    /// Whether this caller is told what the rules found.
    package func showsFindings(to caller: Caller) -> Bool {
        caller.role != .app || showsFindingsToApps
    }

    /// The grant, already on disk; the store is asked on the way if what is known does not decide.
    package func granted(
        _ candidate: OfferCandidate<some KnowledgeSource>,
        _ caller: Caller
    ) async throws(Refusal) -> Grant {
        let verdict: Verdict
        do { verdict = try await committer.decide(candidate.request) } catch { throw .service(fault(error)) }
        guard case .storeNeeded(let needs) = verdict else { return try grant(verdict, candidate.request, caller) }
        return try await granted(try await asked(candidate, needs, caller), caller)
    }

    /// The same candidate, once the store has told what it knows.
    func asked<Source: KnowledgeSource>(
        _ candidate: OfferCandidate<Source>,
        _ needs: FactNeeds,
        _ caller: Caller
    ) async throws(Refusal) -> OfferCandidate<Source> {
        let asked = try await candidate.asked(needs)
        let before = candidate.request.shownSubjects
        try admission.admit(caller, about: asked.request.shownSubjects.filter { !before.contains($0) })
        return asked
    }

    /// The grant, or why there is none.
    func grant(
        _ verdict: consuming Verdict,
        _ request: DecisionRequest,
        _ caller: Caller
    ) throws(Refusal) -> Grant {
        // Given away: each part of it would else be copied, and counted.
        switch consume verdict {
        case .storeNeeded: throw .service(.storeUnavailable(retryAfterSeconds: nil))
        case .storeSilent:
            if let store = request.knowledge.refusingStore { throw .service(.refusedByStore(store, request.offer.app)) }
            throw .service(.storeUnavailable(retryAfterSeconds: request.knowledge.retryAfterSeconds))
        case .idempotencyKeyReused: throw .request(.idempotencyKeyReused)
        case .diskIsFull: throw .service(.auditUnavailable)
        case .stopped(let stop): throw .service(ServiceFault(stop, request.deliverable.purpose))
        case .obstructed(.fault(let fault)):
            metrics.count(.authorizationFaults(offer: request.offer.id.text, fault: fault.code))
            throw .decision(.offerNotUsable(fault))
        case .obstructed(.storeUnavailable(let seconds)):
            throw .service(.storeUnavailable(retryAfterSeconds: seconds))
        case .obstructed(.refusedByStore): throw .service(.refusedByStore(.googlePlay, request.offer.app))
        case .refused(let decision):
            count(decision, request.offer)
            // An app learns nothing of the names that a backend has linked.
            let told = caller.role == .app ? decision.counted(by: []) : decision
            let json = DecisionJSON(told, of: request.offer, policyName: request.policyName)
            throw .decision(.notEligible(decision.outcome, json, showsFindings: showsFindings(to: caller)))
        case .granted(let basis, let otherTerms):
            switch basis {
            case .replay: metrics.count(.replays)
            case .decision(let decision): count(decision, request.offer)
            }
            return Grant(terms: otherTerms ?? request.terms, basis: basis)
        }
    }

    func fault(_ error: LedgerError) -> ServiceFault {
        guard case .unbuildable(let error) = error else { return ServiceFault(error) }
        log(.error, "a payload did not split into its fields", ["reason": .text(error.description)])
        return .signingFailed
    }

    /// What would be granted; made before it is decided.
    func terms(
        of deliverable: Deliverable,
        id: UniqueID,
        nonce: UniqueID,
        at now: Timestamp
    ) throws(Refusal) -> GrantTerms {
        do {
            return try GrantTerms(of: deliverable, id: id, nonce: nonce, signedAt: now)
        } catch {
            throw .service(fault(.unbuildable(error)))
        }
    }

    private func count(_ decision: Decision, _ offer: CatalogOffer) {
        metrics.count(.decisions(offer: offer.id.text, outcome: decision.outcome.rawValue))
        guard decision.outcome != .eligible else { return }
        for reason in decision.reasons {
            metrics.count(.refusals(rule: reason.rule, answer: reason.answer.rawValue))
        }
    }
}

extension OfferCandidate {
    /// The same, once the store has told what it knows.
    func asked(_ needs: FactNeeds) async throws(Refusal) -> OfferCandidate {
        OfferCandidate(request: request.with(try await source.learn(needs, for: request)), source: source)
    }
}

extension Caller {
    /// Refuses who may not ask for offers of the app, or says what is not theirs to say.
    ///
    /// `app` is the ledger's name of what the request calls `named`.
    func authorize(_ app: AppName, named: NamedApp, assertions: [String]) throws(Refusal) {
        guard role.mayAskForSignatures else { throw .caller(.roleNotAllowed(role)) }
        guard mayAsk(for: app) else { throw .caller(.bundleNotAllowed(named)) }
        if !role.mayAssertFacts, let assertion = assertions.first {
            throw .caller(.assertionNotAllowed(pointer: assertion, role))
        }
    }
}

extension StoreKnowledge {
    /// The same when the store was asked about an app, as it calls it, and gave no answer.
    func without(
        _ error: StoreError,
        of store: Store,
        _ app: String,
        at now: Timestamp,
        _ log: Log
    ) -> StoreKnowledge {
        log.onceAMinute(
            .warning,
            "the store could not be asked",
            reason: error.label,
            app: app,
            ["store": .text(store.recordName), "detail": .text(error.description)]
        )
        var knowledge = self
        knowledge.isStoreDown = true
        if error.isOfSetUp { knowledge.refusingStore = store }
        knowledge.retryAfterSeconds = error.retryAfterSeconds(at: now)
        return knowledge
    }
}

extension StoreError {
    /// The whole seconds until asking makes sense again, at least 1; `nil` if the store did not say.
    func retryAfterSeconds(at now: Timestamp) -> Int? {
        retryAfter.map { instant in max(1, Int((instant.milliseconds - now.milliseconds + 999) / 1000)) }
    }
}
