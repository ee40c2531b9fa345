// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import OfferDomain
import Storage

/// An offer, or what was said of it, signed.
package struct SignedOffer: Sendable {
    package let grant: Grant
    /// What was decided.
    package let request: DecisionRequest
    package let plan: SigningPlan
    /// DER in Base64 with padding.
    package let signature: [UInt8]?
    /// Compact JWS.
    package let jws: [UInt8]?
}

/// Why what is on record was not signed.
private enum SignatureFailure: Error {
    /// Something was switched off between the record and the signature.
    case stopped(KeyStop)
    case failed(SigningError)
    case untrusted

    var reason: String {
        switch self {
        case .stopped(let stop): stop.reason
        case .failed(let error): error.description
        case .untrusted: "the signature did not verify"
        }
    }
}

/// Decides, records, then signs; nothing is signed that was not recorded first.
///
/// A class, because each request is handed to it several times over.
package final class OfferSigner: Sendable {
    private let decider: OfferDecider
    private let committer: Committer
    private let store: AppStore
    private let seal: Seal
    private let verification: SelfVerification
    private let metrics: Metrics
    private let random: any RandomSource
    private let log: Log

    package init(
        decider: OfferDecider,
        committer: Committer,
        store: AppStore,
        seal: Seal,
        verification: SelfVerification,
        runtime: Runtime
    ) {
        self.decider = decider
        self.committer = committer
        self.store = store
        self.seal = seal
        self.verification = verification
        metrics = runtime.metrics
        random = runtime.random
        log = runtime.log
    }

    /// Answers one request for a signature.
    ///
    /// All of it is decided by one snapshot, the one in force when the request came in.
    package func sign(
        _ request: SignatureRequest,
        for caller: Caller,
        idempotency: IdempotencyClaim?,
        under configuration: Snapshot,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> SignedOffer {
        let candidate = try await candidate(
            request,
            for: caller,
            idempotency: idempotency,
            under: configuration,
            requestID: requestID,
            at: now
        )
        return try await signed(try await decider.granted(candidate, caller), candidate.request)
    }

    /// Answers many requests of one caller, in their order, each as if it were alone.
    ///
    /// Two commits hold what is granted: one for what the ledger can decide, one for what the store is asked about.
    ///
    /// - Throws: What keeps all of them from being decided; then nothing is granted.
    package func sign(
        _ batch: SignatureBatch,
        for caller: Caller,
        under configuration: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> [Result<SignedOffer, Refusal>] {
        var results: [Result<SignedOffer, Refusal>?] = []
        var candidates: [OfferCandidate<AppStoreAsked>] = []
        for item in batch.items {
            do throws(Refusal) {
                let candidate = try await candidate(
                    try item.request.get(),
                    for: caller,
                    idempotency: item.idempotency,
                    under: configuration,
                    requestID: item.id,
                    at: now
                )
                candidates.append(candidate)
                results.append(nil)
            } catch {
                results.append(.failure(error))
            }
        }
        var grants = zip(candidates, try await decider.granted(candidates, batch.idempotency, caller)).makeIterator()
        var answers: [Result<SignedOffer, Refusal>] = []
        answers.reserveCapacity(results.count)
        for result in results {
            if let result {
                answers.append(result)
            } else if let (candidate, grant) = grants.next() {
                answers.append(await signed(grant, candidate.request))
            }
        }
        return answers
    }

    /// What is to be decided about a request, unless it can't be granted whatever the rules say.
    private func candidate(
        _ request: SignatureRequest,
        for caller: Caller,
        idempotency: IdempotencyClaim?,
        under configuration: Snapshot,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> OfferCandidate<AppStoreAsked> {
        try caller.authorize(
            AppName(request.bundleID),
            named: .bundle(request.bundleID),
            assertions: request.assertions
        )
        try configuration.catalog.customerPolicy(of: AppName(request.bundleID)).admit(request.customerID)
        let offer = try findOffer(request, configuration.catalog)
        guard let listing = offer.appStore else { throw .decision(.unknownOffer(.offer)) }
        guard let key = configuration.keyRing.activeKey(for: listing.bundleID, purpose: listing.purpose) else {
            throw .service(.keyUnavailable(listing.purpose))
        }
        let members = try await store.verified(
            request,
            for: caller,
            of: listing.bundleID,
            under: configuration,
            at: now
        )
        let customer = try KnownByStore(request, members, caller, .offer(listing), configuration)
        guard let statement = customer.statement else { throw .decision(.unknownOffer(.offer)) }
        let plan = SigningPlan(key: key, listing: listing, binding: request.binding, statement: statement)
        let terms = try decider.terms(
            of: .signature(plan),
            id: requestID,
            nonce: .version4(random.next(), random.next()),
            at: now
        )
        let decision = decisionRequest(request, caller, offer, plan, terms, idempotency, configuration, customer)
        try decider.admission.admit(caller, about: decision.shownSubjects, decision.idempotency)
        return OfferCandidate(
            request: decision,
            source: AppStoreAsked(customer: customer, store: store, log: log)
        )
    }

    /// Lets the requests of a turn be committed, all together.
    package func turnEnded() {
        committer.takeWaiting()
    }

    /// Whether this caller is told what the rules found.
    package func showsFindings(to caller: Caller) -> Bool {
        decider.showsFindings(to: caller)
    }

    private func findOffer(_ request: SignatureRequest, _ catalog: Catalog) throws(Refusal) -> CatalogOffer {
        do throws(Catalog.Missing) {
            guard let productID = request.productID else { throw .product }
            switch request.subject {
            case .promotionalOffer(let offerID, _):
                return try catalog.offer(offerID, of: productID, in: request.bundleID)
            case .introductoryOffer: return try catalog.introductoryOffer(of: productID, in: request.bundleID)
            case .preview: throw .offer
            }
        } catch {
            var offerID: OfferID?
            if case .promotionalOffer(let asked, _) = request.subject { offerID = asked }
            let near = catalog.near(error, request.productID, offerID, in: request.bundleID)
            throw .decision(.unknownOffer(error, near: near))
        }
    }

    private func decisionRequest(
        _ request: SignatureRequest,
        _ caller: Caller,
        _ offer: CatalogOffer,
        _ plan: SigningPlan,
        _ terms: GrantTerms,
        _ idempotency: IdempotencyClaim?,
        _ configuration: Snapshot,
        _ customer: KnownByStore
    ) -> DecisionRequest {
        let names = CustomerIdentity.known(
            customer: request.customerID,
            anonymous: request.anonymousID,
            binding: request.binding,
            originalTransaction: request.facts.value.originalTransactionID?.value
        )
        return DecisionRequest(
            terms: terms,
            callerID: caller.id,
            offer: offer,
            customer: DecisionCustomer(
                names,
                isBelieved: caller.role.mayAssertFacts,
                binding: request.binding,
                configuration.pseudonyms,
                in: offer.app
            ),
            facts: request.facts,
            knowledge: customer.knowledge,
            googlePlayScope: configuration.catalog.googlePlayScope(of: offer),
            attributes: request.attributes,
            idempotency: idempotency?.bound(to: offer),
            deliverable: .signature(plan),
            policyName: configuration.catalog.policyName
        )
    }

    // MARK: - Signing

    private func signed(
        _ grant: Result<Grant, Refusal>,
        _ request: DecisionRequest
    ) async -> Result<SignedOffer, Refusal> {
        do throws(Refusal) {
            return .success(try await signed(try grant.get(), request))
        } catch {
            return .failure(error)
        }
    }

    private func signed(_ grant: Grant, _ request: DecisionRequest) async throws(Refusal) -> SignedOffer {
        guard case .signature(let plan) = request.deliverable else { throw .service(.signingFailed) }
        var signature: [UInt8]?
        var jws: [UInt8]?
        // One turn for all forms of a request, or else the first of them would take it each time.
        let verifies = verification.isDue()
        for intent in grant.terms.intents {
            let made = try await ecdsaSignature(of: intent, grant, plan, verifies: verifies)
            switch intent.form {
            case .v1: signature = Base64.encode(made.der)
            case .jws: jws = intent.jws?.serialized(signature: made)
            }
        }
        return SignedOffer(grant: grant, request: request, plan: plan, signature: signature, jws: jws)
    }

    private func ecdsaSignature(
        of intent: SigningIntent,
        _ grant: Grant,
        _ plan: SigningPlan,
        verifies: Bool
    ) async throws(Refusal) -> ECDSASignature {
        let key = plan.key
        let failure: SignatureFailure
        do throws(SignatureFailure) {
            let made = try trustedSignature(of: intent.digest, key, verifies: verifies)
            metrics.count(.signatures(key: key.id.text, form: intent.form.rawValue))
            return made
        } catch {
            failure = error
        }
        if case .untrusted = failure {
            seal.seal(.selfVerification, detail: "a signature of key \(key.id.text) did not verify")
        }
        let reason = failure.reason
        metrics.count(.signatureFailures(key: key.id.text))
        log(.error, "a signature failed", ["key": .text(key.id.text), "reason": .text(reason)])
        let event = AuditEvent.signatureFailed(grantID: grant.id, keyID: key.id, form: intent.form, reason: reason)
        do {
            // However many wait: this is on record already, and only its end is missing.
            try await committer.change { writer throws(LedgerError) in try writer.append(event) }
        } catch {
            throw .service(.auditUnavailable)
        }
        guard case .stopped(let stop) = failure else { throw .service(.signingFailed) }
        throw .service(ServiceFault(stop, plan.listing.purpose))
    }

    /// Uses the key, if nothing keeps it from that right now; a signature that is verified, and does not verify, is none.
    private func trustedSignature(
        of digest: SHA256Digest,
        _ key: SigningKey,
        verifies: Bool
    ) throws(SignatureFailure) -> ECDSASignature {
        guard let privateKey = key.privateKey else { throw .stopped(.disabled(key.id)) }
        let used: Result<ECDSASignature?, KeyStop>
        do throws(SigningError) {
            used = try committer.gate.use(key.id) { () throws(SigningError) in
                let made = try privateKey.signature(of: digest)
                return !verifies || isTrusted(made, digest, privateKey) ? made : nil
            }
        } catch {
            throw .failed(error)
        }
        switch used {
        case .success(let made?): return made
        case .success(nil): throw .untrusted
        case .failure(let stop): throw .stopped(stop)
        }
    }

    /// Verifies a fresh signature; a faulty one would betray the key.
    private func isTrusted(
        _ signature: ECDSASignature,
        _ digest: SHA256Digest,
        _ key: PrivateKey
    ) -> Bool {
        metrics.count(.selfVerifications)
        return verification.verifies(signature, of: digest, by: key.publicKey)
    }
}
