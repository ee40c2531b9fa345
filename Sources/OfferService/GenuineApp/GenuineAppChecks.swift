// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import Ledger
import OfferDomain
import ServiceRuntime

/// Finds out whether the app that sends a request proves to be genuine.
package final class GenuineAppChecks: Sendable {
    private let keys: AttestedKeys
    let play: PlayIntegrityParts
    let admission: Admission
    private let metrics: Metrics
    let log: Log

    init(keys: AttestedKeys, play: PlayIntegrityParts, admission: Admission, _ runtime: Runtime) {
        self.keys = keys
        self.play = play
        self.admission = admission
        metrics = runtime.metrics
        log = runtime.log
    }

    /// What of an app is checked.
    package enum Check: String, CaseIterable, Sendable {
        case attestation, assertion
        /// Of Play Integrity.
        case token

        var method: GenuineApp.Method { self == .token ? .playIntegrity : .appAttest }
    }

    /// The context with what the request proves of one of the apps that it is about; the same if it comes without a proof, or
    /// none is looked at.
    ///
    /// A proof that is sent has to be right, where apps do not need one too: what the app got wrong would else not be seen.
    /// It counts once, whatever becomes of the request.
    func examined(
        _ context: RequestContext,
        _ request: Request,
        about apps: ProvableApps
    ) async throws(Refusal) -> RequestContext {
        guard context.caller.role == .app else { return context }
        let attested = try await attested(context, request, about: apps)
        guard case .absent = attested.proof, let packageName = apps.packageName else { return attested }
        return attested.with(try await integrity(attested, request, of: packageName))
    }

    /// The context with what the request proves by App Attest.
    private func attested(
        _ context: RequestContext,
        _ request: Request,
        about apps: ProvableApps
    ) async throws(Refusal) -> RequestContext {
        guard apps.bundleIDs.contains(where: context.catalog.looksAtProofs) else { return context }
        let counts = SentAssertion.fields.map(request.headers.count(of:))
        guard counts.contains(where: { $0 > 0 }) else { return context }
        let sent = try asRefusal { () throws(GenuineAppFault) in
            try SentAssertion(request, fieldCounts: counts, about: apps.bundleIDs, in: context)
        }
        guard let key = try await keys.key(sent.keyID) else { throw refusal(.keyUnknown, .assertion) }
        let (counter, app) = try asRefusal { () throws(GenuineAppFault) in
            try sent.verified(by: key, request.proofDigest(with: sent.challenge.text.utf8))
        }
        // After the signature is verified: an unproven request must not use up the key's rate.
        try admission.admitKey(sent.keyID.bytes, of: context.caller, apps.items)
        guard try await keys.advance(sent.keyID, to: counter, at: context.receivedAt) else {
            throw refusal(.counter, .assertion)
        }
        count("accepted", .assertion)
        return context.with(.genuine(app))
    }

    private func asRefusal<Value>(_ body: () throws(GenuineAppFault) -> Value) throws(Refusal) -> Value {
        do throws(GenuineAppFault) { return try body() } catch { throw refusal(error, .assertion) }
    }

    /// Refuses an app that has not proven itself, where the offer is only for those that have.
    ///
    /// A backend, and the App Store itself, are no apps: they prove themselves otherwise.
    func demand(_ offer: CatalogOffer, in context: RequestContext) throws(Refusal) {
        guard context.caller.role == .app, context.proof(of: offer) == nil else { return }
        if let fault = context.unansweredProof(for: offer) {
            if offer.needsProof { throw .service(fault) }
            return
        }
        guard offer.genuineApp != .off else { return }
        count("absent", offer.listing.store == .appStore ? .assertion : .token)
        if offer.genuineApp == .require { throw .caller(.genuineAppRequired) }
    }

    func count(_ result: String, _ check: Check) {
        metrics.count(.genuineAppChecks(method: check.method.rawValue, check: check.rawValue, result: result))
    }

    /// The answer to the caller, which says what to do; only metrics and log have the reason.
    func refusal(_ fault: GenuineAppFault, _ check: Check) -> Refusal {
        count(fault.label, check)
        log.onceAMinute(
            .info,
            "an app's proof was refused",
            of: "\(check.rawValue) \(fault.label)",
            with: ["check": .text(check.rawValue), "reason": .text(fault.label), "detail": .text(fault.description)]
        )
        return .caller(.genuineAppRefused(fault))
    }
}

