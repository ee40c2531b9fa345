// SPDX-License-Identifier: Apache-2.0
import OfferDomain

extension OfferDecider {
    /// A candidate whose store must be asked first, with its place among the others.
    private typealias Open<Source: KnowledgeSource> = (place: Int, candidate: OfferCandidate<Source>, needs: FactNeeds)

    /// The grants of many requests, in their order, all of them already on disk.
    ///
    /// What the ledger can decide is committed together. The stores are then asked about the others, all at once, and
    /// those are committed together when every store has answered.
    ///
    /// - Throws: What keeps all of them from being decided; then nothing is on disk.
    package func granted<Source: KnowledgeSource>(
        _ candidates: [OfferCandidate<Source>],
        _ idempotency: BatchClaim?,
        _ caller: Caller
    ) async throws(Refusal) -> [Result<Grant, Refusal>] {
        guard !candidates.isEmpty else { return [] }
        let verdicts = try await decided(candidates.map(\.request), idempotency)
        var results: [Result<Grant, Refusal>] = []
        results.reserveCapacity(candidates.count)
        var open: [Open<Source>] = []
        for (candidate, verdict) in zip(candidates, verdicts) {
            if case .success(.storeNeeded(let needs)) = verdict { open.append((results.count, candidate, needs)) }
            results.append(grant(verdict, candidate.request, caller))
        }
        if !open.isEmpty { await ask(about: open, idempotency, caller, &results) }
        return results
    }

    /// Asks the stores and puts what came of it in its place.
    private func ask<Source: KnowledgeSource>(
        about open: [Open<Source>],
        _ idempotency: BatchClaim?,
        _ caller: Caller,
        _ results: inout [Result<Grant, Refusal>]
    ) async {
        var told: [(place: Int, candidate: OfferCandidate<Source>)] = []
        for (place, answer) in await answers(open, caller) {
            switch answer {
            case .success(let candidate): told.append((place, candidate))
            case .failure(let refusal): results[place] = .failure(refusal)
            }
        }
        do throws(Refusal) {
            let grants = try await granted(told.map(\.candidate), idempotency, caller)
            for ((place, _), grant) in zip(told, grants) { results[place] = grant }
        } catch {
            for (place, _) in told { results[place] = .failure(error) }
        }
    }

    /// What each store says, in the order of the places.
    private func answers<Source: KnowledgeSource>(
        _ open: [Open<Source>],
        _ caller: Caller
    ) async -> [(Int, Result<OfferCandidate<Source>, Refusal>)] {
        await withTaskGroup(of: (Int, Result<OfferCandidate<Source>, Refusal>).self) { group in
            for (place, candidate, needs) in open {
                group.addTask {
                    do throws(Refusal) {
                        return (place, .success(try await self.asked(candidate, needs, caller)))
                    } catch {
                        return (place, .failure(error))
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }
        }
    }

    /// What the ledger says of each, out of one commit.
    private func decided(
        _ requests: [DecisionRequest],
        _ idempotency: BatchClaim?
    ) async throws(Refusal) -> [Result<Verdict, LedgerError>] {
        let verdict: BatchVerdict
        do throws(LedgerError) {
            verdict = try await committer.decide(DecisionBatch(requests: requests, idempotency: idempotency))
        } catch {
            // One of them can't be recorded or signed, and the others are to have what they would have alone.
            guard error.isOfOneRequest, requests.count > 1 else { throw .service(fault(error)) }
            var verdicts: [Result<Verdict, LedgerError>] = []
            for request in requests { verdicts.append(await decided(request)) }
            return verdicts
        }
        switch verdict {
        case .decided(let verdicts): return verdicts.map { .success($0) }
        case .idempotencyKeyReused: throw .request(.idempotencyKeyReused)
        }
    }

    private func decided(_ request: DecisionRequest) async -> Result<Verdict, LedgerError> {
        do throws(LedgerError) {
            return .success(try await committer.decide(request))
        } catch {
            return .failure(error)
        }
    }

    private func grant(
        _ verdict: Result<Verdict, LedgerError>,
        _ request: DecisionRequest,
        _ caller: Caller
    ) -> Result<Grant, Refusal> {
        do throws(Refusal) {
            switch verdict {
            case .success(let verdict): return .success(try grant(verdict, request, caller))
            case .failure(let error): throw .service(fault(error))
            }
        } catch {
            return .failure(error)
        }
    }
}
