// SPDX-License-Identifier: Apache-2.0
import TransparencyLog

extension Committer {
    /// One thing to be written, and the continuation or callback that waits for it.
    ///
    /// One reference, because it is handed on many times.
    enum Job: Sendable {
        case decide(AskedDecision)
        indirect case decideAll(DecisionBatch, CheckedContinuation<Result<BatchVerdict, LedgerError>, Never>)
        /// Without events, it tests whether records can be written again.
        indirect case append([AuditEvent], @Sendable (Result<Void, LedgerError>) -> Void)
        indirect case change(Change, @Sendable (Result<Void, LedgerError>) -> Void)
        indirect case absorb(SubscriptionReport, CheckedContinuation<Result<Absorption, LedgerError>, Never>)
        indirect case transfer(CustomerTransfer, CheckedContinuation<Result<TransferOutcome, LedgerError>, Never>)
        indirect case preview(OfferPreview, CheckedContinuation<Result<[PreviewedOffer], LedgerError>, Never>)
        indirect case keep(LogSignature, @Sendable (Result<CheckpointTable.Keeping, LedgerError>) -> Void)
    }

    /// A request that is decided by itself, and the continuation that waits for it.
    ///
    /// A class: the payload of an enum case would be copied, and its references counted, at each access.
    final class AskedDecision: Sendable {
        let request: DecisionRequest
        let continuation: CheckedContinuation<Result<Verdict, LedgerError>, Never>

        init(_ request: DecisionRequest, _ continuation: CheckedContinuation<Result<Verdict, LedgerError>, Never>) {
            self.request = request
            self.continuation = continuation
        }
    }

    /// The result of one job.
    enum JobResult {
        case decided(Verdict)
        case allDecided(BatchVerdict)
        case absorbed(Absorption)
        case transferred(TransferOutcome)
        case previewed([PreviewedOffer])
        case done
        case kept(CheckpointTable.Keeping)
        /// The job was not done; the rest of the batch was.
        case refused(LedgerError)
    }
}

extension Committer.Job {
    var isPreview: Bool {
        if case .preview = self { true } else { false }
    }

    var isAppend: Bool {
        if case .append = self { true } else { false }
    }

    /// The requests that are decided.
    var requests: [DecisionRequest] {
        switch self {
        case .decide(let asked): [asked.request]
        case .decideAll(let batch, _): batch.requests
        case .append, .change, .absorb, .transfer, .preview, .keep: []
        }
    }

    /// How many requests it is.
    var requestCount: Int {
        if case .decideAll(let batch, _) = self { batch.requests.count } else { 1 }
    }

    /// Whether the whole job is refused because it would store or look up data under one of these secret versions.
    ///
    /// Requests that are decided are refused one by one instead.
    func isUnder(_ versions: Set<String>) -> Bool {
        if versions.isEmpty { return false }
        return switch self {
        case .absorb(let report, _): versions.contains(report.secretVersion)
        case .transfer(let transfer, _): versions.contains(transfer.secretVersion)
        case .preview(let preview, _): preview.versions.contains(where: versions.contains)
        case .decide, .decideAll, .append, .change, .keep: false
        }
    }

    func resume(_ result: Committer.JobResult) {
        switch (self, result) {
        case (_, .refused(let error)): fail(error)
        case (.decide(let asked), .decided(let verdict)): asked.continuation.resume(returning: .success(verdict))
        case (.decideAll(_, let continuation), .allDecided(let verdict)):
            continuation.resume(returning: .success(verdict))
        case (.absorb(_, let continuation), .absorbed(let absorption)):
            continuation.resume(returning: .success(absorption))
        case (.transfer(_, let continuation), .transferred(let outcome)):
            continuation.resume(returning: .success(outcome))
        case (.preview(_, let continuation), .previewed(let offers)):
            continuation.resume(returning: .success(offers))
        case (.append(_, let done), .done), (.change(_, let done), .done): done(.success(()))
        case (.keep(_, let done), .kept(let keeping)): done(.success(keeping))
        case (.decide, _), (.decideAll, _), (.absorb, _), (.transfer, _), (.preview, _),
            (.append, _),
            (.change, _), (.keep, _):
            preconditionFailure("a job has the result of its kind")
        }
    }

    func fail(_ error: LedgerError) {
        switch self {
        case .decide(let asked): asked.continuation.resume(returning: .failure(error))
        case .decideAll(_, let continuation): continuation.resume(returning: .failure(error))
        case .absorb(_, let continuation):
            continuation.resume(returning: .failure(error))
        case .transfer(_, let continuation): continuation.resume(returning: .failure(error))
        case .preview(_, let continuation): continuation.resume(returning: .failure(error))
        case .append(_, let done), .change(_, let done): done(.failure(error))
        case .keep(_, let done): done(.failure(error))
        }
    }
}
