// SPDX-License-Identifier: Apache-2.0

/// The client of a connection, as far as the connection shows it.
package struct ConnectionClient: Sendable {
    /// Its address.
    package let peer: PeerAddress
    /// Whether an answer on the connection was to a client that had proved its identity (``Response/isToKnownClient``).
    var isKnown = false
    /// Whether the request asks to close the connection after its response (`Connection: close`); set in the copy that
    /// the request has.
    var asksToClose = false
    /// SHA-256 of the DER of the client's certificate, proved with its key in the TLS handshake; `nil` without one.
    package var certificateDigest: [UInt8]?

    package init(peer: PeerAddress, certificateDigest: [UInt8]? = nil) {
        self.peer = peer
        self.certificateDigest = certificateDigest
    }
}
