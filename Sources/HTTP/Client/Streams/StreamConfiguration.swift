// SPDX-License-Identifier: Apache-2.0

/// Where a ``StreamConnection`` leads, and how it is secured.
package struct StreamConfiguration: Hashable, Sendable {
    /// `https` means TLS and `http` means no TLS; the connection itself is not HTTP.
    package let origin: Origin
    /// PEM: the only certificates that are trusted; `nil` trusts the system's.
    package var trustedCertificatesFile: String?
    /// PEM: the client certificate that the other side may ask for.
    package var clientCertificateFile: String?
    /// PEM, not encrypted: the key of that certificate.
    package var clientKeyFile: String?
    /// Which addresses may be connected to; `nil` admits all.
    package var addresses: AddressFilter?
    /// For the host's address, the connection and TLS together.
    package var connectTimeoutMilliseconds = 10_000

    /// Trusts the system's certificates and shows none of its own.
    package init(origin: Origin) {
        self.origin = origin
    }
}

/// Why a ``StreamConnection`` could not be made, or ended.
package enum StreamError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No connection was made.
    case notConnected(ClientError)
    /// The other side closed it in order.
    case closed
    /// The connection broke; the other side may not have read what was sent before.
    case broken(String)
    /// Nothing more could be sent for so long.
    case stalled(milliseconds: Int64)
    /// The caller asked for no more.
    case stopped

    /// A short name for the log, from a closed list.
    package var label: String {
        switch self {
        case .notConnected(let error): error.label
        case .closed: "closed"
        case .broken: "connection-lost"
        case .stalled: "stalled"
        case .stopped: "stopped"
        }
    }

    /// A sentence for the log.
    package var description: String {
        switch self {
        case .notConnected(let error): error.description
        case .closed: "The receiver closed the connection."
        case .broken(let reason): "The connection ended: \(reason)."
        case .stalled(let milliseconds): "The receiver read nothing for \(milliseconds / 1000) s."
        case .stopped: "The service stops."
        }
    }
}
