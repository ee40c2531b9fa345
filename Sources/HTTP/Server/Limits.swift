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
    /// What those from one IPv4 address or one IPv6 network of 64 bits may take of that.
    ///
    /// A quarter of it by default, so that one that sends bodies without end leaves room for others. Behind a proxy, all of
    /// its clients have no more together.
    package var bodyBytesPerAddress: Int
    /// Open connections of the whole server.
    ///
    /// Where one more comes, the one that has been idle for the longest gives way, of those whose clients have not proved who
    /// they are (``Response/isToKnownClient``). Where there is none, further ones wait, unaccepted, until one ends.
    package var connections: Int
    /// Open connections from one IPv4 address or one IPv6 network of 64 bits.
    ///
    /// Raise it behind a proxy. One network (``PeerAddress/network``) has a quarter of all, or this many if that is more; beyond
    /// that, the connections of its own clients give way, by the order above.
    package var connectionsPerAddress: Int

    /// The defaults, of which callers change some.
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

    /// How much of a body counts for nothing in ``bodyBytesInAll``: most have no more, and then nothing is counted.
    static let uncountedBodyBytes = 16 * 1024
}
