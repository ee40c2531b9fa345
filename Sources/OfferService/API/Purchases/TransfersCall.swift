// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime

/// `POST /v1/customers/transfers`: an anonymous customer has logged in.
struct TransfersCall: Sendable {
    let admission: Admission
    let committer: Committer

    /// Answers when it is durable; a second time changes nothing and says so.
    func respond(
        to request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try await admission.asker(request, snapshot, at: now)
        guard caller.role.mayAssertFacts || caller.user != nil else {
            throw .caller(.roleNotAllowed(caller.role))
        }
        let places = try admission.enter(caller)
        defer { places.leave() }
        try request.requireJSON()
        let asked = try TransfersRequest(request.body)
        if let user = caller.user, user.customerID != asked.to {
            throw .caller(.assertionNotAllowed(pointer: "/to/customerId", caller.role))
        }
        let app = try Self.app(of: asked, from: caller, in: snapshot.catalog)
        try snapshot.catalog.customerPolicy(of: app.name).admit(asked.to, pointer: "/to/customerId")
        let transfer = Self.transfer(asked, in: app, by: caller, under: snapshot)
        let outcome: TransferOutcome
        do { outcome = try await committer.transfer(transfer) } catch { throw .service(ServiceFault(error)) }
        switch outcome {
        case .transferred(let instant, let isRepeated): return Self.response(instant, isRepeated: isRepeated)
        case .tooManyLinks(.from):
            throw .request(.tooManyTransfers(pointer: "/from/anonymousId", limit: transfer.mostCustomers))
        case .tooManyLinks(.to):
            throw .request(.tooManyTransfers(pointer: "/to/customerId", limit: CustomerPolicy.mostLinks))
        }
    }

    /// The app, by its names in the stores; the caller gets the same refusal for a forbidden app as for an unknown one.
    private static func app(
        of asked: TransfersRequest,
        from caller: Caller,
        in catalog: Catalog
    ) throws(Refusal) -> AppInStores {
        let byBundle = asked.bundleID.map { AppName($0) }
        let byPackage = asked.packageName.map { catalog.ledgerName(of: $0) }
        if let byBundle, let id = asked.bundleID, !caller.mayAsk(for: byBundle) {
            throw .caller(.bundleNotAllowed(.bundle(id)))
        }
        if let byPackage, let name = asked.packageName, !caller.mayAsk(for: byPackage) {
            throw .caller(.bundleNotAllowed(.package(name)))
        }
        if let bundleID = asked.bundleID, catalog.apps[bundleID] == nil { throw .decision(.unknownOffer(.app)) }
        if let packageName = asked.packageName, catalog.googlePlayApps[packageName] == nil {
            throw .decision(.unknownOffer(.package))
        }
        if let byBundle, let byPackage, byBundle != byPackage {
            let mismatch = Mismatch(pointer: "/packageName", offset: 0, message: "differs from the app of /bundleId")
            throw .request(.invalid([mismatch]))
        }
        guard let name = byBundle ?? byPackage, let app = AppInStores(name, in: catalog) else {
            throw .decision(.unknownOffer(.app))
        }
        return app
    }

    private static func transfer(
        _ asked: TransfersRequest,
        in app: AppInStores,
        by caller: Caller,
        under snapshot: Snapshot
    ) -> CustomerTransfer {
        var transfer = CustomerTransfer(
            from: asked.from,
            to: asked.to,
            app: app,
            callerID: caller.id,
            under: snapshot.evidence
        )
        transfer.isVouched = caller.role.mayAssertFacts
        return transfer
    }

    private static func response(_ transferredAt: Timestamp, isRepeated: Bool) -> Response {
        .json(["transferredAt": .instant(transferredAt), "isRepeated": .boolean(isRepeated)])
    }
}