/// The apps that a request is about; it may prove something about one of them.
struct ProvableApps: Sendable {
    /// For a batch, the apps of all its items.
    var bundleIDs: Set<BundleID> = []
    var packageName: PackageName?
    /// The number of requests that one proof covers.
    var items = 1
}

extension RequestContext {
    /// The proof that the request gives for that app by that store's method; `nil` without one.
    func proof(of app: AppName, at store: Store) -> GenuineApp? {
        guard case .genuine(let proof) = proof, proof.app == app, proof.method.store == store else { return nil }
        return proof
    }

    /// The proof that the request gives for the offer's app.
    func proof(of offer: CatalogOffer) -> GenuineApp? { proof(of: offer.app, at: offer.listing.store) }

    /// Why it is not known what the request proves of the app; only Google is asked about proofs.
    func unansweredProof(for offer: CatalogOffer) -> ServiceFault? {
        guard case .unanswered(let fault) = proof, offer.listing.store == .googlePlay else { return nil }
        return fault
    }
}

extension CatalogOffer {
    /// Whether a proof makes a difference for an app: the policy demands it, or the rule asks about the app.
    var needsProof: Bool { genuineApp == .require || policy.rule?.asksAboutApp.isEmpty == false }
}

/// An assertion as it was sent, with a challenge of ours that is good for one of the apps that the request is about.
private struct SentAssertion {
    let keyID: SHA256Digest
    let challenge: AppAttestChallenge
    private let app: BundleID
    private let settings: AppAttestSettings
    private let assertion: [UInt8]

    static let fields: [StaticString] = ["App-Attest-Key-Id", "App-Attest-Challenge", "App-Attest-Assertion"]

    /// `counts` are how often each of the fields is there; they are in the form that Apple's libraries write.
    init(
        _ request: Request,
        fieldCounts counts: [Int],
        about apps: Set<BundleID>,
        in context: RequestContext
    ) throws(GenuineAppFault) {
        let values = Self.fields.compactMap(request.headers.only)
        guard counts == [1, 1, 1], values.count == 3,
            let keyID = Base64.decode(Array(values[0])).flatMap(SHA256Digest.init(bytes:)),
            let assertion = Base64.decode(Array(values[2]))
        else { throw .headers }
        (self.keyID, self.assertion) = (keyID, assertion)
        let (catalog, now) = (context.catalog, context.receivedAt)
        for app in apps where catalog.looksAtProofs(of: app) {
            guard let settings = catalog.appAttest(of: app),
                let challenge = AppAttestChallenge(
                    values[1],
                    for: AppName(app),
                    under: context.snapshot.pseudonyms,
                    at: now
                )
            else { continue }
            (self.app, self.settings, self.challenge) = (app, settings, challenge)
            return
        }
        throw .challenge
    }

    /// The counter, and what the app has proven once that is known to be a new one.
    func verified(
        by key: AttestedKey,
        _ clientDataHash: SHA256Digest
    ) throws(GenuineAppFault) -> (counter: UInt32, GenuineApp) {
        guard key.bundleID == app else { throw .keyOfOtherApp }
        guard settings.environments.contains(key.environment) else { throw .environment(key.environment) }
        let read: AppAssertion
        do throws(AppAttestFault) {
            read = try AppAssertion(assertion)
            try read.verify(by: key.key, clientDataHash: clientDataHash, appID: settings.appID(of: app))
        } catch {
            throw .proof(error)
        }
        let proven = GenuineApp(
            app: AppName(app),
            evidence: .appAttest(key.environment),
            // An app may come from elsewhere after an update than when it registered.
            origin: read.extensions.category.map(AppOrigin.init) ?? key.origin
        )
        return (read.counter, proven)
    }
}
