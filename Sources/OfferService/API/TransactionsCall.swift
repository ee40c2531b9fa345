// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
import OfferDomain

/// `POST /v1/transactions`: what the App Store signed for a customer, sent before anything is asked for.
package struct TransactionsCall: Sendable {
    private let store: AppStore
    private let committer: Committer

    package init(store: AppStore, committer: Committer) {
        self.store = store
        self.committer = committer
    }

    /// Answers when all of it is durable; what is known already changes nothing.
    func respond(
        to request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticateAsker(request.headers, at: now)
        try request.requireJSON()
        let asked = try TransactionsRequest(request.body)
        try Self.authorize(asked, caller)
        guard let app = snapshot.catalog.apps[asked.bundleID] else { throw .decision(.unknownOffer(.app)) }
        let evidence = try asked.signedData.evidence(store.reader(of: [app]), at: now)
        try evidence.refuseOtherAccount(than: asked.binding, from: caller)
        let report = SubscriptionReport(
            evidence,
            keys: AppPseudonyms(snapshot.pseudonyms, in: AppName(app.bundleID)),
            bundleID: app.bundleID,
            catalog: snapshot.catalog,
            customers: Self.vouchedFor(asked, caller)
        )
        do { _ = try await committer.absorb(report) } catch { throw .service(ServiceFault(error)) }
        return Self.response(accepted: evidence.transactions.count)
    }

    private static func authorize(_ asked: TransactionsRequest, _ caller: Caller) throws(Refusal) {
        let app = AppName(asked.bundleID)
        guard caller.mayAsk(for: app) else { throw .caller(.bundleNotAllowed(.bundle(asked.bundleID))) }
        if asked.customerID != nil, !caller.role.mayAssertFacts {
            throw .caller(.assertionNotAllowed(pointer: "/customerId", caller.role))
        }
    }

    /// The names of the customer that a trusted caller says belong to the transactions.
    private static func vouchedFor(_ asked: TransactionsRequest, _ caller: Caller) -> [CustomerIdentity] {
        guard caller.role.mayAssertFacts else { return [] }
        return CustomerIdentity.vouchedFor(
            customer: asked.customerID,
            anonymous: asked.anonymousID,
            binding: asked.binding
        )
    }

    private static func response(accepted: Int) -> Response {
        var writer = JSONWriter(reserving: 32)
        writer.beginObject()
        writer.name("accepted")
        writer.integer(Int64(accepted))
        writer.endObject()
        return .json(writer.bytes)
    }
}
