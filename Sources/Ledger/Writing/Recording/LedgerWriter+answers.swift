// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
import ServiceRuntime

// MARK: - Answers to requests that may come again

extension LedgerWriter {
    /// The answer under an idempotency key; `nil` if the key is unknown or belongs to another request.
    func answer(under claim: IdempotencyClaim, at now: Timestamp) throws(LedgerError) -> [UInt8]? {
        guard let kept = try keptAnswer(under: claim, at: now), kept.requestDigest == claim.requestDigest else {
            return nil
        }
        return kept.json
    }

    /// Keeps an answer, unless another request has kept one under the key; returns the one that counts.
    ///
    /// A request may replace its own answer. The service keeps `shown` until its outcome is known.
    func keep(
        _ answer: [UInt8],
        _ shown: ShownAnswer,
        under claim: IdempotencyClaim,
        requestID: UniqueID,
        at now: Timestamp
    ) throws(LedgerError) -> [UInt8] {
        if let kept = try keptAnswer(under: claim, at: now), kept.id != requestID {
            return kept.requestDigest == claim.requestDigest ? kept.json : answer
        }
        try remember(answer, id: requestID, nonce: requestID, at: now, under: claim)
        try note(shown, requestID: requestID, at: now)
        return answer
    }
}

extension Committer {
    /// The earlier answer under an idempotency key; `nil` if the key is unknown or belongs to another request.
    package func answer(under claim: IdempotencyClaim, at now: Timestamp) async throws(LedgerError) -> [UInt8]? {
        let found = Guarded<[UInt8]?>(nil)
        try await look { writer throws(LedgerError) in
            let answer = try writer.answer(under: claim, at: now)
            found.withLock { $0 = answer }
        }
        return found.withLock { $0 }
    }

    /// Keeps an answer, unless another request has kept one under the key; returns the one that counts, once durable.
    ///
    /// A request may replace its own answer.
    package func keep(
        _ answer: [UInt8],
        _ shown: ShownAnswer,
        under claim: IdempotencyClaim,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(LedgerError) -> [UInt8] {
        let kept = Guarded(answer)
        try await look { writer throws(LedgerError) in
            let counts = try writer.keep(answer, shown, under: claim, requestID: requestID, at: now)
            kept.withLock { $0 = counts }
        }
        return kept.withLock { $0 }
    }
}
