// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage
import TransparencyLog

// MARK: - Granting

extension LedgerWriter {
    /// Records a grant on the terms of the request and counts it against caps, or records that the offer is denied,
    /// which counts against none.
    func grant(
        _ request: DecisionRequest,
        on evaluation: Evaluation,
        allows: Bool
    ) throws(LedgerError) -> Verdict {
        let decision = evaluation.decision
        guard allows == request.terms.allows else {
            let (id, nonce, instant) = (request.terms.id, request.terms.nonce, request.terms.signedAt)
            let denial = try terms(request, id: id, nonce: nonce, signedAt: instant, allows: allows)
            try record(denial, request, on: evaluation, isDenial: true)
            try remember(denial, of: request, on: decision)
            return .granted(.decision(decision), otherTerms: denial)
        }
        let id = request.terms.id
        let index = try record(request.terms, request, on: evaluation)
        for subject in request.subjects(with: evaluation.subscriptions) {
            try database(grants.add(id, of: request.offer.ledgerKey, to: subject, entry: index))
        }
        try issue(id, request, entry: index)
        // Made-up names must not use up a budget.
        if request.isProven { days.add(request.offer.ledgerKey, on: request.terms.signedAt.utcDay) }
        try remember(request.terms, of: request, on: decision)
        return .granted(.decision(decision), otherTerms: nil)
    }

    /// Adds a grant to those whose use a store will report.
    ///
    /// An introductory offer is not added: the App Store gives it without a signature too.
    private func issue(_ grantID: UniqueID, _ request: DecisionRequest, entry: Int64) throws(LedgerError) {
        let offer = request.offer
        if offer.appStore != nil, offer.appStore?.offerID == nil { return }
        let isDescribed = reconciliation.described[offer.ledgerKey] === offer
        if !isDescribed { try database(issued.describe(offer)) }
        try database(issued.add(grantID, of: offer, to: request.account, at: request.receivedAt, entry: entry))
        reconciliation.described[offer.ledgerKey] = offer
    }

    private func remember(
        _ terms: GrantTerms,
        of request: DecisionRequest,
        on decision: Decision
    ) throws(LedgerError) {
        guard let claim = request.idempotency else { return }
        let json = DecisionJSON(decision, of: request.offer, policyName: request.policyName)
        try remember(json.bytes, id: terms.id, nonce: terms.nonce, at: terms.signedAt, under: claim)
    }

    /// Records one entry for each signature that will be made; for a retry, `evaluation` is nil.
    @discardableResult
    func record(
        _ terms: GrantTerms,
        _ request: DecisionRequest,
        on evaluation: Evaluation? = nil,
        isDenial: Bool = false,
        namesUsers: Bool = true
    ) throws(LedgerError) -> Int64 {
        let first = tree.size
        let stored = evaluation?.stored ?? StoredNames()
        switch request.grantable {
        case .signature(let plan):
            for intent in terms.intents {
                let record = SignatureRecord(
                    request: request,
                    terms: terms,
                    plan: plan,
                    intent: intent,
                    denial: isDenial ? evaluation?.decision : nil,
                    stored: stored,
                    namesUsers: namesUsers
                )
                try append(.signature(record))
            }
        case .authorization(let plan):
            let record = AuthorizationRecord(
                request: request,
                terms: terms,
                plan: plan,
                stored: stored,
                namesUsers: namesUsers
            )
            let entry = try append(.authorization(record))
            try note(plan, of: request, entry: entry)
        case .preview: break
        }
        return first
    }

    /// Terms other than those of the request.
    func terms(
        _ request: DecisionRequest,
        id: UniqueID,
        nonce: UniqueID,
        signedAt: Timestamp,
        allows: Bool
    ) throws(LedgerError) -> GrantTerms {
        do {
            return try GrantTerms(of: request.grantable, id: id, nonce: nonce, signedAt: signedAt, allows: allows)
        } catch {
            throw .unbuildable(error)
        }
    }
}
