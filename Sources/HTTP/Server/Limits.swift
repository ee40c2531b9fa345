// SPDX-License-Identifier: Apache-2.0

/// How much of each thing is accepted; one more is refused.
package struct Limits: Hashable, Sendable {
    /// Request line, fields and the empty line after them, with their line ends.
    package var headBytes: Int
    /// Header fields of one request.
    package var fields: Int
    /// Of one body, at all paths without a limit of their own.
    package var bodyBytes: Int
    /// What is accepted instead of ``bodyBytes``, if it is more, at single paths: as they are sent, without the query.
    package var bodyBytesByPath: [[UInt8]: Int]
    /// Paths at which GET and HEAD are answered to HTTP/1.0 as well, without a body or a query: health checks of balancers.
    package var pathsForHTTP10: Set<[UInt8]> = []
    /// What bodies of all connections may take together, as they come, until they are answered.
    ///
    /// The first 16 KiB of each count for nothing.
    package var bodyBytesInAll: Int
    /// How much of that the bodies from one IPv4 address or one IPv6 network of 64 bits may take.
    ///
    /// The default is a quarter, so that a client that sends endless bodies leaves room for others. Behind a proxy, all
    /// clients of the proxy share this amount.
    package var bodyBytesPerAddress: Int
    /// Open connections of the whole server.
    ///
    /// When one more arrives, the server closes the connection that is idle for the longest, among unauthenticated
    /// clients (``Response/isToKnownClient``). If there is none, new connections wait, unaccepted, until one ends.
    package var connections: Int
    /// Open connections from one IPv4 address or one IPv6 network of 64 bits.
    ///
    /// Raise it behind a proxy. One network (``PeerAddress/network``) may have a quarter of all connections, or this
    /// many if that is more. Beyond that, the server closes connections from the same network, in the order above.
    package var connectionsPerAddress: Int

    /// Uses the defaults for everything that the caller does not set.
    package init(
        headBytes: Int = 8 * 1024,
        fields: Int = 64,
        bodyBytes: Int = 16 * 1024,
        bodyBytesByPath: [[UInt8]: Int] = [:],
        bodyBytesInAll: Int = 64 << 20,
        bodyBytesPerAddress: Int = 16 << 20,
        connections: Int = 4096,
        connectionsPerAddress: Int = 256
    ) {
        self.headBytes = headBytes
        self.fields = fields
        self.bodyBytes = bodyBytes
        self.bodyBytesByPath = bodyBytesByPath
        self.bodyBytesInAll = bodyBytesInAll
        self.bodyBytesPerAddress = bodyBytesPerAddress
        self.connections = connections
        self.connectionsPerAddress = connectionsPerAddress
    }

    /// How much of a body is not counted in ``bodyBytesInAll``: most bodies are no larger, so nothing is counted.
    static let uncountedBodyBytes = 16 * 1024
}
