// SPDX-License-Identifier: Apache-2.0

/// How client certificates reach the service: in the TLS handshake, or in a header that a configured proxy writes.
package struct ClientCertificates: Sendable {
    /// The header in which a proxy passes on the certificate that it has verified the possession of.
    package enum Header: String, CaseIterable, Sendable {
        /// RFC 9440: the DER as a structured byte sequence, `:BASE64:`.
        case clientCert = "Client-Cert"
        /// nginx's `$ssl_client_escaped_cert`: PEM, percent-encoded.
        case escapedPEM = "X-SSL-Client-Cert"
    }

    /// The header in which a proxy passes certificates on.
    package let header: Header
    /// The proxies whose header counts.
    package let proxies: TrustedProxies

    package init(header: Header = .clientCert, proxies: TrustedProxies = .none) {
        self.header = header
        self.proxies = proxies
    }
}

/// Why a header with a client certificate is refused.
package enum ClientCertificateFault: Hashable, Sendable {
    /// The sender is not one of the configured proxies, or the proxies are configured to write the other header.
    case unknownSender(ClientCertificates.Header)
    /// It is there more than once, or in another form.
    case unreadable(ClientCertificates.Header)

    /// What is wrong, and what to do, as sentences.
    package var description: String {
        switch self {
        case .unknownSender(let header):
            "\(header.rawValue) counts only from the proxies of --client-certificate-proxy, if --client-certificate-header "
                + "names it. The proxy in front of the service must remove the header from what its clients send."
        case .unreadable(.clientCert):
            "Client-Cert: expected one header with :BASE64: of a certificate in DER (RFC 9440)."
        case .unreadable(.escapedPEM):
            "X-SSL-Client-Cert: expected one header with a certificate in percent-encoded PEM."
        }
    }
}
