// SPDX-License-Identifier: Apache-2.0

extension FakeAppStore {
    /// What was asked since it began, or since ``resetCounts()``.
    package struct Counts: Decodable, Hashable, Sendable {
        /// By endpoint, and by endpoint and environment as "statuses Sandbox".
        package let requests: [String: Int]
        /// Requests that are not answered yet, and the most there were at a time.
        package let inFlight, mostInFlight: Int
        /// To the API's ports.
        package let connections, openConnections, mostOpenConnections: Int
        package let ocspConnections: Int
        /// How many different bearer tokens were accepted.
        package let tokens: Int
        /// Why tokens were refused, from the first.
        package let refusals: [String]

        /// All requests to the API, none to the OCSP responder.
        package var toAPI: Int {
            let endpoints: [Endpoint] = [
                .statuses, .history, .transactionInfo, .appTransactionInfo, .setAppAccountToken, .notificationHistory,
                .requestTestNotification, .testNotificationStatus, .unknown,
            ]
            return endpoints.reduce(0) { $0 + requests(to: $1) }
        }

        package func requests(to endpoint: Endpoint, in environment: Environment? = nil) -> Int {
            requests[environment.map { "\(endpoint.rawValue) \($0.rawValue)" } ?? endpoint.rawValue] ?? 0
        }
    }

    /// A request as it came.
    package struct ReceivedRequest: Decodable, Hashable, Sendable {
        package let endpoint: String
        package let environment: Environment?
        package let method: String
        /// Path and query.
        package let target: String
        /// Lowercase names.
        package let headers: [String: String]
        package let body: String
        /// "h2" or "http/1.1".
        package let `protocol`: String
    }

    private struct ReceivedRequests: Decodable {
        let requests: [ReceivedRequest]
    }

    package func counts() throws -> Counts {
        try call("counts", Nothing())
    }

    /// From the oldest; of very many, the last 10 000.
    package func requests() throws -> [ReceivedRequest] {
        let received: ReceivedRequests = try call("requests", Nothing())
        return received.requests
    }

    package func resetCounts() throws {
        try perform("resetCounts", Nothing())
    }

    /// As at the beginning, for another test: without customers, misbehaviour and counts.
    ///
    /// Keys, chain, ports and certificates stay, and no id is given a second time.
    package func reset() throws {
        try perform("reset", Nothing())
    }
}
