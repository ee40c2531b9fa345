// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import Stores

/// `POST /v1/transactions`: what the App Store signed for a customer, sent before anything is asked for.
struct TransactionsCall: Sendable {
    let store: AppStore
    let admission: Admission
    let committer: Committer

    /// Answers when all of it is durable; what is known already changes nothing.
    func respond(
        to request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try await admission.asker(request, snapshot, at: now)
        let places = try admission.enter(caller)
        defer { places.leave() }
        try request.requireJSON()
        let asked = try TransactionsRequest(request.body)
        try Self.authorize(asked, caller)
        guard let app = snapshot.catalog.apps[asked.bundleID] else { throw .decision(.unknownOffer(.app)) }
        try snapshot.catalog.customerPolicy(of: AppName(app.bundleID)).admit(asked.customerID)
        let evidence = try await store.verified(
            asked.signedData,
            of: app.bundleID,
            in: snapshot.catalog,
            for: caller.party,
            at: now
        )
        let names = StatedNames(asked.customerID, binding: asked.binding, of: caller.user)
        try evidence.refuseOtherAccount(than: names.binding, from: caller)
        let report = SubscriptionReport(
            evidence,
            keys: AppPseudonyms(snapshot.pseudonyms, in: AppName(app.bundleID)),
            bundleID: app.bundleID,
            catalog: snapshot.catalog,
            customers: Self.vouchedFor(asked, caller)
        )
        do { _ = try await committer.absorb(report) } catch { throw .service(ServiceFault(error)) }
        return .json(["accepted": .integer(evidence.transactions.count)])
    }

    private static func authorize(_ asked: TransactionsRequest, _ caller: Caller) throws(Refusal) {
        let app = AppName(asked.bundleID)
        guard caller.mayAsk(for: app) else { throw .caller(.bundleNotAllowed(.bundle(asked.bundleID))) }
        let stated = asked.customerID == nil ? [] : ["/customerId"]
        let names = StatedNames(asked.customerID, binding: asked.binding, assertions: stated, of: caller.user)
        if !caller.role.mayAssertFacts, let assertion = names.assertions.first {
            throw .caller(.assertionNotAllowed(pointer: assertion, caller.role))
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
}
