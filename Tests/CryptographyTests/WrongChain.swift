// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport
import Testing

/// A chain that must not be believed, although the data is signed with its leaf's key.
struct WrongChain: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let error: SignedDataError
    let make: @Sendable (inout TestAuthority) throws -> [[UInt8]]

    init(
        _ testDescription: String,
        _ error: SignedDataError,
        _ make: @escaping @Sendable (inout TestAuthority) throws -> [[UInt8]]
    ) {
        self.testDescription = testDescription
        self.error = error
        self.make = make
    }

    /// A chain of changed drafts, rightly signed by the authority.
    private static func drafts(
        _ testDescription: String,
        _ error: ChainError,
        _ change: @escaping @Sendable (inout TestAuthority) throws -> Void
    ) -> WrongChain {
        WrongChain(testDescription, .chain(error)) { authority in
            try change(&authority)
            return try authority.chain()
        }
    }

    static let rows = places + roots + validity + marks + keys + forms

    private static let places = [
        WrongChain("leaf and intermediate exchanged", .chain(.leafIsAuthority)) { authority in
            authority.leafKey = authority.intermediateKey
            let chain = try authority.chain()
            return [chain[1], chain[0], chain[2]]
        },
        WrongChain("root first", .chain(.leafIsAuthority)) { Array(try $0.chain().reversed()) },
        WrongChain("the leaf twice", .chain(.intermediateNotAuthority)) { authority in
            let chain = try authority.chain()
            return [chain[0], chain[0], chain[2]]
        },
        WrongChain("root as intermediate", .chain(.intermediateMarkerMissing)) { authority in
            let chain = try authority.chain()
            return [chain[0], chain[2], chain[2]]
        },
        WrongChain("two certificates", .notThreeCertificates) { Array(try $0.chain().prefix(2)) },
        WrongChain("four certificates", .notThreeCertificates) { authority in
            let chain = try authority.chain()
            return chain + [chain[2]]
        },
        WrongChain("a leaf issued by the root itself", .chain(.pathAvoidsIntermediate)) { authority in
            authority.leaf.issuer = authority.root.subject
            let leaf = try authority.leaf.der(signedBy: authority.rootKey.sign)
            return [leaf, try authority.intermediateDER(), try authority.rootDER()]
        },
        WrongChain("an intermediate of another name", .chain(.untrustedRoot)) { authority in
            authority.intermediate.subject = "Somebody Else"
            return try authority.chain()
        },
    ]

    private static let roots = [
        WrongChain("a whole chain of a stranger with the same names", .chain(.wrongSignature(.intermediate))) {
            authority in
            authority = try TestAuthority()
            return try authority.chain()
        },
        WrongChain("a stranger's root of another name", .chain(.untrustedRoot)) { authority in
            authority = try TestAuthority()
            authority.root.subject = "Another Root"
            authority.intermediate.issuer = "Another Root"
            return try authority.chain()
        },
        WrongChain("a leaf that the intermediate did not sign", .chain(.wrongSignature(.leaf))) { authority in
            let intermediate = try authority.intermediateDER()
            authority.intermediateKey = try .p256()
            return [try authority.leafDER(), intermediate, try authority.rootDER()]
        },
        WrongChain("an intermediate that issued itself", .chain(.untrustedRoot)) { authority in
            authority.intermediate.issuer = authority.intermediate.subject
            let intermediate = try authority.intermediate.der(signedBy: authority.intermediateKey.sign)
            return [try authority.leafDER(), intermediate, try authority.rootDER()]
        },
    ]

    private static let validity = [
        drafts("a leaf expired at this second", .expired(.leaf)) { $0.leaf.notAfter = testInstant },
        drafts("a leaf valid from the next second on", .notYetValid(.leaf)) { $0.leaf.notBefore = testInstant + 1 },
        drafts("an expired intermediate", .expired(.intermediate)) { $0.intermediate.notAfter = testInstant - 1 },
        drafts("an intermediate not valid yet", .notYetValid(.intermediate)) {
            $0.intermediate.notBefore = testInstant + 1
        },
    ]

    private static let marks = [
        drafts("no marker in the leaf", .leafMarkerMissing) { $0.leaf.extensions.removeLast() },
        drafts("no marker in the intermediate", .intermediateMarkerMissing) { $0.intermediate.extensions.removeLast() },
        drafts("the markers exchanged", .leafMarkerMissing) { authority in
            authority.leaf.extensions[3] = DER.marker(TestAuthority.intermediateMarker)
            authority.intermediate.extensions[3] = DER.marker(TestAuthority.leafMarker)
        },
        drafts("a marker almost the same", .leafMarkerMissing) {
            $0.leaf.extensions[3] = DER.marker(TestAuthority.leafMarker + ".1")
        },
        drafts("a leaf that is an authority", .leafIsAuthority) {
            $0.leaf.extensions[0] = DER.basicConstraints(isAuthority: true)
        },
        drafts("a leaf that may not sign data", .leafMayNotSign) { $0.leaf.extensions[1] = DER.keyUsage(0x08) },
        drafts("an intermediate that is no authority", .intermediateNotAuthority) {
            $0.intermediate.extensions[0] = DER.basicConstraints(isAuthority: false)
        },
        drafts("an intermediate without constraints", .intermediateNotAuthority) {
            $0.intermediate.extensions.removeFirst()
        },
        drafts("an intermediate that may not issue", .mayNotIssue(.intermediate)) {
            $0.intermediate.extensions[1] = DER.keyUsage(0x80)
        },
        drafts("an unknown critical extension, in the leaf", .unknownCriticalExtension(.leaf)) {
            $0.leaf.extensions.append(DER.certificateExtension("1.2.3.4", isCritical: true, [5, 0]))
        },
        drafts("an unknown critical extension, in the intermediate", .unknownCriticalExtension(.intermediate)) {
            $0.intermediate.extensions.append(DER.certificateExtension("1.2.3.4", isCritical: true, [5, 0]))
        },
    ]

    private static let keys = [
        WrongChain("a leaf on P-384", .chain(.leafKeyNotP256)) { authority in
            authority = try authority.with(leafKey: .p384())
            return try authority.chain()
        },
        WrongChain("a leaf with an RSA key", .chain(.leafKeyNotP256)) { authority in
            authority = try authority.with(leafKey: .rsa())
            return try authority.chain()
        },
        WrongChain("a leaf on secp256k1", .chain(.leafKeyNotP256)) { authority in
            let curve = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"]
            authority = try authority.with(leafKey: .other(curve))
            return try authority.chain()
        },
        WrongChain("a leaf that spells the parameters of P-256 out", .certificate(.curveNotNamed, index: 0)) {
            authority in
            let curve = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
            authority = try authority.with(leafKey: .other(curve + ["-pkeyopt", "ec_param_enc:explicit"]))
            return try authority.chain()
        },
        WrongChain("a leaf with a compressed point", .chain(.leafKeyNotP256)) { authority in
            let point = authority.leaf.key[26...]
            let bits = [point[point.endIndex - 1] & 1 | 2] + point[27..<59]
            authority.leaf.key = KeyDER.element(
                0x30,
                KeyDER.element(0x30, KeyDER.ecPublicKey, KeyDER.prime256v1),
                KeyDER.element(0x03, [0], bits)
            )
            return try authority.chain()
        },
        WrongChain("a leaf whose point is not on the curve", .chain(.leafKeyNotP256)) { authority in
            authority.leaf.key[90] ^= 1
            return try authority.chain()
        },
    ]

    private static let forms = [
        WrongChain("a byte after the leaf", .certificate(.trailingBytes(1), index: 0)) { authority in
            let chain = try authority.chain()
            return [chain[0] + [0], chain[1], chain[2]]
        },
        WrongChain("a cut intermediate", .certificate(.notACertificate, index: 1)) { authority in
            let chain = try authority.chain()
            return [chain[0], Array(chain[1].dropLast()), chain[2]]
        },
        WrongChain("a leaf in BER with a length that is too long", .certificate(.notDER, index: 0)) { authority in
            let chain = try authority.chain()
            return [[0x30, 0x83, 0x00] + chain[0][2...], chain[1], chain[2]]
        },
        WrongChain("a leaf of version 1", .certificate(.notVersion3, index: 0)) { authority in
            authority.leaf.version = 1
            authority.leaf.extensions = []
            return try authority.chain()
        },
        WrongChain("constraints that can't be read", .certificate(.malformedExtensions, index: 0)) { authority in
            authority.leaf.extensions[0] = DER.certificateExtension("2.5.29.19", isCritical: true, [0x04, 0x00])
            return try authority.chain()
        },
    ]
}

