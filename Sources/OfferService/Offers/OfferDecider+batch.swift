// SPDX-License-Identifier: Apache-2.0
package import Ledger
import OfferDomain

extension OfferDecider {
    /// A candidate that needs an answer from its store first, with its index among all candidates.
    private typealias Open<Lookup: StoreLookup> = (place: Int, candidate: OfferCandidate<Lookup>, needs: FactNeeds)

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
            if case .success(.storeNeeded(let needs)) = verdict { open.append((results.count, candidate, needs)) }
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
        var answered: [(place: Int, candidate: OfferCandidate<Lookup>)] = []
        for (place, answer) in await answers(open) {
            switch answer {
            case .success(let candidate): answered.append((place, candidate))
            case .failure(let refusal): results[place] = .failure(refusal)
            }
        }
        do throws(Refusal) {
            let grants = try await granted(answered.map(\.candidate), under: claim)
            for ((place, _), grant) in zip(answered, grants) { results[place] = grant }
        } catch {
            for (place, _) in answered { results[place] = .failure(error) }
        }
    }

    /// What each store says, in the order of the places.
    private func answers<Lookup: StoreLookup>(
        _ open: [Open<Lookup>]
    ) async -> [(Int, Result<OfferCandidate<Lookup>, Refusal>)] {
        await withTaskGroup(of: (Int, Result<OfferCandidate<Lookup>, Refusal>).self) { group in
            for (place, candidate, needs) in open {
                group.addTask {
                    do throws(Refusal) {
                        return (place, .success(try await self.fetched(needs, of: candidate)))
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
