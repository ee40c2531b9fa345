// SPDX-License-Identifier: Apache-2.0

extension FakeGooglePlay {
    /// What was asked since it began, or since ``resetCounts()``.
    package struct Counts: Decodable, Hashable, Sendable {
        /// By endpoint.
        package let requests: [String: Int]
        /// Requests that are not answered yet, and the most there were at a time.
        package let inFlight, mostInFlight: Int
        package let connections, openConnections, mostOpenConnections: Int
        /// Access tokens that were given, and why some were not, from the first.
        package let tokensIssued: Int
        package let tokenRefusals: [String]
        /// Why requests to the API were not let in, from the first.
        package let apiRefusals: [String]

        package func requests(to endpoint: Endpoint) -> Int {
            requests[endpoint.rawValue] ?? 0
        }

        /// All requests to the API: neither for tokens nor for keys.
        package var toAPI: Int {
            let others: Set<Endpoint> = [.token, .certificates]
            return Endpoint.allCases.filter { !others.contains($0) }.reduce(0) { $0 + requests(to: $1) }
        }
    }

    /// A request as it came.
    package struct ReceivedRequest: Decodable, Hashable, Sendable {
        package let endpoint: String
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

    /// As at the beginning, for another test: without catalog, purchases, misbehaviour and counts, in real time.
    ///
    /// Service accounts, access tokens, keys and ports stay, and no id of a message is given a second time.
    package func reset() throws {
        try perform("reset", Nothing())
    }
}
