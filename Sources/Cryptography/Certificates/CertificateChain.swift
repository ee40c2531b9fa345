// SPDX-License-Identifier: Apache-2.0

/// A leaf and an intermediate from an untrusted sender, to be checked against our roots.
///
/// Source: RFC 5280 section 6; the two markers are those that Apple's server libraries ask for.
struct CertificateChain {
    let leaf: Certificate
    let intermediate: Certificate

    /// Marks certificates that sign receipts and signed data.
    static let leafMarker = ObjectIdentifierText("1.2.840.113635.100.6.11.1")

    /// Marks Apple's intermediates for developer relations.
    static let intermediateMarker = ObjectIdentifierText("1.2.840.113635.100.6.2.1")

    /// Checks what takes no cryptography: markers, constraints, validity at the instant.
    ///
    /// - Returns: The leaf's key.
    func checkForm(at unixSeconds: Int64) throws(ChainError) -> PublicKey {
        let key = try checkConstraints(at: unixSeconds)
        guard leaf.hasExtension(Self.leafMarker) else { throw .leafMarkerMissing }
        guard intermediate.hasExtension(Self.intermediateMarker) else { throw .intermediateMarkerMissing }
        return key
    }

    /// The same of chains that have no markers.
    func checkConstraints(at unixSeconds: Int64) throws(ChainError) -> PublicKey {
        guard !leaf.isAuthority else { throw .leafIsAuthority }
        guard let key = leaf.p256Key else { throw .leafKeyNotP256 }
        guard leaf.allows(.digitalSignature) else { throw .leafMayNotSign }
        guard intermediate.isAuthority else { throw .intermediateNotAuthority }
        guard intermediate.allows(.certificateSigning) else { throw .mayNotIssue(.intermediate) }
        for (certificate, role) in [(leaf, CertificateRole.leaf), (intermediate, .intermediate)] {
            guard unixSeconds >= certificate.notBefore else { throw .notYetValid(role) }
            guard unixSeconds < certificate.notAfter else { throw .expired(role) }
        }
        return key
    }

    /// Checks the path from the leaf over the intermediate to one of the roots, each signature and everything that
    /// OpenSSL knows of RFC 5280.
    ///
    /// Costs two verifications with the keys of root and intermediate: with P-384, a millisecond or more.
    func verified(against anchors: TrustAnchors, at unixSeconds: Int64) throws(ChainError) -> VerifiedChain {
        let question = CertificatePath(leaf: leaf, untrusted: [intermediate], trusted: anchors.certificates)
        let path = try question.found(at: unixSeconds)
        guard path.count == 3, path[1] == intermediate else { throw .pathAvoidsIntermediate }
        return VerifiedChain(leaf: leaf, intermediate: intermediate, root: path[2])
    }
}