extension TestAuthority {
    /// The same authority with another leaf key.
    func with(leafKey: TestKey) throws -> TestAuthority {
        var other = try TestAuthority(rootKey: rootKey, intermediateKey: intermediateKey, leafKey: leafKey)
        other.root = root
        return other
    }
}

struct WrongChainTests {
    @Test(arguments: WrongChain.rows)
    func `refuses it with its reason and does not remember it`(row: WrongChain) throws {
        var authority = try TestAuthority()
        let verifier = SignedDataVerifier(anchors: try authority.anchors())
        let chain = try row.make(&authority)
        let jws = try TestJWS(chain: chain, key: authority.leafKey).bytes()
        for _ in 0..<2 {
            #expect(throws: row.error) { try verifier.verify(jws, at: testInstant) }
        }
        #expect(verifier.statistics == SignedDataStatistics(hits: 0, misses: 0, rememberedChains: 0))
    }

    @Test
    func `refuses a good chain that ends at a root outside the anchors`() throws {
        let authority = try TestAuthority()
        let jws = try TestJWS(chain: authority.chain(), key: authority.leafKey).bytes()
        let verifier = SignedDataVerifier(anchors: try .appleRootCAG3())
        #expect(throws: SignedDataError.chain(.untrustedRoot)) { try verifier.verify(jws, at: testInstant) }
        let both = SignedDataVerifier(anchors: try TrustAnchors.appleRootCAG3().union(authority.anchors()))
        #expect(throws: Never.self) { try both.verify(jws, at: testInstant) }
    }

