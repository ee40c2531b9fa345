// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How a ``Server`` listens, and what it puts up with.
package struct ServerConfiguration: Sendable {
    /// A numeric IPv4 or IPv6 address.
    ///
    /// `::` takes IPv4 too.
    package var address: String
    /// 0 takes any free port; ``Server/port`` says which.
    package var port: UInt16
    /// Event loops, each a thread with a listening socket of its own; one per core is right.
    package var loops: Int
    /// How much of each thing is accepted.
    package var limits: Limits
    /// How long each step may take.
    package var deadlines = Deadlines()
    /// `nil` speaks plain HTTP.
    package var tls: TLSConfiguration?
    /// Whether clients of a TLS connection that begins now are asked for a certificate; browsers may then show a choice.
    ///
    /// Called on a loop's thread; must not block.
    package var asksForCertificates: @Sendable () -> Bool = { false }
    /// Words the answer to what the server refuses by itself.
    ///
    /// Called on a loop's thread; must not block.
    package var rejectionResponse: @Sendable (Rejection) -> Response = ServerConfiguration.plainText

    /// The defaults listen on the loopback address alone, without TLS.
    package init(
        address: String = "127.0.0.1",
        port: UInt16 = 0,
        loops: Int = sysconf(Int32(_SC_NPROCESSORS_ONLN)),
        limits: Limits = Limits(),
        tls: TLSConfiguration? = nil
    ) {
        self.address = address
        self.port = port
        self.loops = max(1, loops)
        self.limits = limits
        self.tls = tls
    }

    /// The rejection's status, and its explanation as one line of text.
    @Sendable
    package static func plainText(_ rejection: Rejection) -> Response {
        Response(
            status: rejection.status,
            headers: [("Content-Type", "text/plain; charset=utf-8")],
            body: Array((rejection.explanation + "\n").utf8)
        )
    }
}

/// How long each thing may take in all: bytes that trickle in do not extend them.
///
/// They are looked at some times a second, so they end up to a quarter of the shortest of them late, and never more than
/// one second.
package struct Deadlines: Hashable, Sendable {
    /// From the connection to the end of the TLS handshake.
    package var handshake = Duration.seconds(5)
    /// From a head's first byte to its last; for a connection's first head, from the connection.
    package var head = Duration.seconds(5)
    /// From the end of the head to the end of the body.
    package var body = Duration.seconds(10)
    /// From the end of an answer to the next request's first byte.
    package var idle = Duration.seconds(60)
    /// From the moment the responder has answered until the client has taken the answer.
    package var answer = Duration.seconds(30)
    /// From a rejection until the client has taken its answer and closed.
    package var rejection = Duration.seconds(2)
    /// From ``Server/stop()`` to the end of the last request.
    package var drain = Duration.seconds(10)

    /// The default deadlines; the caller may change each.
    package init() {}

    /// How often they are looked at.
    var sweepInterval: Duration {
        let shortest = [handshake, head, body, idle, answer, rejection, drain].reduce(.seconds(4), min)
        return max(.milliseconds(10), shortest / 4)
    }
}

/// Where the server's certificate and key are.
package struct TLSConfiguration: Hashable, Sendable {
    /// PEM: the server's certificate first, then those between it and the root.
    package var certificateChainFile: String
    /// PEM, not encrypted.
    package var privateKeyFile: String

    /// Names the files, which are read when the server starts and by ``check()``.
    package init(certificateChainFile: String, privateKeyFile: String) {
        self.certificateChainFile = certificateChainFile
        self.privateKeyFile = privateKeyFile
    }

    /// Reads both files, and throws what a server that is to use them would say.
    package func check() throws(ServerError) {
        _ = try TLSContext(self)
    }
}
