// SPDX-License-Identifier: Apache-2.0

/// A whole request, its body included.
///
/// One that came over a socket has a path that starts with one `/` and holds only what RFC 3986 allows in a path, every
/// `%` followed by two hexadecimal digits and never `%00`. Nothing is decoded, and dot segments are left as they are.
///
/// A class, because it is handed on several times, has many parts to copy, and never changes.
package final class Request: Sendable {
    /// As it was sent, also one that is not known.
    package let method: Method
    /// The path as it was sent, ASCII, without the query.
    package let path: [UInt8]
    /// What follows the first `?`, as it was sent; `nil` without a `?`.
    package let query: [UInt8]?
    /// The fields of the head, in their order.
    package let headers: HeaderFields
    /// Empty if there is none.
    package let body: [UInt8]
    /// Who is at the other end of the connection: a proxy, if there is one.
    package let peer: PeerAddress
    /// Whether an answer on this connection was to a client who had proved who it is (``Response/isToKnownClient``).
    package let isOfKnownClient: Bool
    /// SHA-256 of the DER of the client's certificate, whose key it proved to have in the TLS handshake; `nil` without one.
    ///
    /// Nothing else of the certificate was checked: neither its issuer nor its dates.
    package let certificateDigest: [UInt8]?
    /// Whether the connection is to be closed after the answer, since `Connection` names `close`.
    let asksToClose: Bool

    /// Puts a request together; one that came over no socket, as tests make them, is from this machine.
    package init(
        method: Method = .get,
        path: [UInt8] = [UInt8(ascii: "/")],
        query: [UInt8]? = nil,
        headers: HeaderFields = HeaderFields(),
        body: [UInt8] = [],
        from client: ConnectionClient = ConnectionClient(peer: .loopback),
        asksToClose: Bool = false
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.asksToClose = asksToClose
        peer = client.peer
        isOfKnownClient = client.isKnown
        certificateDigest = client.certificateDigest
    }
}
