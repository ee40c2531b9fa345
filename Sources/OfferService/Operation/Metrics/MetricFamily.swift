// SPDX-License-Identifier: Apache-2.0
import Ledger
import Stores

/// The names and help texts of the counters.
package enum MetricFamily: Int, CaseIterable, Sendable {
    case requests, batchItems, decisions, refusals, signatures, signatureFailures, selfVerifications, replays,
        rateLimited,
        commitFailures
    case redemptions, reloads, storeRequests, storeJoined, catalogReadings, authorizationFaults, notifications
    case notificationsRefused, ocspQuestions, unrecordedSignatures
    case offersSigned, offersRedeemed, boughtWithoutDiscount, identityProviderRequests, tokensRefused
    case genuineAppChecks, consoleSignIns
    case retentionAnswers, retentionOffersShown, retentionOutcomes
    case eventDeliveries

    var name: String {
        switch self {
        case .requests: "offer_signer_http_requests_total"
        case .batchItems: "offer_signer_batch_items_total"
        case .decisions: "offer_signer_decisions_total"
        case .refusals: "offer_signer_refusal_findings_total"
        case .signatures: "offer_signer_signatures_total"
        case .signatureFailures: "offer_signer_signature_failures_total"
        case .selfVerifications: "offer_signer_self_verifications_total"
        case .replays: "offer_signer_idempotent_replays_total"
        case .rateLimited: "offer_signer_rate_limited_total"
        case .commitFailures: "offer_signer_commit_failures_total"
        case .redemptions: "offer_signer_redemptions_total"
        case .reloads: "offer_signer_reloads_total"
        case .storeRequests: "offer_signer_store_requests_total"
        case .storeJoined: "offer_signer_store_joined_total"
        case .catalogReadings: "offer_signer_store_catalog_readings_total"
        case .authorizationFaults: "offer_signer_authorization_faults_total"
        case .notifications: "offer_signer_notifications_total"
        case .notificationsRefused: "offer_signer_notifications_refused_total"
        case .ocspQuestions: "offer_signer_ocsp_questions_total"
        case .unrecordedSignatures: "offer_signer_unrecorded_signatures_total"
        case .offersSigned: "offer_signer_offers_signed_total"
        case .offersRedeemed: "offer_signer_offers_redeemed_total"
        case .boughtWithoutDiscount: "offer_signer_offers_bought_without_discount_total"
        case .identityProviderRequests: "offer_signer_identity_provider_requests_total"
        case .tokensRefused: "offer_signer_tokens_refused_total"
        case .genuineAppChecks: "offer_signer_genuine_app_checks_total"
        case .consoleSignIns: "offer_signer_console_sign_ins_total"
        case .retentionAnswers: "offer_signer_retention_answers_total"
        case .retentionOffersShown: "offer_signer_retention_offers_shown_total"
        case .retentionOutcomes: "offer_signer_retention_outcomes_total"
        case .eventDeliveries: "offer_signer_event_deliveries_total"
        }
    }

    var help: String {
        switch self {
        case .requests: "Answers by call and HTTP status"
        case .batchItems: "Requests that came in batches, by the status of each one's own answer"
        case .decisions: "Decisions by offer and outcome"
        case .refusals: "Findings that kept a customer from an offer, by rule and answer"
        case .signatures: "Signatures made, by key and form"
        case .signatureFailures: "Signatures that failed or did not verify, by key"
        case .selfVerifications: "Signatures that the service verified before they left"
        case .replays: "Grants answered again for the same idempotency key"
        case .rateLimited: "Requests refused because a rate was exceeded, by what was counted"
        case .commitFailures: "Batches that could not be written, by reason"
        case .redemptions: "Uses of offers that the store reported, by state; match is none if no grant of ours fits"
        case .reloads: "Reloads of the configuration, by result"
        case .storeRequests: "Requests to a store by endpoint, environment and outcome"
        case .storeJoined: "Questions to a store that joined one already in flight"
        case .catalogReadings: "Readings of what a store lists of an app, by outcome"
        case .authorizationFaults: "Authorizations not given because the offer is not set up at the store as required"
        case .notifications: "Notifications of the stores by type, environment and result"
        case .notificationsRefused: "Notifications refused, by reason"
        case .eventDeliveries: "Attempts to deliver an event to an endpoint, by outcome"
        case .ocspQuestions: "Questions whether a certificate of the App Store has been revoked, by outcome"
        case .unrecordedSignatures:
            "Presented signatures that a key of this service made and that are not on record, by key"
        case .offersSigned: "Signed offers of the App Store, by the client library that the request named"
        case .offersRedeemed: "Redeemed offers of the App Store, by the client library that they were signed for"
        case .boughtWithoutDiscount:
            "Purchases within ten minutes of a grant for the same product, without its offer, by client library"
        case .identityProviderRequests: "Readings of an identity provider's keys, by outcome"
        case .tokensRefused: "Users' tokens that were refused, by issuer and reason"
        case .consoleSignIns: "Sign-ins to the console by an identity provider, by result"
        case .genuineAppChecks: "Proofs of apps that they are genuine, by what was checked and the result"
        case .retentionAnswers: "Answers to the App Store's real-time requests, by what is shown and why"
        case .retentionOffersShown: "Offers in answers to the App Store's real-time requests, each request once"
        case .retentionOutcomes: "Whether subscribers canceled within 24 hours after an answer, by what they were shown"
        }
    }
}

