// SPDX-License-Identifier: Apache-2.0

/// Certificates in textual form (RFC 7468 section 5): one block after another.
///
/// Other text may be between the blocks, because tools write it there. A block of another kind is refused: a key in a
/// file of certificates is an accident that the operator should hear of.
enum CertificatePEM {
    /// The DER texts of the blocks, in their order; empty if there is none.
    static func decode(_ pem: [UInt8]) throws(TrustAnchorError) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var body: [UInt8]?
        for line in pem.split(whereSeparator: { $0 == newline || $0 == carriageReturn }) {
            if line.starts(with: dashes) {
                if let text = body {
                    guard line.elementsEqual(end) else { throw .malformedPEM }
                    guard let der = Base64.decode(text) else { throw .malformedPEM }
                    found.append(der)
                    body = nil
                } else {
                    guard line.elementsEqual(begin) else { throw .otherBlock }
                    body = []
                }
            } else {
                body?.append(contentsOf: line)
            }
        }
        guard body == nil else { throw .malformedPEM }
        return found
    }

    private static let newline = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let dashes = Array("-----".utf8)
    private static let begin = Array("-----BEGIN CERTIFICATE-----".utf8)
    private static let end = Array("-----END CERTIFICATE-----".utf8)
}
