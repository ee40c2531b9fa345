// SPDX-License-Identifier: Apache-2.0
package import Ledger
import OfferDomain

extension OfferDecider {
    /// A request that needs an answer from its store first, with its index among all requests.
    private struct Open<Lookup: StoreLookup> {
        let index: Int
        let request: DecisionRequest
        let lookup: Lookup
        let needs: FactNeeds
    }

    /// The request with its store's answer, with its index among all requests.
    private struct Answered {
        let index: Int
        let result: Result<DecisionRequest, Refusal>
    }

    /// The grants of many requests, in their order, all of them already on disk.
    ///
    /// What the ledger can decide is committed together. The stores are then asked about the others, all at once, and
    /// those are committed together when every store has answered. The lookup at each index is that of the request there.
    ///
    /// - Throws: What keeps all of them from being decided; then nothing is on disk.
    package func granted<Lookup: StoreLookup>(
        _ requests: [DecisionRequest],
        asking lookups: [Lookup],
        under claim: BatchClaim?
    ) async throws(Refusal) -> [Result<Grant, Refusal>] {
        guard !requests.isEmpty else { return [] }
        let verdicts = try await decided(requests, under: claim)
        var results: [Result<Grant, Refusal>] = []
        results.reserveCapacity(requests.count)
        var open: [Open<Lookup>] = []
        for (request, verdict) in zip(requests, verdicts) {
            if case .success(.storeNeeded(let needs)) = verdict {
                let index = results.count
                open.append(Open(index: index, request: request, lookup: lookups[index], needs: needs))
            }
            results.append(grant(verdict, to: request))
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
        var answered: [(index: Int, request: DecisionRequest)] = []
        for answer in await answers(open) {
            switch answer.result {
            case .success(let request): answered.append((answer.index, request))
            case .failure(let refusal): results[answer.index] = .failure(refusal)
            }
        }
        guard !answered.isEmpty else { return }
        do throws(Refusal) {
            let verdicts = try await decided(answered.map(\.request), under: claim)
            for (answer, verdict) in zip(answered, verdicts) {
                results[answer.index] = grant(verdict, to: answer.request)
            }
        } catch {
            for answer in answered { results[answer.index] = .failure(error) }
        }
    }

    /// What each store says, in the order of the requests.
    private func answers<Lookup: StoreLookup>(_ open: [Open<Lookup>]) async -> [Answered] {
        await withTaskGroup(of: Answered.self) { group in
            for each in open {
                // Swift 6.3 with -O loses the index if this closure makes a tuple of it and of what it awaits.
                group.addTask { Answered(index: each.index, result: await self.answer(each)) }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.index < $1.index }
        }
    }

    private func answer<Lookup: StoreLookup>(_ open: Open<Lookup>) async -> Result<DecisionRequest, Refusal> {
        do throws(Refusal) {
            return .success(try await fetch(open.needs, for: open.request, by: open.lookup))
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
