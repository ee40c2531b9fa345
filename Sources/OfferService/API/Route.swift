// SPDX-License-Identifier: Apache-2.0
package import HTTP

/// The calls of the service.
package enum Route: String, CaseIterable, Hashable, Sendable {
    case promotionalOfferSignature = "/v1/app-store/promotional-offers/signatures"
    case introductoryOfferSignature = "/v1/app-store/introductory-offers/signatures"
    case appStoreNotification = "/v1/notifications/app-store"
    case googlePlayNotification = "/v1/notifications/google-play"
    case eligibility = "/v1/eligibility"
    case googlePlayAuthorization = "/v1/google-play/offers/authorizations"
    case transactions = "/v1/transactions"
    case customerTransfers = "/v1/customers/transfers"
    case auditEntries = "/v1/audit/entries"
    case auditLookups = "/v1/audit/lookups"
    case auditSummary = "/v1/audit/summary"
    case live = "/health/live"
    case ready = "/health/ready"
    case metrics = "/metrics"
    case openAPI = "/openapi.yaml"
    /// Whatever is none of the above; counted as one.
    case unknown = "other"

    /// The call at that path.
    package init(path: [UInt8]) {
        self = Self.paths.first { $0.path == path }?.route ?? .unknown
    }

    /// The most frequent one first.
    private static let paths = allCases.filter { $0 != .unknown }.map { (path: Array($0.rawValue.utf8), route: $0) }

    package var allowedMethods: [HTTP.Method] {
        switch self {
        case .promotionalOfferSignature, .introductoryOfferSignature, .appStoreNotification, .eligibility,
            .googlePlayAuthorization, .googlePlayNotification, .transactions, .customerTransfers, .auditLookups:
            [.post]
        case .live, .ready, .metrics, .openAPI: [.get, .head]
        case .auditEntries, .auditSummary: [.get]
        case .unknown: []
        }
    }
}
