// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain

extension Committer {
    /// The verdicts on requests that one caller sent together, one for each request.
    func verdict(on batch: DecisionBatch, _ writer: LedgerWriter) throws(LedgerError) -> BatchVerdict {
        var kept: [[UInt8]: LedgerWriter.KeptAnswer] = [:]
        if let claim = batch.idempotency, let first = batch.requests.first {
            guard let found = try writer.keptAnswers(under: claim, at: first.receivedAt) else {
                return .idempotencyKeyReused
            }
            kept = found
        }
        var verdicts: [Verdict] = []
        verdicts.reserveCapacity(batch.requests.count)
        for request in batch.requests {
            let answer = kept.isEmpty ? nil : request.idempotency.flatMap { kept[$0.keyDigest] }
            if let stop = stop(of: request, writer) {
                verdicts.append(.stopped(stop))
            } else {
                verdicts.append(try writer.decide(request, after: answer))
            }
        }
        return .decided(verdicts)
    }

    /// The verdict on one request.
    func verdict(on request: DecisionRequest, _ writer: LedgerWriter) throws(LedgerError) -> Verdict {
        if let isAwaited = request.origin.isAwaited, !isAwaited() { return .tooLate }
        if let stop = stop(of: request, writer) { return .stopped(stop) }
        return try writer.decide(request)
    }

    private func stop(of request: DecisionRequest, _ writer: LedgerWriter) -> KeyStop? {
        // Newer grants are kept under a name that this request does not know, so its caps would not hold.
        if writer.outdatedVersions.contains(request.secretVersion) { return .outdatedSecret }
        return switch request.grantable {
        case .signature(let plan): keyUseGuard.stop(of: plan.key.id)
        case .authorization: keyUseGuard.stop(of: nil)
        case .preview: nil
        }
    }
}
