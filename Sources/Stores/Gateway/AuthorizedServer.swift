// SPDX-License-Identifier: Apache-2.0
package import HTTP
import JSON

/// A server of Apple, and the bearer token of each request to it.
package struct AuthorizedServer: Sendable {
    let transport: any Transport
    let origin: Origin
    private let token: String

    /// - Parameters:
    ///   - transport: Sends the requests.
    ///   - origin: The server.
    ///   - token: The bearer token of each request.
    package init(transport: any Transport, origin: Origin, token: String) {
        (self.transport, self.origin, self.token) = (transport, origin, token)
    }

    /// The fields of a request whose response is JSON.
    var headers: HeaderFields {
        var headers = HeaderFields()
        headers.append("Authorization", "Bearer \(token)")
        headers.append("Accept", "application/json")
        return headers
    }

    /// The object in the body of a response; `nil` if there is none.
    static func object(in response: ClientResponse) -> JSONObject? {
        (try? JSONDocument(response.body, limits: limits))?.root.object
    }

    private static let limits = JSONLimits(maximumBytes: 4_194_304, maximumDepth: 32, maximumNodes: 262_144)
}
