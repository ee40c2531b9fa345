// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
package import Ledger
import OfferDomain
import ServiceRuntime

/// Has the ledger decide, and turns every verdict but a grant into its refusal.
///
/// A class, because each request is handed to it several times over.
package final class OfferDecider: Sendable {
    let committer: Committer
    let admission: Admission
    let genuineApps: GenuineAppChecks
    private let showsFindingsToApps: Bool
    private let metrics: Metrics
    private let random: any RandomSource
    private let log: Log

    /// `showsFindingsToApps` says whether responses to an app name the rule that refused the customer.
    package init(
        committer: Committer,
        genuineApps: GenuineAppChecks,
        showsFindingsToApps: Bool,
        runtime: Runtime
    ) {
        self.committer = committer
        self.genuineApps = genuineApps
        admission = genuineApps.admission
        self.showsFindingsToApps = showsFindingsToApps
        metrics = runtime.metrics
        random = runtime.random
        log = runtime.log
    }

    /// Whether responses to this caller include the findings of the rules.
    package func showsFindings(to caller: Caller) -> Bool {
        caller.role != .app || showsFindingsToApps
    }

    /// The grant, already on disk; `lookup` asks the store once if what is known does not decide.
    package func granted(
        _ request: DecisionRequest,
        asking lookup: some StoreLookup
    ) async throws(Refusal) -> Grant {
        let first: Verdict
        do { first = try await committer.decide(request) } catch { throw .service(fault(error)) }
        guard case .storeNeeded(let needs) = first else { return try grant(first, to: request) }
        let fetched = try await fetch(needs, for: request, by: lookup)
        let second: Verdict
        do { second = try await committer.decide(fetched) } catch { throw .service(fault(error)) }
        return try grant(second, to: fetched)
    }

    /// The same request with what the store answered; takes room for the names that only the answer shows.
    func fetch(
        _ needs: FactNeeds,
        for request: DecisionRequest,
        by lookup: some StoreLookup
    ) async throws(Refusal) -> DecisionRequest {
        let fetched = request.with(try await lookup.fetch(needs, for: request))
        let before = request.shownSubjects
        let caller = request.origin.caller
        try admission.admit(caller, about: fetched.shownSubjects.filter { !before.contains($0) })
        return fetched
    }

    /// Takes room for a request, by what it shows of its customer and its idempotency key.
    func admit(_ request: DecisionRequest) throws(Refusal) {
        try admission.admit(request.origin.caller, about: request.shownSubjects, request.idempotency)
    }

    /// The grant, or why there is none.
    func grant(
        _ verdict: consuming Verdict,
        to request: DecisionRequest
    ) throws(Refusal) -> Grant {
        // Given away: each part of it would else be copied, and counted.
        switch consume verdict {
        case .storeNeeded: throw .service(.storeUnavailable(retryAfterSeconds: nil))
        case .storeSilent:
            if let store = request.knowledge.refusingStore { throw .service(.refusedByStore(store, request.offer.app)) }
            throw .service(.storeUnavailable(retryAfterSeconds: request.knowledge.retryAfterSeconds))
        case .idempotencyKeyReused: throw .request(.idempotencyKeyReused)
        case .diskIsFull: throw .service(.auditUnavailable)
        case .stopped(let stop): throw .service(ServiceFault(stop, request.grantable.purpose))
        case .tooLate: throw .service(.overloaded)
        case .obstructed(let obstacle): throw refusal(of: request.offer, for: obstacle)
        case .refused(let decision):
            count(decision, request.offer)
            let caller = request.origin.caller
            // An app must not see the names that a backend has linked.
            let shown = caller.role == .app ? decision.counted(by: []) : decision
            let json = DecisionJSON(shown, of: request.offer, policyName: request.policyName)
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
        log(.error, "a payload did not split into its fields", with: ["reason": .text(error.description)])
        return .signingFailed
    }

    /// The validated offer at Google Play; refuses the request if an obstacle keeps all customers from the offer.
    func usable(
        _ offer: Result<ValidatedOffer, AuthorizationObstacle>,
        of entry: CatalogOffer
    ) throws(Refusal) -> ValidatedOffer {
        do throws(AuthorizationObstacle) { return try offer.get() } catch { throw refusal(of: entry, for: error) }
    }

    private func refusal(of offer: CatalogOffer, for obstacle: AuthorizationObstacle) -> Refusal {
        switch obstacle {
        case .fault(let fault):
            metrics.count(.authorizationFaults(offer: offer.id.text, fault: fault.code))
            return .decision(.offerNotUsable(fault))
        case .storeUnavailable(let seconds): return .service(.storeUnavailable(retryAfterSeconds: seconds))
        case .refusedByStore: return .service(.refusedByStore(.googlePlay, offer.app))
        }
    }

    /// What would be granted, with its nonce; made before it is decided.
    func terms(of grantable: Grantable, in context: RequestContext) throws(Refusal) -> GrantTerms {
        let nonce = UniqueID.version4(random.next(), random.next())
        do {
            return try GrantTerms(of: grantable, id: context.id, nonce: nonce, signedAt: context.receivedAt)
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

extension Caller {
    /// Refuses a caller that may not ask for offers of the app, or that states what only a backend may state.
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
