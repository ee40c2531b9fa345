// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain

/// A real-time request of the App Store that is known to be genuine, and what may be answered.
struct RetentionQuestion: Sendable {
    let request: RealtimeRequest
    let app: AppStoreApp
    let shown: AppRetention
    let configuration: Snapshot
    /// UUIDv7 of the call; a grant has it too.
    let id: UniqueID
    let receivedAt: Timestamp
    /// Whether the answer can still be sent.
    let isAwaited: @Sendable () -> Bool

    /// Under which the ledger has what is of the app.
    var keys: AppPseudonyms { AppPseudonyms(configuration.pseudonyms, in: AppName(app.bundleID)) }

    /// The subscription.
    var chain: ChainKey { keys.chainKey(of: request.originalTransactionID) }

    /// What the subscriber is shown by an answer of that name.
    func shown(_ answer: String, _ offer: CatalogOfferID? = nil) -> ShownAnswer {
        ShownAnswer(
            chain: chain,
            bundleID: app.bundleID,
            environment: request.environment,
            answer: answer,
            offer: offer?.text ?? ""
        )
    }

    /// The answer if no other answer is possible.
    var message: RetentionAnswer { .message(shown.message(for: request.productID).id(for: request.userLocale)) }

    /// The key that finds the grant or the answer again if the App Store repeats the request.
    func claim(_ kind: StaticString) -> IdempotencyClaim {
        let key = "\(kind) \(app.bundleID) \(request.environment.rawValue) \(request.requestIdentifier)"
        let body = "\(request.originalTransactionID) \(request.productID)"
        return IdempotencyClaim(callerID: .retention, key: Array(key.utf8), body: Array(body.utf8))
    }
}

/// Chooses the answer to a real-time request: the first offer that the rules allow, or another product, or a message.
///
/// Offers are decided, recorded and signed as for every other caller, with what the ledger knows. The service asks the
/// store only afterwards, for the next request.
struct RetentionDecider: Sendable {
    private let signer: SignOffer
    private let committer: Committer
    private let lookup: RetentionLookup
    private let decisions: DecisionLog

    init(signer: SignOffer, committer: Committer, lookup: RetentionLookup, decisions: DecisionLog) {
        self.signer = signer
        self.committer = committer
        self.lookup = lookup
        self.decisions = decisions
    }

    /// A body, and why it is that one, for metrics.
    struct Decided: Sendable {
        let body: [UInt8]
        let answer: String
        let reason: String
        /// The offer, in the answer to the first request of its identifier.
        fileprivate(set) var shownOffer: ShownOffer?

        init(_ answer: RetentionAnswer, _ reason: String) {
            (body, self.answer, self.reason) = (answer.body, answer.name, reason)
        }

        fileprivate init(repeated body: [UInt8]) { (self.body, answer, reason) = (body, "repeated", "repeated") }
    }

    /// An offer that a subscriber sees.
    struct ShownOffer: Sendable {
        let environment: StoreEnvironment
        let id: CatalogOfferID
    }

    /// What to show, and why; with the offer, if it is an offer.
    private struct Choice {
        let answer: RetentionAnswer
        let reason: String
        var offer: CatalogOfferID?
    }

    /// The answer, which is kept for a repetition of the request if possible.
    func decide(_ question: RetentionQuestion) async -> Decided {
        let claim = question.claim("answer")
        do throws(LedgerError) {
            let kept = try await committer.answer(under: claim, at: question.receivedAt).map(KeptRetentionAnswer.init)
            if let body = kept?.body { return Decided(repeated: body) }
            let choice = await chosen(question)
            // Too late to be sent: what was sent meanwhile is kept instead.
            guard question.isAwaited() else { return Decided(question.message, "late") }
            var decided = await keep(choice, of: question, under: claim)
            if kept == nil, decided.answer == RetentionAnswer.offerName {
                decided.shownOffer = choice.offer.map { ShownOffer(environment: question.request.environment, id: $0) }
            }
            return decided
        } catch {
            // Nothing can be granted either.
            return Decided(question.message, ServiceFault(error).retentionReason)
        }
    }

