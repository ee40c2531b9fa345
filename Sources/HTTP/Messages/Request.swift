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
    /// Whether the connection is to be closed after the answer, since `Connection` names `close`.
    let asksToClose: Bool

    /// A request that came over no socket, as tests make them.
    package convenience init(
        method: Method = .get,
        path: [UInt8] = [UInt8(ascii: "/")],
        query: [UInt8]? = nil,
        headers: HeaderFields = HeaderFields(),
        body: [UInt8] = [],
        peer: PeerAddress = .loopback
    ) {
        self.init(method, path, query, headers, body, from: peer, isOfKnownClient: false, asksToClose: false)
    }

    init(
        _ method: Method,
        _ path: [UInt8],
        _ query: [UInt8]?,
        _ headers: HeaderFields,
        _ body: [UInt8],
        from peer: PeerAddress,
        isOfKnownClient: Bool,
        asksToClose: Bool
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.peer = peer
        self.isOfKnownClient = isOfKnownClient
        self.asksToClose = asksToClose
    }
}
