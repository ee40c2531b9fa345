// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Ledger
package import OfferDomain

/// One request for offers: where it comes from, and the snapshot that decides about it.
///
/// A class, because it is handed on several times for each request and never changes.
package final class RequestContext: Sendable {
    /// The request as the ledger has it; its idempotency claim is of no offer yet.
    package let origin: DecisionOrigin
    /// The one in force when the request came in.
    package let snapshot: Snapshot
    /// What the app that sent it has proven of itself.
    package let proof: AppProof

    private init(_ origin: DecisionOrigin, under snapshot: Snapshot, _ proof: AppProof) {
        (self.origin, self.snapshot, self.proof) = (origin, snapshot, proof)
    }

    /// A request whose caller waits however long it takes.
    package convenience init(
        id: UniqueID,
        receivedAt: Timestamp,
        snapshot: Snapshot,
        caller: Caller,
        idempotency: IdempotencyClaim? = nil
    ) {
        var origin = DecisionOrigin(requestID: id, receivedAt: receivedAt, caller: caller, catalog: snapshot.catalog)
        origin.idempotency = idempotency
        self.init(origin, under: snapshot, .absent)
    }

    /// UUIDv7; a grant has it too.
    package var id: UniqueID { origin.requestID }
    /// When the request arrived, by this instance's clock; rules count time up to here.
    package var receivedAt: Timestamp { origin.receivedAt }
    /// Who asked.
    package var caller: Caller { origin.caller }
    /// `nil` without an idempotency key.
    package var idempotency: IdempotencyClaim? { origin.idempotency }

    /// The same, for a caller that waits for a limited time.
    func awaited(while isAwaited: @escaping @Sendable () -> Bool) -> RequestContext {
        var origin = origin
        origin.isAwaited = isAwaited
        return RequestContext(origin, under: snapshot, proof)
    }

    /// The same of an app that has proven itself, or has not.
    func with(_ proof: AppProof) -> RequestContext {
        if case .absent = proof { self } else { RequestContext(origin, under: snapshot, proof) }
    }

    /// Whether what the request states of its customer is believed.
    var isBelieved: Bool { caller.role.mayAssertFacts }
    var catalog: Catalog { snapshot.catalog }

    /// The context of one item of a batch.
    func item(_ id: UniqueID, _ idempotency: IdempotencyClaim?) -> RequestContext {
        RequestContext(
            id: id,
            receivedAt: receivedAt,
            snapshot: snapshot,
            caller: caller,
            idempotency: idempotency
        ).with(proof)
    }

    /// The origin of a decision about that offer: with the proof that applies to it, and the claim for it.
    func origin(of offer: CatalogOffer) -> DecisionOrigin {
        var origin = origin
        origin.genuineApp = proof(of: offer)
        origin.idempotency = idempotency?.bound(to: offer)
        return origin
    }
}