extension Metric {
    var family: MetricFamily {
        switch self {
        case .requests: .requests
        case .batchItems: .batchItems
        case .decisions: .decisions
        case .refusals: .refusals
        case .signatures: .signatures
        case .signatureFailures: .signatureFailures
        case .selfVerifications: .selfVerifications
        case .replays: .replays
        case .rateLimited: .rateLimited
        case .commitFailures: .commitFailures
        case .redemptions: .redemptions
        case .reloads: .reloads
        case .store(let metric): metric.family
        case .authorizationFaults: .authorizationFaults
        case .unrecordedSignatures: .unrecordedSignatures
        case .offersSigned: .offersSigned
        case .offersRedeemed: .offersRedeemed
        case .boughtWithoutDiscount: .boughtWithoutDiscount
        case .identityProviderRequests: .identityProviderRequests
        case .tokensRefused: .tokensRefused
        case .genuineAppChecks: .genuineAppChecks
        case .consoleSignIns: .consoleSignIns
        case .retentionAnswers: .retentionAnswers
        case .retentionOffersShown: .retentionOffersShown
        case .retentionOutcomes: .retentionOutcomes
        case .eventDeliveries: .eventDeliveries
        }
    }

    var labels: [(String, String)] {
        switch self {
        case .requests(let route, let status): [("route", route.path), ("status", String(status))]
        case .batchItems(let status): [("status", String(status))]
        case .decisions(let offer, let outcome): [("offer", offer), ("outcome", outcome)]
        case .refusals(let rule, let answer): [("rule", rule), ("answer", answer)]
        case .signatures(let key, let form): [("key", key), ("form", form)]
        case .signatureFailures(let key), .unrecordedSignatures(let key): [("key", key)]
        case .selfVerifications, .replays: []
        case .offersSigned(let offer, let client): [("offer", offer), ("client", client)]
        case .offersRedeemed(let environment, let offer, let client),
            .boughtWithoutDiscount(let environment, let offer, let client):
            [("environment", environment), ("offer", offer), ("client", client)]
        case .rateLimited(let scope): [("scope", scope)]
        case .commitFailures(let reason): [("reason", reason)]
        case .redemptions(let store, let environment, let state, let match, let offer):
            [
                ("store", store), ("environment", environment), ("state", state), ("match", match.rawValue),
                ("offer", offer),
            ]
        case .reloads(let succeeded): [("result", succeeded ? "loaded" : "refused")]
        case .store(let metric): metric.labels
        case .authorizationFaults(let offer, let fault): [("offer", offer), ("fault", fault)]
        case .eventDeliveries(let endpoint, let outcome): [("endpoint", endpoint), ("outcome", outcome)]
        case .identityProviderRequests(let issuer, let outcome): [("issuer", issuer), ("outcome", outcome)]
        case .tokensRefused(let issuer, let reason): [("issuer", issuer), ("reason", reason)]
        case .consoleSignIns(let provider, let result): [("provider", provider), ("result", result)]
        case .genuineAppChecks(let method, let check, let result):
            [("method", method), ("check", check), ("result", result)]
        case .retentionAnswers(let app, let answer, let reason):
            [("app", app), ("answer", answer), ("reason", reason)]
        case .retentionOffersShown(let environment, let offer): [("environment", environment), ("offer", offer)]
        case .retentionOutcomes(let found):
            [
                ("environment", found.environment), ("answer", found.answer), ("offer", found.offer),
                ("outcome", found.outcome.rawValue),
            ]
        }
    }
}

extension StoreMetric {
    fileprivate var family: MetricFamily {
        switch self {
        case .storeRequests: .storeRequests
        case .storeJoined: .storeJoined
        case .catalogReadings: .catalogReadings
        case .notifications: .notifications
        case .notificationsRefused: .notificationsRefused
        case .ocspQuestions: .ocspQuestions
        }
    }
}
