// SPDX-License-Identifier: Apache-2.0
package import Ledger
import OfferDomain

extension OfferDecider {
    /// A candidate that needs an answer from its store first, with its index among all candidates.
    private struct Open<Lookup: StoreLookup> {
        let index: Int
        let candidate: OfferCandidate<Lookup>
        let needs: FactNeeds
    }

    /// The candidate with its store's answer, with its index among all candidates.
    private struct Answered<Lookup: StoreLookup> {
        let index: Int
        let result: Result<OfferCandidate<Lookup>, Refusal>
    }

    /// The grants of many requests, in their order, all of them already on disk.
    ///
    /// What the ledger can decide is committed together. The stores are then asked about the others, all at once, and
    /// those are committed together when every store has answered.
    ///
    /// - Throws: What keeps all of them from being decided; then nothing is on disk.
    package func granted<Lookup: StoreLookup>(
        _ candidates: [OfferCandidate<Lookup>],
        under claim: BatchClaim?
    ) async throws(Refusal) -> [Result<Grant, Refusal>] {
        guard !candidates.isEmpty else { return [] }
        let verdicts = try await decided(candidates.map(\.request), under: claim)
        var results: [Result<Grant, Refusal>] = []
        results.reserveCapacity(candidates.count)
        var open: [Open<Lookup>] = []
        for (candidate, verdict) in zip(candidates, verdicts) {
            if case .success(.storeNeeded(let needs)) = verdict {
                open.append(Open(index: results.count, candidate: candidate, needs: needs))
            }
            results.append(grant(verdict, to: candidate.request))
        }
        if !open.isEmpty { await ask(about: open, under: claim, into: &results) }
        return results
    }

    /// Asks the stores and puts what came of it in its place.
    private func ask<Lookup: StoreLookup>(
        about open: [Open<Lookup>],
        under claim: BatchClaim?,
        into results: inout [Result<Grant, Refusal>]
    ) async {
        var answered: [(index: Int, candidate: OfferCandidate<Lookup>)] = []
        for answer in await answers(open) {
            switch answer.result {
            case .success(let candidate): answered.append((answer.index, candidate))
            case .failure(let refusal): results[answer.index] = .failure(refusal)
            }
        }
        do throws(Refusal) {
            let grants = try await granted(answered.map(\.candidate), under: claim)
            for (answer, grant) in zip(answered, grants) { results[answer.index] = grant }
        } catch {
            for answer in answered { results[answer.index] = .failure(error) }
        }
    }

    /// What each store says, in the order of the candidates.
    private func answers<Lookup: StoreLookup>(_ open: [Open<Lookup>]) async -> [Answered<Lookup>] {
        await withTaskGroup(of: Answered<Lookup>.self) { group in
            for each in open {
                // Swift 6.3 with -O loses the index if this closure makes a tuple of it and of what it awaits.
                group.addTask { Answered(index: each.index, result: await self.answer(each)) }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.index < $1.index }
        }
    }

    private func answer<Lookup: StoreLookup>(
        _ open: Open<Lookup>
    ) async -> Result<OfferCandidate<Lookup>, Refusal> {
        do throws(Refusal) {
            return .success(try await fetched(open.needs, of: open.candidate))
        } catch {
            return .failure(error)
        }
    }

    /// What the ledger says of each, out of one commit.
    private func decided(
        _ requests: [DecisionRequest],
        under claim: BatchClaim?
    ) async throws(Refusal) -> [Result<Verdict, LedgerError>] {
        let verdict: BatchVerdict
        do throws(LedgerError) {
            verdict = try await committer.decide(DecisionBatch(requests: requests, idempotency: claim))
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
        to request: DecisionRequest
    ) -> Result<Grant, Refusal> {
        do throws(Refusal) {
            switch verdict {
            case .success(let verdict): return .success(try grant(verdict, to: request))
            case .failure(let error): throw .service(fault(error))
            }
        } catch {
            return .failure(error)
        }
    }
}
