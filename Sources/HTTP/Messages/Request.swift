// SPDX-License-Identifier: Apache-2.0

/// What a request is for, as the client sent it.
package struct RequestTarget: Sendable {
    /// The path, ASCII, without the query.
    package let path: [UInt8]
    /// What follows the first `?`; `nil` without a `?`.
    package let query: [UInt8]?

    /// A target that was split into its parts already.
    package init(path: [UInt8], query: [UInt8]? = nil) {
        self.path = path
        self.query = query
    }
}

/// A whole request, its body included.
///
/// The path of a request from a socket starts with one `/` and holds only what RFC 3986 allows in a path. Two
/// hexadecimal digits follow every `%`, and `%00` does not occur. Nothing is decoded, and dot segments are kept.
///
/// It is a class because it is passed on several times, has many parts to copy, and never changes.
package final class Request: Sendable {
    /// As the client sent it, even if the method is not known.
    package let method: Method
    /// The path as it was sent, ASCII, without the query.
    package let path: [UInt8]
    /// What follows the first `?`, as it was sent; `nil` without a `?`.
    package let query: [UInt8]?
    /// The fields of the head, in their order.
    package let headers: HeaderFields
    /// Empty if there is none.
    package let body: [UInt8]
    /// The address at the other end of the connection: the proxy's, if there is one.
    package let peer: PeerAddress
    /// Whether an earlier response on this connection went to an authenticated client (``Response/isToKnownClient``).
    package let isOfKnownClient: Bool
    /// SHA-256 of the DER of the client's certificate; `nil` without one.
    ///
    /// In the TLS handshake, the client proved that it has the key. Its issuer and dates were not checked.
    package let certificateDigest: [UInt8]?
    /// Whether the client asks to close the connection after the response (`Connection: close`).
    let asksToClose: Bool

    /// Makes a request; without a client, as in tests, it comes from this machine.
    package init(
        method: Method = .get,
        target: RequestTarget = RequestTarget(path: [UInt8(ascii: "/")]),
        headers: HeaderFields = HeaderFields(),
        body: [UInt8] = [],
        from client: ConnectionClient = ConnectionClient(peer: .loopback)
    ) {
        self.method = method
        path = target.path
        query = target.query
        self.headers = headers
        self.body = body
        asksToClose = client.asksToClose
        peer = client.peer
        isOfKnownClient = client.isKnown
        certificateDigest = client.certificateDigest
    }
}