    @Test
    func `refuses an expired root`() throws {
        var authority = try TestAuthority()
        authority.root.notAfter = testInstant
        let jws = try TestJWS(chain: authority.chain(), key: authority.leafKey).bytes()
        let verifier = SignedDataVerifier(anchors: try authority.anchors())
        #expect(throws: SignedDataError.chain(.expired(.root))) { try verifier.verify(jws, at: testInstant) }
    }

    @Test
    func `refuses a root that allows no intermediate`() throws {
        var authority = try TestAuthority()
        authority.root.extensions[0] = DER.basicConstraints(isAuthority: true, pathLength: 0)
        let jws = try TestJWS(chain: authority.chain(), key: authority.leafKey).bytes()
        let verifier = SignedDataVerifier(anchors: try authority.anchors())
        #expect(throws: SignedDataError.chain(.pathTooLong)) { try verifier.verify(jws, at: testInstant) }
    }

    @Test
    func `refuses an intermediate signed over SHA-1`() throws {
        let curve = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        let rootKey = try TestKey.other(curve, digest: "-sha1", algorithm: DER.ecdsaWithSHA1)
        let authority = try TestAuthority(rootKey: rootKey)
        let jws = try TestJWS(chain: authority.chain(), key: authority.leafKey).bytes()
        let verifier = SignedDataVerifier(anchors: try authority.anchors())
        #expect(throws: SignedDataError.chain(.tooWeak(.intermediate))) { try verifier.verify(jws, at: testInstant) }
    }

    @Test
    func `goes by the instant that it is given`() throws {
        let authority = try TestAuthority()
        let jws = try TestJWS(chain: authority.chain(), key: authority.leafKey).bytes()
        let verifier = SignedDataVerifier(anchors: try authority.anchors())
        let (first, end) = (authority.leaf.notBefore, authority.leaf.notAfter)
        #expect(throws: SignedDataError.chain(.notYetValid(.leaf))) { try verifier.verify(jws, at: first - 1) }
        #expect(throws: Never.self) { try verifier.verify(jws, at: first) }
        #expect(throws: Never.self) { try verifier.verify(jws, at: end - 1) }
        #expect(throws: SignedDataError.chain(.expired(.leaf))) { try verifier.verify(jws, at: end) }
        #expect(throws: SignedDataError.chain(.notYetValid(.leaf))) { try verifier.verify(jws, at: first - 1) }
    }
}
