// SPDX-License-Identifier: Apache-2.0
package import HTTP

/// The calls about one topic, by their paths; `{name}` matches one path segment, `{+name}` several.
package protocol TopicRoute: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// See ``Route/allowedMethods``.
    var allowedMethods: [HTTP.Method] { get }
}

/// The calls that decide about offers.
package enum OfferRoute: String, TopicRoute {
    case promotionalOfferSignature = "/v1/app-store/promotional-offers/signatures"
    case promotionalOfferBatch = "/v1/app-store/promotional-offers/signatures/batch"
    case introductoryOfferSignature = "/v1/app-store/introductory-offers/signatures"
    case eligibility = "/v1/eligibility"
    case googlePlayAuthorization = "/v1/google-play/offers/authorizations"

    package var allowedMethods: [HTTP.Method] { [.post] }
}

/// The calls of other vendors' SDKs, which decide about offers too.
package enum CompatibilityRoute: String, TopicRoute {
    case revenueCatOffers = "/compat/revenuecat/v1/offers"
    case qonversionSignature = "/compat/qonversion/v3/users/{userId}/offers/{offerId}/signatures"
    case appleSampleOffer = "/compat/apple-sample/offer"

    package var allowedMethods: [HTTP.Method] { [.post] }
}

/// The calls that the stores make.
package enum StoreRoute: String, TopicRoute {
    case appStoreNotification = "/v1/notifications/app-store"
    case googlePlayNotification = "/v1/notifications/google-play"
    case retentionRequest = "/v1/retention/app-store/{app}"

    package var allowedMethods: [HTTP.Method] { [.post] }
}

/// The calls about the customers of purchases, and what else is known of customers.
package enum CustomerRoute: String, TopicRoute {
    case transactions = "/v1/transactions"
    case transfers = "/v1/customers/transfers"
    case attributes = "/v1/customers/{customerId}/attributes"
    case appAccountTokens = "/v1/app-store/app-account-tokens"
    case appAttestChallenge = "/v1/app-attest/challenges"
    case appAttestKey = "/v1/app-attest/keys"

    package var allowedMethods: [HTTP.Method] { self == .attributes ? [.get, .put, .delete] : [.post] }
}

/// The calls about the outcomes of grants.
package enum OutcomeRoute: String, TopicRoute {
    case grant = "/v1/grants/{grantId}"
    case events = "/v1/events"

    package var allowedMethods: [HTTP.Method] { [.get] }
}

/// The calls that read the audit log itself, and what is signed of it.
package enum LogRoute: String, TopicRoute {
    case tile = "/audit/tile/{+path}"
    case entry = "/v1/audit/entries/{index}"
    case entryProof = "/v1/audit/entries/{index}/proof"
    case checkpoint = "/audit/checkpoint"
    case state = "/v1/audit/log"

    package var allowedMethods: [HTTP.Method] {
        switch self {
        case .entry, .entryProof: [.get]
        case .tile, .checkpoint, .state: [.get, .head]
        }
    }
}

/// The calls that search the audit log.
package enum SearchRoute: String, TopicRoute {
    case entries = "/v1/audit/entries"
    case lookups = "/v1/audit/lookups"
    case customers = "/v1/audit/customers"
    case names = "/v1/audit/names"
    case summary = "/v1/audit/summary"

    package var allowedMethods: [HTTP.Method] {
        switch self {
        case .entries, .names, .summary: [.get]
        case .lookups, .customers: [.post]
        }
    }
}

/// The calls that read what else is on record.
package enum RecordRoute: String, TopicRoute {
    case reconciliation = "/v1/audit/reconciliation"
    case diagnoses = "/v1/diagnoses"
    case eventEndpoints = "/v1/events/endpoints"

    package var allowedMethods: [HTTP.Method] { self == .diagnoses ? [.post] : [.get] }
}

/// The calls that seal the service and disable keys.
package enum StopRoute: String, TopicRoute {
    case keys = "/v1/keys"
    case disableKey = "/v1/keys/{id}/disable"
    case enableKey = "/v1/keys/{id}/enable"
    case seal = "/v1/seal"
    case unseal = "/v1/unseal"

    package var allowedMethods: [HTTP.Method] {
        switch self {
        case .keys: [.get, .head]
        case .seal: [.get, .head, .post]
        case .disableKey, .enableKey, .unseal: [.post]
        }
    }
}

/// The calls about the service itself.
package enum OperationRoute: String, TopicRoute {
    case live = "/health/live"
    case ready = "/health/ready"
    case metrics = "/metrics"
    case openAPI = "/openapi.yaml"
    /// What each problem means; ``problems`` has all of them.
    case problem = "/problems/{name}"
    case problems = "/problems/"
    case ownCaller = "/v1/callers/self"

    package var allowedMethods: [HTTP.Method] { [.get, .head] }
}

/// The console's files.
package enum ConsoleRoute: String, TopicRoute {
    case page = "/console/"
    case file = "/console/{name}"
    /// The console's path without its last slash, as people type it.
    case redirect = "/console"

    package var allowedMethods: [HTTP.Method] { [.get, .head] }
}

/// The calls with which people sign in to the console.
package enum SignInRoute: String, TopicRoute {
    case providers = "/console/providers"
    case begin = "/console/sign-in"
    /// Where identity providers send the browser back to.
    case finish = "/console/signed-in"
    case signOut = "/console/sign-out"

    package var allowedMethods: [HTTP.Method] { self == .signOut ? [.post] : [.get] }
}
