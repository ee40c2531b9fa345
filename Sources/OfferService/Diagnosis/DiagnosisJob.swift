// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Ledger
import OfferDomain
import SignatureDiagnosis
import Storage
import TransparencyLog

/// Finds out why a signature was refused, with what the log and the ledger know.
///
/// What is on record is read before and after the search, which computes for up to 0.2 s and needs nothing of it meanwhile.
struct DiagnosisJob: Sendable {
    let request: DiagnosisRequest
    let snapshot: Snapshot
    let caller: Caller
    let now: Timestamp

    /// What was found.
    struct Outcome: Sendable {
        var report: SignatureReport
        var diagnosis: Diagnosis
        var record = RecordFacts()
        var ledger: LedgerFacts?
        /// The key that made a signature that is not on record.
        var unrecordedKey: KeyID?
        /// Of the signature itself, as far as one could be read: by it, reports of the same signature are known.
        var digest: SHA256Digest?
        var app: BundleID?
    }

    /// The report, with what the log knows of it and what may be used to explain it.
    struct Evidence: Sendable {
        fileprivate let report: SignatureReport
        fileprivate let entries: [RecordedSignature]
        fileprivate let knowledge: DiagnosisKnowledge

        /// Searches for the payload that was signed.
        func diagnose() -> Diagnosis { SignatureDiagnoser(knowledge).diagnose(report) }
    }

    /// Reads what the search needs; on a thread that may block.
    func evidence(_ search: AuditSearch) throws(AuditReadError) -> Evidence {
        var report = request.report
        let named = try search.signatures(of: request).filter(isInScope)
        let original = named.first(where: \.isOriginal) ?? named.first
        if let original { report.fill(from: original.fields) }
        let others =
            named.isEmpty ? try search.signatures(at: report.effective.timestamp).filter(isInScope) : []
        let entries = named + others
        return Evidence(report: report, entries: entries, knowledge: try knowledge(of: entries, report, search))
    }

    /// Adds what log and ledger know of what was found; on a thread that may block.
    func outcome(
        of diagnosis: Diagnosis,
        from evidence: Evidence,
        _ connection: any DatabaseConnection,
        _ index: AuditIndex
    ) throws(AuditReadError) -> Outcome {
        let search = try AuditSearch(connection: connection, format: index.format, tail: index.tail)
        var outcome = Outcome(report: evidence.report, diagnosis: diagnosis)
        outcome.app = evidence.report.bundleID.flatMap { try? BundleID($0) }
        outcome.digest = evidence.report.signatureDigest
        try judge(evidence.entries, into: &outcome, in: search)
        try ask(connection, &outcome)
        return outcome
    }

    private func isInScope(_ entry: RecordedSignature) -> Bool {
        guard !caller.apps.isEmpty else { return true }
        return entry.bundleID.flatMap { try? BundleID($0) }.map { caller.mayAsk(for: AppName($0)) } ?? false
    }

    // MARK: - What may be used

    private func knowledge(
        of entries: [RecordedSignature],
        _ report: SignatureReport,
        _ search: AuditSearch
    ) throws(AuditReadError) -> DiagnosisKnowledge {
        var knowledge = DiagnosisKnowledge()
        knowledge.now = now.milliseconds
        let keys = snapshot.keyRing.keys.filter { key in
            caller.apps.isEmpty || key.bundleIDs.contains { caller.mayAsk(for: AppName($0)) }
        }
        knowledge.keys = keys.compactMap { key in
            key.privateKey.map {
                KnownKey(id: key.id.text, publicKey: $0.publicKey, issuerID: key.issuerID.description)
            }
        }
        for key in keys where key.privateKey == nil {
            if let pin = key.pin { knowledge.pins.append(KnownPin(id: key.id.text, digest: pin)) }
        }
        if caller.apps.isEmpty {
            knowledge.pins += try search.loadedKeys().map { KnownPin(id: $0.value.text, digest: $0.key) }
        }
        addNames(to: &knowledge, report.bundleID)
        knowledge.recordedNonces = entries.compactMap(\.nonce)
        knowledge.recordedTimestamps = entries.compactMap { $0.timestamp.map { String($0) } }
        return knowledge
    }

