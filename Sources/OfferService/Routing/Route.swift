// SPDX-License-Identifier: Apache-2.0
package import HTTP

/// The calls of the service, by their paths; `{name}` matches one path segment, `{+name}` several.
package enum Route: String, CaseIterable, Hashable, Sendable {
    case promotionalOfferSignature = "/v1/app-store/promotional-offers/signatures"
    case promotionalOfferBatch = "/v1/app-store/promotional-offers/signatures/batch"
    case introductoryOfferSignature = "/v1/app-store/introductory-offers/signatures"
    case appAttestChallenge = "/v1/app-attest/challenges"
    case appAttestKey = "/v1/app-attest/keys"
    case appStoreNotification = "/v1/notifications/app-store"
    case googlePlayNotification = "/v1/notifications/google-play"
    case retentionRequest = "/v1/retention/app-store/{app}"
    case eligibility = "/v1/eligibility"
    case googlePlayAuthorization = "/v1/google-play/offers/authorizations"
    case transactions = "/v1/transactions"
    case customerTransfers = "/v1/customers/transfers"
    case customerAttributes = "/v1/customers/{customerId}/attributes"
    case appAccountTokens = "/v1/app-store/app-account-tokens"
    case grant = "/v1/grants/{grantId}"
    case events = "/v1/events"
    case eventEndpoints = "/v1/events/endpoints"
    case revenueCatOffers = "/compat/revenuecat/v1/offers"
    case qonversionSignature = "/compat/qonversion/v3/users/{userId}/offers/{offerId}/signatures"
    case appleSampleOffer = "/compat/apple-sample/offer"
    case logTile = "/audit/tile/{+path}"
    case auditEntry = "/v1/audit/entries/{index}"
    case auditEntryProof = "/v1/audit/entries/{index}/proof"
    case logCheckpoint = "/audit/checkpoint"
    case logState = "/v1/audit/log"
    case keys = "/v1/keys"
    case disableKey = "/v1/keys/{id}/disable"
    case enableKey = "/v1/keys/{id}/enable"
    case seal = "/v1/seal"
    case unseal = "/v1/unseal"
    case auditEntries = "/v1/audit/entries"
    case reconciliation = "/v1/audit/reconciliation"
    case auditLookups = "/v1/audit/lookups"
    case auditCustomers = "/v1/audit/customers"
    case auditNames = "/v1/audit/names"
    case auditSummary = "/v1/audit/summary"
    case diagnoses = "/v1/diagnoses"
    case live = "/health/live"
    case ready = "/health/ready"
    case metrics = "/metrics"
    case openAPI = "/openapi.yaml"
    /// What each problem means; ``problems`` has all of them.
    case problem = "/problems/{name}"
    case problems = "/problems/"
    case ownCaller = "/v1/callers/self"
    case console = "/console/"
    case consoleFile = "/console/{name}"
    case consoleProviders = "/console/providers"
    case consoleSignIn = "/console/sign-in"
    /// Where identity providers send the browser back to.
    case consoleSignedIn = "/console/signed-in"
    case consoleSignOut = "/console/sign-out"
    /// The console's path without its last slash, as people type it.
    case consoleRedirect = "/console"
    /// Any other path; metrics count all of them together.
    case unknown = "other"

    /// The methods of the call, for `Allow` in a 405 (RFC 9110, 10.2.1); none where there is no call.
    package var allowedMethods: [HTTP.Method] {
        switch self {
        case .promotionalOfferSignature, .promotionalOfferBatch, .introductoryOfferSignature, .appStoreNotification,
            .eligibility, .googlePlayAuthorization, .googlePlayNotification, .retentionRequest, .transactions,
            .customerTransfers, .appAccountTokens, .appAttestChallenge, .appAttestKey,
            .revenueCatOffers, .qonversionSignature, .appleSampleOffer, .disableKey, .enableKey, .unseal, .auditLookups,
            .auditCustomers, .diagnoses, .consoleSignOut:
            [.post]
        case .customerAttributes: [.get, .put, .delete]
        case .keys: [.get, .head]
        case .seal: [.get, .head, .post]
        case .reconciliation, .consoleProviders, .consoleSignIn, .consoleSignedIn: [.get]
        case .auditEntry, .auditEntryProof, .grant, .events: [.get]
        case .live, .ready, .metrics, .openAPI, .logTile, .problem, .problems: [.get, .head]
        case .logCheckpoint, .logState: [.get, .head]
        case .auditEntries, .auditSummary, .auditNames, .eventEndpoints: [.get]
        case .ownCaller, .console, .consoleFile, .consoleRedirect: [.get, .head]
        case .unknown: []
        }
    }
}
