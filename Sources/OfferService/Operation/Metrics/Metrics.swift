// SPDX-License-Identifier: Apache-2.0
import Configuration
package import Ledger
import OfferDomain
package import ServiceRuntime
package import Stores

/// A counter or gauge of the service with its labels.
package enum Metric: Hashable, Sendable {
    /// Answers by call and status.
    case requests(route: Route, status: Int)
    /// Requests that came in batches, by the status of each one's own answer.
    case batchItems(status: Int)
    /// Decisions by offer and outcome.
    case decisions(offer: String, outcome: String)
    /// Findings that decided against a customer, by rule and answer.
    case refusals(rule: String, answer: String)
    /// Signatures made, by key and form.
    case signatures(key: String, form: String)
    /// Signatures that failed or did not verify.
    case signatureFailures(key: String)
    /// Presented signatures that a key of this service made and that are not on record.
    case unrecordedSignatures(key: String)
    /// Signed offers, by the client library that the request named.
    case offersSigned(offer: String, client: String)
    /// Redeemed offers, by the client library that they were signed for.
    case offersRedeemed(environment: String = "production", offer: String, client: String)
    /// Purchases that followed a grant and were made without its offer.
    case boughtWithoutDiscount(environment: String = "production", offer: String, client: String)
    /// Signatures verified by ourselves before they left.
    case selfVerifications
    /// Grants answered again for the same idempotency key.
    case replays
    /// Requests refused because a rate limit was exceeded, by the scope of the limit.
    case rateLimited(scope: String)
    /// Commits that failed.
    case commitFailures(reason: String)
    /// Redemptions that a store reported, by their state, how they match a grant, and the store's offer.
    case redemptions(
        store: String = "app-store",
        environment: String = "production",
        state: String,
        match: RedemptionMatch,
        offer: String
    )
    /// Attempts to deliver an event to an endpoint, by what came of them.
    case eventDeliveries(endpoint: String, outcome: String)
    /// Reloads of the configuration.
    case reloads(succeeded: Bool)
    /// Requests to stores and what stores send.
    case store(StoreMetric)
    /// Offers withheld from eligible customers because the offer is not set up correctly at the store.
    case authorizationFaults(offer: String, fault: String)
    /// Answers to the App Store's questions about what to show to a subscriber, by kind and reason.
    case retentionAnswers(app: String, answer: String, reason: String)
    /// Offers that the App Store was given to show to a subscriber, by the catalog's own ID.
    case retentionOffersShown(environment: String, offer: String)
    /// What subscribers did after such an answer, by what they were shown.
    case retentionOutcomes(RetentionOutcome)
    /// Readings of an identity provider's keys, by what came of them.
    case identityProviderRequests(issuer: String, outcome: String)
    /// Tokens of users that were refused, by reason.
    case tokensRefused(issuer: String, reason: String)
    /// Sign-ins to the console by an identity provider, by what came of them.
    case consoleSignIns(provider: String, result: String)
    /// Proofs that apps are genuine, by what came of them.
    case genuineAppChecks(method: String, check: String, result: String)
}

