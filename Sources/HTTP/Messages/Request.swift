// SPDX-License-Identifier: Apache-2.0

/// A whole request, its body included.
///
/// One that came over a socket has a path that starts with one `/` and holds only what RFC 3986 allows in a path, every
/// `%` followed by two hexadecimal digits and never `%00`. Nothing is decoded, and dot segments are left as they are.
package struct Request: Sendable {
    package var method: Method
    /// The path as it was sent, ASCII, without the query.
    package var path: [UInt8]
    /// What follows the first `?`, as it was sent; `nil` without a `?`.
    package var query: [UInt8]?
    package var headers: HeaderFields
    /// Empty if there is none.
    package var body: [UInt8]
    /// Who is at the other end of the connection: a proxy, if there is one.
    package var peer: PeerAddress

    package init(
        method: Method = .get,
        path: [UInt8] = [UInt8(ascii: "/")],
        query: [UInt8]? = nil,
        headers: HeaderFields = HeaderFields(),
        body: [UInt8] = [],
        peer: PeerAddress = .loopback
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.peer = peer
    }
}
