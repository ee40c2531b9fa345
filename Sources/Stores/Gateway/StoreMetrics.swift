// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import ServiceRuntime

/// Counts what stores are asked and what they send.
package protocol StoreMetrics: Sendable {
    /// Adds one to a counter.
    func count(_ metric: StoreMetric)

    /// Notes how long a request to a store took, whatever its result.
    func asked(_ endpoint: StoreEndpoint, microseconds: Int64)
}

/// A counter of what stores are asked and what they send, with its labels.
package enum StoreMetric: Hashable, Sendable {
    /// Requests to a store by outcome: each attempt, and each request that the service held back.
    case storeRequests(store: String, endpoint: String, environment: String, outcome: String)
    /// Requests to a store that joined an equal request under way, and so were not sent.
    case storeJoined(store: String, endpoint: String)
    /// Readings of what a store lists of an app, by outcome.
    case catalogReadings(store: String, outcome: String)
    /// Notifications from a store, by outcome; all types that the service does not know count as one.
    case notifications(type: String, environment: String, outcome: String)
    /// What came as a notification and was refused, by reason.
    case notificationsRefused(reason: String)
    /// Requests to OCSP responders, by the certificate and the outcome.
    case ocspQuestions(certificate: String, outcome: String)

    /// The names and values of the labels.
    package var labels: [(String, String)] {
        switch self {
        case .storeRequests(let store, let endpoint, let environment, let outcome):
            [("store", store), ("endpoint", endpoint), ("environment", environment), ("outcome", outcome)]
        case .storeJoined(let store, let endpoint): [("store", store), ("endpoint", endpoint)]
        case .catalogReadings(let store, let outcome): [("store", store), ("outcome", outcome)]
        case .notifications(let type, let environment, let outcome):
            [("type", type), ("environment", environment), ("outcome", outcome)]
        case .notificationsRefused(let reason): [("reason", reason)]
        case .ocspQuestions(let certificate, let outcome): [("certificate", certificate), ("outcome", outcome)]
        }
    }
}

/// An endpoint of a store, as metrics name it.
package struct StoreEndpoint: Hashable, Sendable {
    /// `app-store` or `google-play`.
    package let store: String
    /// The endpoint's label: a short name, never a URL.
    package let endpoint: String

    package init(store: String, endpoint: String) {
        self.store = store
        self.endpoint = endpoint
    }
}

/// What clients of the stores need of the process around them.
package struct StoreRuntime: Sendable {
    /// The time of day, and time for measuring.
    package let clock: WallClock
    /// Where IDs and random pauses come from.
    package let random: any RandomSource
    /// Counts requests and notifications.
    package let metrics: any StoreMetrics
    /// Where log lines go.
    package let log: Log

    package init(clock: WallClock, random: any RandomSource, metrics: any StoreMetrics, log: Log) {
        self.clock = clock
        self.random = random
        self.metrics = metrics
        self.log = log
    }
}