    /// The names of the caller's apps; those of the report's app first, because the search is limited.
    private func addNames(to knowledge: inout DiagnosisKnowledge, _ bundleID: String?) {
        let offers = snapshot.catalog.offers.filter { offer in
            offer.appStore.map { caller.mayAsk(for: AppName($0.bundleID)) } ?? false
        }
        let listings = offers.compactMap { offer in offer.appStore.map { (offer.id.text, $0) } }
        let own = listings.filter { $0.1.bundleID.text == bundleID }
        for (name, listing) in own + listings.filter({ $0.1.bundleID.text != bundleID }) {
            knowledge.add(listing, named: name)
        }
    }

    // MARK: - What the record says

    private func judge(
        _ entries: [RecordedSignature],
        into outcome: inout Outcome,
        in search: AuditSearch
    ) throws(AuditReadError) {
        for signed in outcome.diagnosis.signedDigests.map(\.hex) {
            if let entry = entries.first(where: { $0.digest == signed }) {
                try describe(entry, into: &outcome, in: search)
            } else {
                try judge(unnamed: signed, into: &outcome, in: search)
            }
            // An unrecorded signature by one of our keys matters more than a recorded one of the other form.
            if outcome.record.state == .madeByOurKey { break }
        }
        if outcome.diagnosis.signedDigests.isEmpty, let entry = entries.first {
            outcome.record.state = .otherwise
            outcome.record.take(entry)
        }
        if let digest = outcome.digest?.hex {
            outcome.record.earlierReports = try search.count(.signatureDiagnosed, digest: digest)
        }
        outcome.judgeReuse()
    }

    /// Another nonce than was reported; the digest alone may be on record.
    private func judge(
        unnamed signed: String,
        into outcome: inout Outcome,
        in search: AuditSearch
    ) throws(AuditReadError) {
        let found = try search.first(1, [.event: AuditEventName.signIntent.rawValue, .digest: signed])
        if let entry = found.first.flatMap({ RecordedSignature($0) }) {
            if isInScope(entry) { try describe(entry, into: &outcome, in: search) }
        } else {
            outcome.record = RecordFacts()
            outcome.record.state = .madeByOurKey
            outcome.unrecordedKey = try signer(of: outcome.diagnosis, search)
            outcome.diagnosis.add(.notOnRecord)
        }
    }

    private func signer(of diagnosis: Diagnosis, _ search: AuditSearch) throws(AuditReadError) -> KeyID? {
        if let id = diagnosis.signedBy { return try? KeyID(id) }
        guard let digest = diagnosis.recoveredKey.flatMap({ SHA256Digest(hex: $0) }) else { return nil }
        if let key = snapshot.keyRing.keys.first(where: { $0.pin == digest }) { return key.id }
        return try search.loadedKeys()[digest]
    }

    private func describe(
        _ entry: RecordedSignature,
        into outcome: inout Outcome,
        in search: AuditSearch
    ) throws(AuditReadError) {
        outcome.record.state = .recorded
        outcome.record.take(entry)
        outcome.record.signings = try search.count(.signIntent, digest: entry.digest ?? "")
        if let signedAt = entry.timestamp, let attempt = outcome.report.attemptedAtMilliseconds {
            outcome.record.isExpired = attempt - signedAt > 24 * 3_600_000
        }
    }

    // MARK: - What the ledger says

    private func ask(_ connection: any DatabaseConnection, _ outcome: inout Outcome) throws(AuditReadError) {
        do throws(StorageError) {
            if let grantID = outcome.record.grantID.flatMap({ UniqueID($0) }) {
                outcome.record.redemption = try LedgerFacts.redemption(of: grantID, connection)
                outcome.judgeReuse()
            }
            guard let app = outcome.app, snapshot.catalog.apps[app] != nil else { return }
            let keys = AppPseudonyms(snapshot.pseudonyms, in: AppName(app))
            outcome.ledger = try LedgerFacts(about: outcome, keys: keys, connection: connection)
        } catch {
            throw .database(error)
        }
        outcome.judgeLedger()
    }
}

extension DiagnosisKnowledge {
    /// Adds what one offer is called.
    fileprivate mutating func add(_ listing: AppStoreListing, named name: String) {
        func append(_ text: String, to list: inout [String]) { if !list.contains(text) { list.append(text) } }
        append(listing.bundleID.text, to: &bundleIDs)
        append(listing.productID.text, to: &productIDs)
        if let offerID = listing.offerID?.text {
            append(offerID, to: &offerIDs)
            offersByProduct[listing.productID.text, default: []].insert(offerID)
        }
        append(name, to: &offerIDs)
    }
}
