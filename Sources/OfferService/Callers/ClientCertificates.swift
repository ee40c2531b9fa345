// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP

/// How client certificates reach the service: in the TLS handshake, or in a header that a configured proxy writes.
package struct ClientCertificates: Sendable {
    /// The header in which a proxy passes on the certificate that it has verified the possession of.
    package enum Header: String, CaseIterable, Sendable {
        /// RFC 9440: the DER as a structured byte sequence, `:BASE64:`.
        case clientCert = "Client-Cert"
        /// nginx's `$ssl_client_escaped_cert`: PEM, percent-encoded.
        case escapedPEM = "X-SSL-Client-Cert"
    }

    private static let headers = Header.allCases

    private let header: Header
    private let proxies: TrustedProxies

    /// The header counts only in requests of these proxies.
    package init(header: Header = .clientCert, proxies: TrustedProxies = .none) {
        self.header = header
        self.proxies = proxies
    }

    /// The certificate of the request's client; `nil` without one.
    ///
    /// - Throws: ``RequestFault/clientCertificate(_:)`` for a header of another sender, or one that can't be read. To pass over
    ///   it would hide a proxy that is set up wrongly.
    func certificate(of request: Request) throws(Refusal) -> CertificateKey? {
        var key: CertificateKey?
        for name in Self.headers where name.count(in: request) > 0 {
            guard name == header, proxies.contains(request.peer) else {
                throw .request(.clientCertificate(.unknownSender(name)))
            }
            guard let der = name.certificate(in: request) else { throw .request(.clientCertificate(.unreadable(name))) }
            key = CertificateKey(SHA256.digest(of: der))
        }
        // A proxy that shows a certificate of its own shows none of its client.
        guard key == nil, !proxies.contains(request.peer) else { return key }
        return request.certificateDigest.flatMap { SHA256Digest(bytes: $0) }.map(CertificateKey.init)
    }
}

/// Why a header with a client certificate is refused.
package enum ClientCertificateFault: Hashable, Sendable {
    /// The sender is none of the configured proxies, or they are configured to write the other header.
    case unknownSender(ClientCertificates.Header)
    /// It is there more than once, or in another form.
    case unreadable(ClientCertificates.Header)

    /// What is wrong, and what to do, as sentences.
    var description: String {
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

extension ClientCertificates.Header {
    fileprivate func count(in request: Request) -> Int {
        switch self {
        case .clientCert: request.headers.count(of: "Client-Cert")
        case .escapedPEM: request.headers.count(of: "X-SSL-Client-Cert")
        }
    }

    /// The DER of the certificate in the only header of that name; `nil` of anything else.
    fileprivate func certificate(in request: Request) -> [UInt8]? {
        switch self {
        case .clientCert:
            guard let value = request.headers.only("Client-Cert"), value.count > 2, value.first == UInt8(ascii: ":"),
                value.last == UInt8(ascii: ":"), let der = Base64.decode(Array(value.dropFirst().dropLast()))
            else { return nil }
            return (try? Certificate(der: der))?.der
        case .escapedPEM:
            guard let value = request.headers.only("X-SSL-Client-Cert"), let pem = PercentEncoding.decoded(value) else {
                return nil
            }
            return (try? Certificate(pem: pem))?.der
        }
    }
}
