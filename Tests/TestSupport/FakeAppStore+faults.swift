// SPDX-License-Identifier: Apache-2.0

extension FakeAppStore {
    /// In what signed data is wrong; `Tests/Fakes/AppStore` says each in a sentence.
    package enum Fault: String, Codable, CaseIterable, Sendable {
        // In the chain.
        case otherRoot, otherRootShownAsOurs, wrongChain, otherIntermediateKey, expiredLeaf, leafNotYetValid
        case leafWithoutMarker, leafOfP384, leafOfRSA, leafFromRoot, leafFromLeaf, selfSignedLeaf
        case expiredIntermediate, intermediateWithoutMarker, intermediateNotAuthority, twoCertificates
        case fourCertificates, leafAlone, certificatesReversed, certificateNotDER, certificateWithTrailingBytes
        case otherThirdCertificate, leafWithoutResponder
        // In the text of the JWS.
        case badSignature, zeroSignature, emptySignature, derSignature, shortSignature, tampered, tamperedHeader
        case algorithmNone, algorithmHS256, algorithmRS256, algorithmES384, noAlgorithm, noCertificates
        case criticalHeader, repeatedHeaderMember, base64urlCertificates, certificateNotBase64, paddedSegments
        case looseLastBits, fourSegments, twoSegments, lineEnd, xcodeCertificate
        // In the payload, under a right signature.
        case otherBundle, otherApp, otherEnvironment, xcode, localTesting, unknownEnvironment, signedLongAgo
        case signedTomorrow, noSignedDate, notJSON, notAnObject, notUTF8, repeatedMember, emptyPayload, oversized
        case deeplyNested

        /// Odd, yet a verifier that goes by the rules takes it.
        package var isAcceptable: Bool { self == .otherThirdCertificate || self == .leafWithoutResponder }

        /// Whether the chain or the JWS is wrong, so that nothing in it may be believed.
        package var isInSignature: Bool { !Self.payloadFaults.contains(self) }

        private static let payloadFaults: Set<Fault> = [
            .otherBundle, .otherApp, .otherEnvironment, .xcode, .localTesting, .unknownEnvironment, .signedLongAgo,
            .signedTomorrow, .noSignedDate, .notJSON, .notAnObject, .notUTF8, .repeatedMember, .emptyPayload,
            .oversized, .deeplyNested,
        ]
    }

    private struct Names: Decodable {
        let faults: [String: String]
    }

    /// The names of the faults that the program itself has.
    package func faultNames() throws -> [String] {
        let names: Names = try call("describe", Nothing())
        return names.faults.keys.sorted()
    }
}
