// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import Ledger
import OfferDomain

/// `POST /v1/app-store/promotional-offers/signatures/batch`: many requests in one, each with an answer of its own.
struct SignatureBatchCall: Sendable {
    let signer: SignOffer
    let admission: Admission
    let decisions: DecisionLog
    let random: any RandomSource
    let traffic: MinuteCounter<UnauthenticatedTraffic>
    let metrics: Metrics

    func respond(
        to request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try await admission.asker(request, snapshot, at: now)
        let places = try admission.enter(caller)
        defer { places.leave() }
        try request.requireJSON()
        let key = try request.idempotencyKey()
        let batch = try SignatureBatch(
            request.body,
            idempotency: key.map { BatchClaim(of: caller, key: $0, body: request.body) },
            by: caller.user,
            random: random,
            receivedAt: now
        )
        // The first of them was let in as it came.
        try admission.admitItems(caller, batch.items.count)
        let morePlaces = try admission.enter(caller, batch.items.count - 1)
        defer { morePlaces.leave() }
        // A batch has no id of its own. A refusal of the whole batch is logged under the id of its first request.
        var context = RequestContext(id: batch.items[0].id, receivedAt: now, snapshot: snapshot, caller: caller)
        context = try await signer.genuineApps.examined(context, request, about: batch.provableApps)
        let results: [Result<SignedOffer, Refusal>]
        do throws(Refusal) {
            results = try await signer.sign(batch, in: context)
        } catch {
            decisions.refused(error, "a batch", in: context)
            throw error
        }
        decisions.decided(batch, results, in: context)
        let answer = SignatureBatchAnswer(batch, results, showsFindings: signer.showsFindings(to: caller))
        for problem in answer.unrecorded {
            traffic.count(UnauthenticatedTraffic(route: .offers(.promotionalOfferBatch), problem: problem), at: now)
        }
        for (status, count) in answer.statuses { metrics.count(.batchItems(status: status), by: count) }
        return .json(answer.bytes)
    }
}
