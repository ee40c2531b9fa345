// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
package import Ledger
import OfferDomain
import ServiceRuntime
import Stores

/// Something that the App Store wants signed, with its signatures.
package struct SignedOffer: Sendable {
    /// What was granted, or granted before under the same idempotency key.
    package let grant: Grant
    /// What was decided.
    package let request: DecisionRequest
    /// What was signed, with which key.
    package let plan: SigningPlan
    /// DER in Base64 with padding.
    package let signature: [UInt8]?
    /// Compact JWS.
    package let jws: [UInt8]?
}

/// Answers requests for signatures: decides, records, then signs; nothing is signed that was not recorded first.
///
/// A class, because each request is handed to it several times.
package final class SignOffer: Sendable {
    private let decider: OfferDecider
    private let store: AppStore
    private let signer: IntentSigner
    private let metrics: Metrics
    private let log: Log

    init(decider: OfferDecider, store: AppStore, signer: IntentSigner, runtime: Runtime) {
        self.decider = decider
        self.store = store
        self.signer = signer
        metrics = runtime.metrics
        log = runtime.log
    }

    /// What is decided, and what is signed if it is granted.
    private struct Prepared {
        let plan: SigningPlan
        let request: DecisionRequest
        /// Asks the App Store if the request does not decide itself.
        let lookup: VerifiedEvidence
    }

    /// Answers one request.
    package func sign(
        _ request: SignatureRequest,
        in context: RequestContext
    ) async throws(Refusal) -> SignedOffer {
        let prepared = try await prepare(request, in: context)
        let grant = try await decider.granted(prepared.request, asking: prepared.lookup)
        return try await signed(grant, prepared)
    }

    /// Answers many requests of one caller, in their order, each as if it were alone.
    ///
    /// Two commits hold what is granted: one for what the ledger can decide, one for what the store is asked about.
    ///
    /// - Throws: What keeps all of them from being decided; then nothing is granted.
    package func sign(
        _ batch: SignatureBatch,
        in context: RequestContext
    ) async throws(Refusal) -> [Result<SignedOffer, Refusal>] {
        var answers: [(place: Int, result: Result<SignedOffer, Refusal>)] = []
        var prepared: [(place: Int, item: Prepared)] = []
        for (place, item) in batch.items.enumerated() {
            do throws(Refusal) {
                let own = context.item(item.id, item.idempotency)
                let one = try await prepare(try item.request.get(), in: own)
                prepared.append((place, one))
            } catch {
                answers.append((place, .failure(error)))
            }
        }
        let grants = try await decider.granted(
            prepared.map(\.item.request),
            asking: prepared.map(\.item.lookup),
            under: batch.idempotency
        )
        for ((place, item), grant) in zip(prepared, grants) {
            do throws(Refusal) {
                let offer = try await signed(try grant.get(), item)
                answers.append((place, .success(offer)))
            } catch {
                answers.append((place, .failure(error)))
            }
        }
        return answers.sorted { $0.place < $1.place }.map(\.result)
    }

    /// Authorizes the caller, finds offer and key, verifies the evidence, and plans what is signed.
    private func prepare(_ request: SignatureRequest, in context: RequestContext) async throws(Refusal) -> Prepared {
        let (customer, app) = (request.customer, AppName(request.bundleID))
        try context.caller.authorize(app, named: .bundle(request.bundleID), assertions: customer.assertions)
        try context.catalog.customerPolicy(of: app).admit(customer.customerID)
        let found = try context.catalog.find(request)
        let listing = found.listing
        try decider.genuineApps.demand(found.offer, in: context)
        guard let key = context.snapshot.keyRing.activeKey(for: listing.bundleID, purpose: listing.purpose) else {
            throw .service(.keyUnavailable(listing.purpose))
        }
        let shown = try await store.verified(
            customer.signedData,
            of: listing.bundleID,
            in: context.catalog,
            for: context.caller.party,
            at: context.receivedAt
        )
        let forms = request.subject.forms
        let binding = try AccountBinding(customer, shownBy: shown, signing: forms, in: context)
        let subject = try binding.subject(of: listing, in: forms)
        let evidence = VerifiedEvidence(binding, signing: subject, of: listing.bundleID, askedOf: store, log: log)
        let plan = SigningPlan(
            key: key,
            listing: listing,
            binding: customer.binding,
            subject: subject,
            client: request.client
        )
        let decision = DecisionRequest(
            from: context.origin(of: found.offer),
            offer: found.offer,
            customer: DecisionCustomer(customer, at: .appStore, of: found.offer.app, in: context),
            knowledge: evidence.knowledge(),
            terms: try decider.terms(of: .signature(plan), in: context)
        )
        try decider.admit(decision)
        return Prepared(plan: plan, request: decision, lookup: evidence)
    }

    /// Signs what was recorded.
    private func signed(_ grant: Grant, _ prepared: Prepared) async throws(Refusal) -> SignedOffer {
        let (plan, request) = (prepared.plan, prepared.request)
        var signature: [UInt8]?
        var jws: [UInt8]?
        // Sampled once per request, not per signature; otherwise only the first form would ever be verified.
        let verifies = signer.isVerificationDue()
        for intent in grant.terms.intents {
            let made = try await signer.sign(intent, of: grant, by: plan, verifies: verifies)
            switch intent.text {
            case .v1: signature = Base64.encode(made.der)
            case .jws(let text): jws = text.serialized(signature: made)
            }
        }
        if plan.listing.offerID != nil { metrics.signed(request.offer, for: plan.client) }
        return SignedOffer(grant: grant, request: request, plan: plan, signature: signature, jws: jws)
    }

    /// Finds out whether the app that asks is genuine.
    var genuineApps: GenuineAppChecks { decider.genuineApps }

    /// Whether responses to this caller include the findings of the rules.
    package func showsFindings(to caller: Caller) -> Bool { decider.showsFindings(to: caller) }
}

extension Catalog {
    /// The offer that a request names.
    fileprivate func find(_ request: SignatureRequest) throws(Refusal) -> ListedOffer<AppStoreListing> {
        let (productID, bundleID) = (request.productID, request.bundleID)
        do throws(Missing) {
            switch request.subject {
            case .promotionalOffer(let id, _): return try offer(id, of: productID, in: bundleID)
            case .introductoryOffer: return try introductoryOffer(of: productID, in: bundleID)
            }
        } catch {
            var offerID: OfferID?
            if case .promotionalOffer(let asked, _) = request.subject { offerID = asked }
            throw .decision(.unknownOffer(error, near: near(error, offerID, of: productID, in: bundleID)))
        }
    }
}
