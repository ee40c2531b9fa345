// SPDX-License-Identifier: Apache-2.0
import HTTP
import Ledger
import OfferDomain

/// A question to an endpoint of the Google Play Developer API; its path begins below the app's.
struct GooglePlayRequest: Sendable {
    let endpoint: GooglePlayEndpoint
    let path: [String]
    var query: [(name: String, value: String)] = []

    /// The HTTP request that asks it about an app.
    func clientRequest(
        about packageName: PackageName,
        to origin: Origin,
        with token: GoogleAccessToken,
        timeoutMilliseconds: Int
    ) throws(StoreError) -> ClientRequest {
        var headers = HeaderFields()
        headers.append("Authorization", "Bearer \(token.text)")
        headers.append("Accept", "application/json")
        do throws(ClientError) {
            var request = try ClientRequest(
                .get,
                origin,
                path: ["androidpublisher", "v3", "applications", packageName.text] + path,
                query: query,
                headers: headers
            )
            request.timeoutMilliseconds = timeoutMilliseconds
            request.maximumResponseBytes = endpoint.maximumBytes
            return request
        } catch {
            throw .badAnswer(reason: "our request: \(error.label)")
        }
    }
}