    /// Keeps a message that was sent because nothing was decided in time, in place of what was decided since.
    func keep(_ sent: Decided, of question: RetentionQuestion) async {
        let claim = question.claim("answer")
        // If this can't be written, nothing is kept, and a repetition is decided again.
        _ = try? await committer.keep(
            sent.body,
            question.shown(sent.answer),
            under: claim,
            requestID: question.id,
            at: question.receivedAt
        )
    }

    /// Returns the answer that counts: this one, or the one of an earlier or parallel request.
    private func keep(
        _ choice: Choice,
        of question: RetentionQuestion,
        under claim: IdempotencyClaim
    ) async -> Decided {
        let (answer, reason) = (choice.answer, choice.reason)
        let own = KeptRetentionAnswer(answer)
        let bytes: [UInt8]
        do throws(LedgerError) {
            bytes = try await committer.keep(
                own.bytes,
                question.shown(answer.name, choice.offer),
                under: claim,
                requestID: question.id,
                at: question.receivedAt
            )
        } catch {
            // What was granted is on record, and is given out.
            return Decided(answer, reason)
        }
        let counts = KeptRetentionAnswer(bytes)
        if let body = counts.body { return counts == own ? Decided(answer, reason) : Decided(repeated: body) }
        guard case .promotionalOffer(let message, let jws) = answer else {
            return Decided(question.message, "repeated")
        }
        return Decided(.promotionalOffer(message, jws: counts.restored(jws)), reason)
    }

    private func chosen(_ question: RetentionQuestion) async -> Choice {
        let (request, shown) = (question.request, question.shown)
        let offers = shown.offers(for: request.productID)
        for candidate in offers where question.isAwaited() {
            do throws(Refusal) {
                guard let jws = try await signed(candidate.offer, question) else { continue }
                let message = candidate.message.id(for: request.userLocale)
                return Choice(
                    answer: .promotionalOffer(message, jws: jws),
                    reason: "eligible",
                    offer: candidate.offer.id
                )
            } catch {
                switch error {
                case .decision(.notEligible(.undecided, _, _)):
                    if !candidate.offer.factNeeds.isDisjoint(with: .fromStatuses) { lookup.ask(about: question) }
                case .decision, .request: continue
                case .service(let fault): return Choice(answer: question.message, reason: fault.retentionReason)
                case .caller: return Choice(answer: question.message, reason: "not-allowed")
                }
            }
        }
        let reason = offers.isEmpty ? "no-offer" : "not-eligible"
        guard let alternative = shown.alternative(to: request.productID) else {
            return Choice(answer: question.message, reason: reason)
        }
        let message = alternative.message.id(for: request.userLocale)
        return Choice(
            answer: .alternateProduct(message, alternative.productID, alternative.billingPlan),
            reason: reason
        )
    }

    /// The JWS of an offer that the customer may have; a refusal is logged as for every other caller.
    private func signed(_ offer: CatalogOffer, _ question: RetentionQuestion) async throws(Refusal) -> [UInt8]? {
        guard let listing = offer.appStore, let offerID = listing.offerID else { return nil }
        let caller = Caller(id: .retention, role: .backend, apps: [offer.app])
        let now = question.receivedAt
        let context = RequestContext(
            id: question.id,
            receivedAt: now,
            snapshot: question.configuration,
            caller: caller,
            idempotency: question.claim("grant")
        ).awaited(while: question.isAwaited)
        do throws(Refusal) {
            let group = question.shown.plans[question.request.productID]?.groupID
            let request = SignatureRequest(question.request, in: group, for: listing, offerID, receivedAt: now)
            let signed = try await signer.sign(request, in: context)
            decisions.granted(offer.id.text, .eligible, in: context)
            return signed.jws
        } catch {
            decisions.refused(error, offer.id.text, in: context)
            throw error
        }
    }
}

extension ServiceFault {
    /// Why only a message is shown, for metrics: the name of the problem that other callers get.
    fileprivate var retentionReason: String { Problem(.service(self)).name }
}
