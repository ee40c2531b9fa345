// SPDX-License-Identifier: Apache-2.0
import HTTP

/// Answers only health, metrics and administration calls, on a separate listener that keeps working whatever happens at
/// the other one, and that only operators can reach.
struct AdministrationResponder: Responder {
    let api: API

    func respond(to request: Request) async -> Response {
        guard RouteMatch(path: request.path).route.isOfAdministration else {
            return Problem(.request(.noSuchPath)).response(requestID: nil)
        }
        return await api.respond(to: request)
    }

    func turnEnded() { api.turnEnded() }
}

extension Route {
    /// Whether it is for those who run the service, or read its records.
    var isOfAdministration: Bool {
        switch self {
        case .promotionalOfferSignature, .promotionalOfferBatch, .introductoryOfferSignature, .appStoreNotification,
            .googlePlayNotification, .retentionRequest, .eligibility, .googlePlayAuthorization, .transactions,
            .customerTransfers, .customerAttributes, .appAccountTokens, .appAttestChallenge, .appAttestKey,
            .revenueCatOffers, .qonversionSignature, .appleSampleOffer, .grant, .events, .unknown:
            false
        case .logTile, .auditEntry, .auditEntryProof, .logCheckpoint, .logState, .keys, .disableKey, .enableKey, .seal,
            .unseal, .auditEntries, .reconciliation, .auditLookups, .auditSummary, .auditCustomers, .auditNames,
            .eventEndpoints, .diagnoses, .live,
            .ready, .metrics, .openAPI, .problem, .problems, .ownCaller, .console, .consoleFile, .consoleRedirect,
            .consoleProviders, .consoleSignIn, .consoleSignedIn, .consoleSignOut:
            true
        }
    }
}
