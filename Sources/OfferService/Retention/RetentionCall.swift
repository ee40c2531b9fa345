// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import OfferDomain
import ServiceRuntime
import Stores

/// `POST /v1/retention/app-store/{app}`: answers Apple's real-time request for a subscriber who is about to cancel.
///
/// The signature identifies Apple. Apple waits for 700 ms, and we can't choose what it shows without an answer. So the
/// service answers with a message wherever nothing better is possible.
struct RetentionCall: Sendable {
    private let store: AppStore
    private let decider: RetentionDecider
    private let admission: Admission
    private let metrics: Metrics
    private let log: Log
    private let patience: Patience

    /// How old a request may be.
    static let minutes = 5

    init(store: AppStore, decider: RetentionDecider, admission: Admission, patience: Patience, runtime: Runtime) {
        self.store = store
        self.decider = decider
        self.admission = admission
        (metrics, log) = (runtime.metrics, runtime.log)
        self.patience = patience
    }

    func respond(
        to request: Request,
        _ match: RouteMatch,
        under snapshot: Snapshot,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        guard let found = match.parameters.first.flatMap({ snapshot.catalog.retention(of: $0) }) else {
            throw .request(.notConfigured)
        }
        let asked = Asked(
            signedPayload: try signedPayload(request.body),
            party: admission.unauthenticated(request),
            app: found.app,
            shown: found.shown,
            configuration: snapshot,
            id: requestID,
            receivedAt: now
        )
        let fallback = Guarded(Fallback(message: .message(found.shown.message.standard)))
        let outcome = await patience.value {
            await decided(asked, fallingBackTo: fallback)
        } late: {
            .success(.init(fallback.withLock { $0.send() }, "late"))
        } missed: { sent in
            guard case .success(let sent) = sent, let question = fallback.withLock({ $0.question }) else { return }
            await decider.keep(sent, of: question)
        }
        let answer = try outcome.get()
        metrics.count(
            .retentionAnswers(app: found.app.bundleID.text, answer: answer.answer, reason: answer.reason)
        )
        if let offer = answer.shownOffer {
            metrics.count(.retentionOffersShown(environment: offer.environment.rawValue, offer: offer.id.text))
        }
        return .json(answer.body)
    }

    /// A request that is not yet verified.
    private struct Asked: Sendable {
        let signedPayload: [UInt8]
        let party: Party
        let app: AppStoreApp
        let shown: AppRetention
        let configuration: Snapshot
        let id: UniqueID
        let receivedAt: Timestamp
    }

    /// The answer if nothing is decided in time.
    private struct Fallback {
        private(set) var message: RetentionAnswer
        private(set) var isSent = false
        /// Set once the request is known to be genuine; only then an answer may be kept for its repetitions.
        var question: RetentionQuestion? {
            didSet { message = question?.message ?? message }
        }

        init(message: RetentionAnswer) { self.message = message }

        mutating func send() -> RetentionAnswer {
            isSent = true
            return message
        }
    }

    /// Decides the answer; once the request is verified, the fallback is the message for its product and language.
    private func decided(
        _ asked: Asked,
        fallingBackTo fallback: Guarded<Fallback>
    ) async -> Result<RetentionDecider.Decided, Refusal> {
        do throws(Refusal) {
            guard let genuine = try await verified(asked) else {
                return .success(.init(fallback.withLock { $0.message }, "not-verified"))
            }
            let question = RetentionQuestion(
                request: genuine,
                app: asked.app,
                shown: asked.shown,
                configuration: asked.configuration,
                id: asked.id,
                receivedAt: asked.receivedAt,
                isAwaited: { !fallback.withLock { $0.isSent } }
            )
            fallback.withLock { $0.question = question }
            return .success(await decider.decide(question))
        } catch {
            return .failure(error)
        }
    }

    /// Members that Apple may add to the body are ignored.
    private func signedPayload(_ body: [UInt8]) throws(Refusal) -> [UInt8] {
        let document: JSONDocument
        do {
            document = try JSONDocument(body, limits: JSONLimits(maximumBytes: 65_536, maximumStringBytes: 65_536))
        } catch {
            throw .request(.malformedJSON(error))
        }
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        let payload = reader.required("signedPayload", "a compact JWS in a string") { $0.stringBytes }
        guard let payload, mismatches.all.isEmpty else { throw .invalid(mismatches) }
        return payload
    }

    /// The verified request; `nil` if it can't be verified just now, where a message does no harm.
    private func verified(_ asked: Asked) async throws(Refusal) -> RealtimeRequest? {
        let (jws, now, reader) = (asked.signedPayload, asked.receivedAt, store.reader(of: [asked.app]))
        let result: Result<RealtimeRequest, SignedDataFault>? = await store.verifying([jws], for: asked.party) {
            do throws(SignedDataFault) {
                let oldest = now.adding(minutes: -Self.minutes)
                let request = try reader.realtimeRequest(jws, at: now, notSignedBefore: oldest)
                try request.requireNumber(of: asked.app)
                return .success(request)
            } catch {
                return .failure(error)
            }
        }
        guard let result else { return nil }
        do throws(SignedDataFault) { return try result.get() } catch {
            if error.isTemporary { return nil }
            refuse(error, of: asked.app)
            throw .signedData(error, pointer: "/signedPayload")
        }
    }

    /// Counts and logs a refusal; unauthenticated data is logged only at debug level, or it could fill the log.
    private func refuse(_ fault: SignedDataFault, of app: AppStoreApp) {
        metrics.count(.retentionAnswers(app: app.bundleID.text, answer: "refused", reason: fault.label))
        let text: StaticString = "a real-time request was refused"
        guard fault.isOfGenuineData else { return log(.debug, text, with: ["reason": .text(fault.label)]) }
        log.onceAMinute(
            .warning,
            text,
            reason: fault.label,
            app: app.bundleID.text,
            with: ["detail": .text("\(fault)")]
        )
    }
}

extension RealtimeRequest {
    /// Refuses a request of the sandbox that names another app; it may name none there.
    fileprivate func requireNumber(of app: AppStoreApp) throws(SignedDataFault) {
        guard let found = appAppleID, found != 0, let expected = app.appAppleID, found != expected else { return }
        throw .otherAppAppleID(pointer: "/appAppleId")
    }
}
