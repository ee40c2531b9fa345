// SPDX-License-Identifier: Apache-2.0
package import Configuration
import HTTP
package import JSON
package import Ledger
package import OfferDomain
import ServiceRuntime

/// Asks the Google Play Developer API.
///
/// Answers are passed on as received; the caller decodes them.
///
/// Source: Google, [Google Play Developer API](https://developers.google.com/android-publisher/api-ref/rest/v3).
package final class GooglePlayAPI: Sendable {
    private let gateway: StoreGateway
    private let tokens: GoogleAccessTokens
    /// Has Google decode the integrity tokens of apps, with the same accounts.
    package let integrity: PlayIntegrityAPI
    private let clock: WallClock
    let log: Log
    private let origins: GoogleOrigins
    private let maximumPages: Int

    /// - Parameters:
    ///   - gateway: Sends the requests; all stores may share one.
    ///   - signer: Signs the assertions that Google exchanges for access tokens.
    ///   - runtime: The clock for when an answer was given, and the log that receives Google's refusals.
    ///   - origins: Google's own unless a setting says otherwise.
    ///   - maximumPages: Of one list: 100 offers or 25 subscriptions each.
    package init(
        gateway: StoreGateway,
        signer: any GoogleAssertionSigner,
        runtime: StoreRuntime,
        origins: GoogleOrigins = .google,
        maximumPages: Int = 100
    ) {
        self.gateway = gateway
        clock = runtime.clock
        log = runtime.log
        self.origins = origins
        self.maximumPages = maximumPages
        tokens = GoogleAccessTokens(signer, .androidPublisher, by: gateway, at: origins.oauth, log: runtime.log)
        integrity = PlayIntegrityAPI(gateway: gateway, signer: signer, log: runtime.log, origins: origins)
    }

    static let storeName = "google-play"
    /// Google has one environment, and purchases of testers are in it.
    static let environmentName = "production"

    /// What Google knows of a purchase: `purchases.subscriptionsv2.get`.
    ///
    /// Each call sends a new request, because something has changed: the answer to a request in flight may be from
    /// before that change.
    package func subscriptionPurchase(
        _ token: PurchaseToken,
        _ asking: GooglePlayAsking
    ) async throws(StoreError) -> GooglePlayLookup {
        let deadline = deadline(asking, orMilliseconds: gateway.retries.overallMilliseconds)
        let path = ["purchases", "subscriptionsv2", "tokens", token.text]
        let request = GooglePlayRequest(endpoint: .subscriptionPurchase, path: path)
        return try await ask(request, asking, before: deadline) { $0.purchase($1) }
    }

    /// All pages of `monetization.subscriptions.list`; none for an empty answer.
    package func subscriptionPages(_ asking: GooglePlayAsking) async throws(StoreError) -> [JSONDocument] {
        try await pages(of: .subscriptions, asking, path: ["subscriptions"])
    }

    /// All pages of `monetization.subscriptions.basePlans.offers.list` over all subscriptions and base plans; none for an
    /// empty answer.
    package func offerPages(_ asking: GooglePlayAsking) async throws(StoreError) -> [JSONDocument] {
        try await pages(of: .offers, asking, path: ["subscriptions", "-", "basePlans", "-", "offers"])
    }

    // MARK: - Parts

    /// All of them or none: with a page missing, an offer would seem not to exist.
    private func pages(
        of endpoint: GooglePlayEndpoint,
        _ asking: GooglePlayAsking,
        path: [String]
    ) async throws(StoreError) -> [JSONDocument] {
        let deadline = deadline(asking, orMilliseconds: Self.listMilliseconds)
        var pages: [JSONDocument] = []
        var seen: Set<String> = []
        var request = GooglePlayRequest(endpoint: endpoint, path: path)
        request.query = [("pageSize", "\(endpoint.pageSize)"), ("prettyPrint", "false")]
        for _ in 0..<maximumPages {
            let page = try await ask(request, asking, before: deadline) { $0.page($1, of: endpoint) }
            guard let page else { return pages }
            pages.append(page)
            guard let next = try nextPage(after: page) else { return pages }
            guard seen.insert(next).inserted else { throw .badAnswer(reason: "a page leads to one before it") }
            request.query = [("pageSize", "\(endpoint.pageSize)"), ("pageToken", next), ("prettyPrint", "false")]
        }
        throw .badAnswer(reason: "there are more than \(maximumPages) pages")
    }

    /// An absent or empty token ends a list.
    private func nextPage(after page: JSONDocument) throws(StoreError) -> String? {
        guard let value = page.root.object?["nextPageToken"] else { return nil }
        guard let text = value.string, text.utf8.count <= 4096 else {
            throw .badAnswer(reason: "nextPageToken is not a text of at most 4096 bytes")
        }
        return text.isEmpty ? nil : text
    }

    /// One request with its retries; a token that has ended is renewed once.
    private func ask<Answer: Sendable>(
        _ request: GooglePlayRequest,
        _ asking: GooglePlayAsking,
        before deadline: Deadline,
        read: (GooglePlayReading, ClientResponse) -> StoreReading<Answer>
    ) async throws(StoreError) -> Answer {
        try await tokens.asking(about: asking.packageName) { token throws(StoreError) in
            let call = call(request.endpoint, asking, with: token)
            return try await gateway.ask(call, before: deadline) { milliseconds throws(StoreError) in
                try request.clientRequest(
                    about: asking.packageName,
                    to: origins.play,
                    with: token,
                    timeoutMilliseconds: milliseconds
                )
            } read: {
                read(GooglePlayReading(now: clock.now()), $0)
            }
        } failed: { error, token in
            log.note(error, request.endpoint.rawValue, about: asking.packageName, as: token.account.email)
        }
    }

    private func deadline(_ asking: GooglePlayAsking, orMilliseconds usual: Int64) -> Deadline {
        gateway.uptime.deadline(afterMilliseconds: asking.overallMilliseconds ?? usual)
    }

    private func call(
        _ endpoint: GooglePlayEndpoint,
        _ asking: GooglePlayAsking,
        with token: GoogleAccessToken
    ) -> StoreCall {
        func account(_ endpoint: String, _ app: String) -> StoreCall.Account {
            StoreCall.Account(
                store: Self.storeName,
                endpoint: endpoint,
                environment: Self.environmentName,
                app: app
            )
        }
        var call = StoreCall(
            account: account(endpoint.rawValue, asking.packageName.text),
            origin: origins.play,
            quota: GooglePlayEndpoint.quota,
            party: asking.party
        )
        // Google counts by project, and an account belongs to one.
        call.budget = account(endpoint.bucket, token.account.email.text)
        call.attemptMilliseconds = endpoint.attemptMilliseconds
        return call
    }

    /// For a list with all its pages; only callers without a copy wait for it.
    private static let listMilliseconds: Int64 = 60_000
}

extension GooglePlayAPI: GooglePlayListing {
    /// All pages of the app's subscriptions, in the service's own share of the budget.
    package func subscriptionPages(of packageName: PackageName) async throws(StoreError) -> [JSONDocument] {
        try await subscriptionPages(GooglePlayAsking(packageName: packageName, party: .service))
    }

    /// All pages of the app's offers, in the service's own share of the budget.
    package func offerPages(of packageName: PackageName) async throws(StoreError) -> [JSONDocument] {
        try await offerPages(GooglePlayAsking(packageName: packageName, party: .service))
    }
}

extension Log {
    /// Logs errors that only the operator can fix.
    func note(_ error: StoreError, _ endpoint: String, about packageName: PackageName, as account: GoogleEmail) {
        let reason: String
        switch error {
        case .credentialsRefused: reason = "a new token is refused too"
        case .notPermitted(let word): reason = word
        case .appUnknown: reason = "the app is not known"
        default: return
        }
        self(
            .error,
            "Google Play does not let our service account ask",
            with: [
                "packageName": .text(packageName.text), "account": .text(account.text), "endpoint": .text(endpoint),
                "reason": .text(reason),
            ]
        )
    }
}
