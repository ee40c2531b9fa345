// SPDX-License-Identifier: Apache-2.0

/// What a request is answered with.
package struct Response: Sendable {
    /// 200...599; any other value is a bug of the service, and the client gets 500.
    package var status: Int
    /// Sent in this order.
    ///
    /// The server writes `Content-Length`, `Transfer-Encoding` and `Date` itself and drops fields with these names.
    /// `Connection: close` closes the connection after the response. The server also drops a field if its name or value
    /// would break the head (CR, LF, NUL).
    package var headers: [(name: String, value: String)]
    /// Not sent in answer to HEAD, nor with status 204 or 304.
    package var body: [UInt8]
    /// What follows ``body``; with it the answer is sent in chunks, whatever its length.
    package var rest: BodyPieces?
    /// Whether the client has proved who it is, so that its connection is kept when there are too many.
    package var isToKnownClient = false

    /// A whole answer, to a client that is not authenticated.
    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
