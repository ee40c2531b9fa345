// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP

extension ClientCertificates {
    /// The certificate of the request's client; `nil` without one.
    ///
    /// - Throws: ``RequestFault/clientCertificate(_:)`` for a header from an unknown sender, or an unreadable one.
    ///   Ignoring the header would hide a wrong proxy setup.
    func certificate(of request: Request) throws(Refusal) -> CertificateKey? {
        var key: CertificateKey?
        for name in Header.allCases where name.count(in: request) > 0 {
            guard name == header, proxies.contains(request.peer) else {
                throw .request(.clientCertificate(.unknownSender(name)))
            }
            guard let der = name.certificate(in: request) else { throw .request(.clientCertificate(.unreadable(name))) }
            key = CertificateKey(SHA256.digest(of: der))
        }
        // If a proxy presents a certificate of its own, that is not its client's.
        guard key == nil, !proxies.contains(request.peer) else { return key }
        return request.certificateDigest.flatMap { SHA256Digest(bytes: $0) }.map(CertificateKey.init)
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
