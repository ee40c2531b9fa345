// SPDX-License-Identifier: Apache-2.0

/// How a ``Client`` connects, and what it puts up with.
package struct ClientConfiguration: Hashable, Sendable {
    /// For the host's address, the connection and TLS together.
    package var connectTimeoutMilliseconds = 3000
    /// For a request that names none of its own: from the call to the end of the answer.
    package var timeoutMilliseconds: Int
    /// Of an answer's body, after decompression.
    package var maximumResponseBytes: Int
    /// Of all heads of an answer together: interim ones, the final one and trailers.
    package var maximumHeadBytes = 32 * 1024
    /// The maximum number of connections to one host.
    ///
    /// Over HTTP/2 a connection carries many requests, so one or two are opened. Over HTTP/1.1 it carries one at a time, and
    /// further requests wait in order of arrival.
    package var connectionsPerHost = 128
    /// Requests to one origin that are sent or wait to be sent; one more fails at once.
    package var maximumWaiting = 512
    /// PEM: the only certificates that are trusted; `nil` trusts the system's.
    package var trustedCertificatesFile: String?
    /// Sent as `User-Agent`.
    package var userAgent: String
    /// Whether origins may be `http`: for OCSP responders, which sign their responses, and for tests.
    package var allowsPlainHTTP: Bool
    /// Whether to accept any certificate: only for a service that sends requests to itself on its own machine.
    package var trustsAnyServer = false
    /// Which addresses may be connected to; `nil` admits all.
    package var addresses: AddressFilter?

    /// The defaults suit calls to a store's API.
    package init(
        timeoutMilliseconds: Int = 10_000,
        maximumResponseBytes: Int = 2 * 1024 * 1024,
        trustedCertificatesFile: String? = nil,
        userAgent: String = "offer-signer",
        allowsPlainHTTP: Bool = false
    ) {
        self.timeoutMilliseconds = timeoutMilliseconds
        self.maximumResponseBytes = maximumResponseBytes
        self.trustedCertificatesFile = trustedCertificatesFile
        self.userAgent = userAgent
        self.allowsPlainHTTP = allowsPlainHTTP
    }
}

/// What a ``Client`` has done so far.
package struct ClientStatistics: Hashable, Sendable {
    /// Requests that are sent or wait to be sent.
    package var inFlight: Int
    /// Requests that ended with an answer.
    package var answered: Int
    /// Requests that ended without one.
    package var failed: Int
    /// Connections that were made, over all requests.
    package var connectionsOpened: Int

    /// Zeros: nothing has happened yet.
    package init(inFlight: Int = 0, answered: Int = 0, failed: Int = 0, connectionsOpened: Int = 0) {
        self.inFlight = inFlight
        self.answered = answered
        self.failed = failed
        self.connectionsOpened = connectionsOpened
    }
}
