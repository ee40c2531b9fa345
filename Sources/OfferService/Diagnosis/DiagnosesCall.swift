// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import SignatureDiagnosis
import Stores
import TransparencyLog

/// `POST /v1/diagnoses`: why a signature was refused, as far as can be proved, and what is on record of it.
struct DiagnosesCall: Sendable {
    /// Reads on threads of its own, so that a diagnosis does not delay callers that read the log.
    let record: LogSearches
    /// Searches for the signed payload while the processors are idle.
    let searches: SearchPool
    let recorder: DiagnosisRecorder
    let store: AppStore
    let unrecorded: UnrecordedSignatures
    let rates: DiagnosisRates

    /// Answers auditors and administrators, and backends about their own apps: to others it would tell whether a guess is right.
    func respond(to request: Request, under snapshot: Snapshot, at now: Timestamp) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now)
        guard caller.role.mayDiagnose else { throw .caller(.roleNotAllowed(caller.role)) }
        try rates.admit(caller.id)
        try request.requireJSON()
        let asked = try DiagnosisRequest(request.body)
        try Self.authorize(asked.report.signedBundleID, caller)
        let question = try Self.transaction(asked, caller)
        let job = DiagnosisJob(request: asked, snapshot: snapshot, caller: caller, now: now)
        var outcome = try await run(job)
        try Self.authorize(outcome.report.bundleID, caller)
        if outcome.app == nil, !caller.apps.isEmpty {
            throw Self.missing("/bundleId", "the app that the signature is for")
        }
        var facts: StoreFacts?
        if let question {
            facts = try await ask(about: question, into: &outcome, under: snapshot, for: caller, at: now)
        }
        if let key = outcome.unrecordedKey { unrecorded.note(key) }
        await recorder.record(DiagnosisRecord(outcome, by: caller.id))
        return .json(DiagnosisAnswer(outcome, facts).bytes)
    }

    private func run(_ job: DiagnosisJob) async throws(Refusal) -> DiagnosisJob.Outcome {
        let evidence = try await record.search { search throws(AuditReadError) in try job.evidence(search) }
        guard let diagnosis = await searches.run(for: job.caller.party, { evidence.diagnose() }) else {
            throw Refusal(LogReadersError.overloaded)
        }
        return try await record.read { connection, index throws(AuditReadError) in
            try job.outcome(of: diagnosis, from: evidence, connection, index)
        }
    }

    private static func authorize(_ text: String?, _ caller: Caller) throws(Refusal) {
        guard let text, !caller.apps.isEmpty else { return }
        guard let bundleID = try? BundleID(text) else {
            throw .request(.invalid([Mismatch(pointer: "/bundleId", offset: 0, message: "is no bundle id")]))
        }
        guard caller.mayAsk(for: AppName(bundleID)) else { throw .caller(.bundleNotAllowed(.bundle(bundleID))) }
    }

    private static func missing(_ pointer: String, _ what: String) -> Refusal {
        .request(.invalid([Mismatch(pointer: pointer, offset: 0, message: "is missing; expected \(what)")]))
    }

    /// The transaction to ask the store about; `nil` if it is not to be asked.
    private static func transaction(_ asked: DiagnosisRequest, _ caller: Caller) throws(Refusal) -> TransactionID? {
        guard asked.asksStore else { return nil }
        guard caller.role.mayAskStore else { throw .caller(.roleNotAllowed(caller.role)) }
        let reported = asked.report.transaction
        let named = (reported?.original ?? reported?.id).flatMap { try? TransactionID($0) }
        guard let transactionID = asked.transactionID ?? named else {
            throw missing(
                "/transactionId",
                "a transaction of the customer to ask the store about, or signedTransaction"
            )
        }
        return transactionID
    }

    /// Asks the App Store once: Get All Subscription Statuses.
    private func ask(
        about transactionID: TransactionID,
        into outcome: inout DiagnosisJob.Outcome,
        under snapshot: Snapshot,
        for caller: Caller,
        at now: Timestamp
    ) async throws(Refusal) -> StoreFacts {
        guard let app = outcome.app.flatMap({ snapshot.catalog.apps[$0] }) else { throw .decision(.unknownOffer(.app)) }
        let question = AppStore.Question(
            transactionID: transactionID,
            app: app,
            environment: nil,
            needs: .subscribedBefore,
            party: caller.party
        )
        let keyID = snapshot.keyRing.activeKey(for: app.bundleID, purpose: .appStoreServerAPI)?.id
        do throws(StoreError) {
            let evidence = try await store.evidence(question, at: now)
            let hasSubscribed = !evidence.statuses.isEmpty || !evidence.transactions.isEmpty
            outcome.judge(hasSubscribed: hasSubscribed)
            outcome.judge(keyID, isAccepted: true)
            return StoreFacts(outcome: "answered", hasSubscribed: hasSubscribed, keyID: keyID)
        } catch {
            if error == .credentialsRefused { outcome.judge(keyID, isAccepted: false) }
            return StoreFacts(outcome: error.label, hasSubscribed: nil, keyID: keyID)
        }
    }
}

extension CallerRole {
    /// Whether this role may ask why a signature was refused.
    fileprivate var mayDiagnose: Bool { self != .app }
    /// Whether this role may have the store asked about a customer.
    fileprivate var mayAskStore: Bool { self == .backend || self == .admin }
}

extension DiagnosisJob.Outcome {
    /// Judges by the store's answer to the key that asked, if that key also made the signature.
    fileprivate mutating func judge(_ keyID: KeyID?, isAccepted: Bool) {
        guard let keyID, diagnosis.signedBy == keyID.text else { return }
        diagnosis.notDecidable.removeAll { ["key-revoked", "key-of-other-team"].contains($0) }
        if !isAccepted { diagnosis.add(.keyRefused, .likely) }
    }

    /// A customer who never subscribed is not eligible for a promotional offer.
    fileprivate mutating func judge(hasSubscribed: Bool) {
        guard !hasSubscribed, [.signedCorrectly, .notEligibleAtStore].contains(diagnosis.verdict) else { return }
        diagnosis.add(.notEligible, .likely)
        diagnosis.verdict = .notEligibleAtStore
    }
}
