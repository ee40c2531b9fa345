// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Ledger
package import OfferDomain

/// One request for offers: its caller, its time, and the snapshot that decides about it.
///
/// A class, because it is handed on several times for each request and never changes.
package final class RequestContext: Sendable {
    /// UUIDv7; a grant has it too.
    package let id: UniqueID
    /// When the request arrived, by this instance's clock; rules count time up to here.
    package let receivedAt: Timestamp
    /// The one in force when the request came in.
    package let snapshot: Snapshot
    /// Who asked.
    package let caller: Caller
    /// `nil` without an idempotency key.
    package let idempotency: IdempotencyClaim?
    /// Whether the answer can still be sent; `nil` of a caller that waits however long it takes.
    let isAwaited: (@Sendable () -> Bool)?
    /// What the app that sent it has proven of itself.
    package let proof: AppProof

    package init(
        id: UniqueID,
        receivedAt: Timestamp,
        snapshot: Snapshot,
        caller: Caller,
        idempotency: IdempotencyClaim? = nil
    ) {
        self.id = id
        self.receivedAt = receivedAt
        self.snapshot = snapshot
        self.caller = caller
        self.idempotency = idempotency
        (isAwaited, proof) = (nil, .absent)
    }

    /// The same, for a caller that waits for a limited time.
    init(_ context: RequestContext, while isAwaited: @escaping @Sendable () -> Bool) {
        (id, receivedAt, snapshot) = (context.id, context.receivedAt, context.snapshot)
        (caller, idempotency) = (context.caller, context.idempotency)
        self.isAwaited = isAwaited
        proof = context.proof
    }

    private init(_ context: RequestContext, _ proof: AppProof) {
        (id, receivedAt, snapshot) = (context.id, context.receivedAt, context.snapshot)
        (caller, idempotency, isAwaited) = (context.caller, context.idempotency, context.isAwaited)
        self.proof = proof
    }

    /// The same of an app that has proven itself, or has not.
    func with(_ proof: AppProof) -> RequestContext {
        if case .absent = proof { self } else { RequestContext(self, proof) }
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

    /// The same, as the ledger has it.
    var origin: DecisionOrigin {
        var origin = DecisionOrigin(requestID: id, receivedAt: receivedAt, caller: caller, catalog: catalog)
        origin.idempotency = idempotency
        origin.isAwaited = isAwaited
        return origin
    }

    /// The same, with the proof that applies to that offer.
    func origin(of offer: CatalogOffer) -> DecisionOrigin {
        var origin = origin
        origin.genuineApp = proof(of: offer)
        return origin
    }
}
