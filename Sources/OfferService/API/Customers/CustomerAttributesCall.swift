// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime

/// `PUT`, `GET` and `DELETE /v1/customers/{customerId}/attributes`: attributes and facts that a backend stores of a customer,
/// so that an app's own requests are decided on them too.
struct CustomerAttributesCall: Sendable {
    let admission: Admission
    let committer: Committer

    /// Answers a backend; a change once it is durable.
    func respond(
        to request: Request,
        _ match: RouteMatch,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try await admission.asker(request, snapshot, at: now)
        guard caller.role.mayAssertFacts else { throw .caller(.roleNotAllowed(caller.role)) }
        let (catalog, pseudonyms) = (snapshot.catalog, snapshot.pseudonyms)
        let app = try Self.app(namedBy: request.query, for: caller, in: catalog)
        let customer = try Self.customer(match, catalog.customerPolicy(of: app.name))
        let user = pseudonyms.pseudonym(of: .customer(customer), in: app.name)
        var new: AttributeChange.New?
        switch request.method {
        case .put: new = try AttributesToStore(request, for: app.name, in: catalog, at: now).new
        case .delete: break
        default:
            return try await answer { committer throws(LedgerError) in
                try await committer.attributes(of: user, secretVersion: pseudonyms.secretVersion, at: now)
            }
        }
        let change = AttributeChange(
            user: user,
            secretVersion: pseudonyms.secretVersion,
            app: app,
            callerID: caller.id,
            new: new
        )
        return try await answer { committer throws(LedgerError) in try await committer.change(change, at: now) }
    }

    /// Answers with what is stored, or was until it was deleted.
    private func answer(
        _ ask: (Committer) async throws(LedgerError) -> StoredAttributes?
    ) async throws(Refusal) -> Response {
        let stored: StoredAttributes?
        do { stored = try await ask(committer) } catch { throw .service(ServiceFault(error)) }
        guard let stored else { throw .request(.noSuchAttributes) }
        return Self.response(stored)
    }

    private static func response(_ stored: StoredAttributes) -> Response {
        .json([
            "attributes": stored.attributes.map { .written($0.json) },
            "facts": stored.facts.map { .written($0.json) },
            "storedAt": .instant(stored.storedAt),
            "expiresAt": .instant(stored.expiresAt),
        ])
    }

    /// The app that the query names, by its name in one store.
    private static func app(
        namedBy query: [UInt8]?,
        for caller: Caller,
        in catalog: Catalog
    ) throws(Refusal) -> AppInStores {
        var parameters = QueryParameters(query)
        let bundleID = parameters.value("bundleId", expecting: "a bundle ID") { try? BundleID($0) }
        let packageName = parameters.value("packageName", expecting: "a package name") { try? PackageName($0) }
        try parameters.finish()
        let named: NamedApp
        switch (bundleID, packageName) {
        case (let id?, nil): named = .bundle(id)
        case (nil, let name?): named = .package(name)
        case (nil, nil), (_?, _?):
            let fault = ParameterFault("bundleId", "or packageName must name the app, one of the two")
            throw .request(.invalidParameters([fault]))
        }
        let name = bundleID.map { AppName($0) } ?? packageName.map(catalog.ledgerName)
        guard let name, caller.mayAsk(for: name) else { throw .caller(.bundleNotAllowed(named)) }
        guard let app = AppInStores(name, in: catalog) else {
            throw .decision(.unknownOffer(bundleID == nil ? .package : .app))
        }
        return app
    }

    private static func customer(_ match: RouteMatch, _ policy: CustomerPolicy) throws(Refusal) -> CustomerID {
        let customer: CustomerID
        do {
            customer = try CustomerID(utf8: match.parameters.first.flatMap(PercentEncoding.decoded) ?? [])
        } catch {
            throw .request(.invalidParameters([ParameterFault("customerId", "\(error)")]))
        }
        if let fault = policy.fault(of: customer) {
            throw .request(.invalidParameters([ParameterFault("customerId", fault)]))
        }
        return customer
    }
}
