// SPDX-License-Identifier: Apache-2.0
import HTTP
import Ledger

/// A question to an endpoint of the App Store Server API, the same for every app and environment.
struct AppStoreRequest: Sendable {
    let endpoint: AppStoreEndpoint
    var method: HTTP.Method = .get
    let path: [String]
    var query: [(name: String, value: String)] = []
    var body: [UInt8] = []

    /// The HTTP request that asks it, in the name of the app that the token is for.
    func clientRequest(
        to origin: Origin,
        with token: SignedToken,
        timeoutMilliseconds: Int
    ) throws(StoreError) -> ClientRequest {
        var headers = HeaderFields()
        headers.append("Authorization", "Bearer \(token.text)")
        headers.append("Accept", "application/json")
        if !body.isEmpty { headers.append("Content-Type", "application/json") }
        do {
            var request = try ClientRequest(method, origin, path: path, query: query, headers: headers)
            request.body = body
            request.timeoutMilliseconds = timeoutMilliseconds
            return request
        } catch {
            throw .badAnswer(reason: "our request: \(error.label)")
        }
    }
}