/// Counts what the service does, for Prometheus.
package final class Metrics: CommitObserver, StoreMetrics {
    private final class Counter {
        let metric: Metric
        var count = 0

        init(_ metric: Metric) {
            self.metric = metric
        }
    }

    private struct State {
        var counters: [Metric: Counter] = [:]
        /// The counter of each family that was used last: mostly the next one too, and sooner compared than found by a
        /// hash of its texts.
        var last = [Counter?](repeating: nil, count: MetricFamily.allCases.count)
        var batches = Histogram(bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024])
        var commitSeconds = Histogram(bounds: [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1])
        var requestSeconds: [Route: Histogram] = [:]
        var storeSeconds: [StoreEndpoint: Histogram] = [:]

        mutating func counter(of metric: Metric) -> Counter {
            let family = metric.family.rawValue
            if let last = last[family], last.metric == metric { return last }
            let counter = counters[metric] ?? addCounter(of: metric)
            last[family] = counter
            return counter
        }

        private mutating func addCounter(of metric: Metric) -> Counter {
            let counter = Counter(metric)
            counters[metric] = counter
            return counter
        }
    }

    private let state = Guarded(State())
    private let clients = ClientLabels()

    package init() {}

    /// Adds to a counter, which exists from the first time on.
    package func count(_ metric: Metric, by amount: Int = 1) {
        state.withLock { $0.counter(of: metric).count += amount }
    }

    /// Adds to a counter of what stores are asked and what they send.
    package func count(_ metric: StoreMetric) { count(.store(metric)) }

    /// Counts an answer, and how long it took from the whole request.
    package func answered(_ route: Route, status: Int, microseconds: Int64) {
        state.withLock { state in
            state.counter(of: .requests(route: route, status: status)).count += 1
            state.requestSeconds[route, default: Histogram(bounds: Self.requestBounds)]
                .observe(Double(microseconds) / 1_000_000)
        }
    }

    /// Notes how long a request to a store took, whatever came of it.
    package func asked(_ endpoint: StoreEndpoint, microseconds: Int64) {
        state.withLock { state in
            state.storeSeconds[endpoint, default: Histogram(bounds: Self.storeBounds)]
                .observe(Double(microseconds) / 1_000_000)
        }
    }

    private static let requestBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    private static let storeBounds = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10]

    /// Counts the batch's requests and its time.
    package func committed(requests: Int, microseconds: Int64) {
        state.withLock { state in
            state.batches.observe(Double(requests))
            state.commitSeconds.observe(Double(microseconds) / 1_000_000)
        }
    }

    /// Counts the use by state and match.
    package func recorded(_ redemption: MatchedRedemption) {
        let use = redemption.use
        count(
            .redemptions(
                store: use.store.recordName,
                environment: use.environment.rawValue,
                state: use.state.name,
                match: redemption.match,
                offer: use.name.offerID
            )
        )
    }

    /// Counts the purchase by offer and client.
    package func recorded(_ purchase: BoughtWithoutOffer) {
        count(
            .boughtWithoutDiscount(
                environment: purchase.environment.rawValue,
                offer: purchase.rule,
                client: clients.label(of: purchase.client)
            )
        )
    }

    /// Counts the use by offer and client.
    package func recorded(_ redemption: ClientRedemption) {
        count(
            .offersRedeemed(
                environment: redemption.environment.rawValue,
                offer: redemption.rule,
                client: clients.label(of: redemption.client)
            )
        )
    }

    package func recorded(_ outcome: RetentionOutcome) { count(.retentionOutcomes(outcome)) }

    /// Counts an offer that was signed for a client.
    func signed(_ offer: CatalogOffer, for client: ReportedClient?) {
        count(.offersSigned(offer: offer.id.text, client: clients.label(of: client?.name)))
    }

    /// Counts the failure by its reason.
    package func failed(_ error: LedgerError) {
        count(.commitFailures(reason: error.label))
    }

    /// How often something was counted.
    package subscript(_ metric: Metric) -> Int { state.withLock { $0.counters[metric]?.count ?? 0 } }

    /// How often something about the stores was counted.
    package subscript(_ metric: StoreMetric) -> Int { self[.store(metric)] }

    /// The counters and histograms in the Prometheus text format, version 0.0.4.
    package func text(gauges: [Gauge]) -> String {
        let (counts, batches, seconds) = state.withLock {
            ($0.counters.mapValues(\.count), $0.batches, $0.commitSeconds)
        }
        let (requestSeconds, storeSeconds) = state.withLock { ($0.requestSeconds, $0.storeSeconds) }
        var page = PrometheusPage()
        for family in MetricFamily.allCases {
            let samples = counts.compactMap { metric, count in
                metric.family == family ? Gauge.Sample(Double(count), labels: metric.labels) : nil
            }
            page.add(Gauge(family.name, help: family.help, type: "counter", samples))
        }
        page.add("offer_signer_commit_batch_requests", help: "Requests committed together", [([], batches)])
        page.add("offer_signer_commit_seconds", help: "Time from taking a batch to its commit", [([], seconds)])
        page.add(
            "offer_signer_http_request_duration_seconds",
            help: "Time from a whole request to its answer, by call",
            requestSeconds.map { ([("route", $0.path)], $1) }
        )
        page.add(
            "offer_signer_store_request_duration_seconds",
            help: "Time that a request to a store took, whatever its result, by endpoint",
            storeSeconds.map { ([("store", $0.store), ("endpoint", $0.endpoint)], $1) }
        )
        for gauge in gauges { page.add(gauge) }
        return page.text
    }
}
