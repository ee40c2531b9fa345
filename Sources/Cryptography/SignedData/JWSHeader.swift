// SPDX-License-Identifier: Apache-2.0
import JSON

/// The header of signed data: an algorithm that can only be ES256, and three certificates.
///
/// Unknown members are ignored, as RFC 7515 section 4 requires: Apple may add some. Members that would change what is
/// verified are refused. `crit` is one of them, because it makes other members count.
struct JWSHeader {
    let leaf: Certificate
    let intermediate: Certificate

    init(_ text: [UInt8]) throws(SignedDataError) {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(text, limits: Self.limits)
        } catch {
            throw .headerNotJSON(offset: error.offset)
        }
        guard let members = document.root.object else { throw .headerNotObject }
        for member in ForbiddenHeaderMember.allCases where members[member.rawValue] != nil {
            throw .forbiddenMember(member)
        }
        try Self.checkAlgorithm(members["alg"])
        let certificates = try Self.certificates(members["x5c"])
        leaf = certificates[0]
        intermediate = certificates[1]
    }

    private static let limits = JSONLimits(maximumBytes: JWSSegments.maximumHeaderBytes, maximumNodes: 64)

    private static func checkAlgorithm(_ value: JSONValue?) throws(SignedDataError) {
        guard let value else { throw .algorithmMissing }
        // As bytes; the names below only make the reason clearer.
        guard !value.string(equals: "ES256") else { return }
        switch value.string?.lowercased() {
        case "none": throw .algorithmNone
        case "hs256", "hs384", "hs512": throw .algorithmSymmetric
        default: throw .algorithmNotES256
        }
    }

    /// Reads the first two of three.
    ///
    /// The third is the root. The path has to end at a root that is trusted here, whatever the sender put in that place, so it
    /// is held to no rules of its own.
    private static func certificates(_ value: JSONValue?) throws(SignedDataError) -> [Certificate] {
        guard let value else { throw .certificatesMissing }
        guard let elements = value.array else { throw .certificatesNotArray }
        guard elements.count == 3 else { throw .notThreeCertificates }
        var certificates: [Certificate] = []
        for (index, element) in elements.enumerated() {
            guard let text = element.stringBytes else { throw .certificatesNotArray }
            if index == 2 { break }
            guard let der = Base64.decode(text) else { throw .certificateNotBase64(index: index) }
            do throws(CertificateError) {
                certificates.append(try Certificate(der: der))
            } catch {
                throw .certificate(error, index: index)
            }
        }
        return certificates
    }
}
