// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport
import Testing

/// A JWS that must not be believed, although its chain is good.
struct WrongSignedData: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let error: SignedDataError
    let make: @Sendable (TestJWS) throws -> [UInt8]

    init(
        _ testDescription: String,
        _ error: SignedDataError,
        _ make: @escaping @Sendable (TestJWS) throws -> [UInt8]
    ) {
        self.testDescription = testDescription
        self.error = error
        self.make = make
    }

    /// A header with one member set or replaced, rightly signed.
    private static func member(_ name: String, _ value: String, _ error: SignedDataError) -> WrongSignedData {
        WrongSignedData("\(name) is \(value.prefix(24))", error) { jws in
            var jws = jws
            jws.set(name, value)
            return try jws.bytes()
        }
    }

    /// A header that is this text, rightly signed.
    private static func header(_ text: String, _ error: SignedDataError) -> WrongSignedData {
        WrongSignedData("the header is \(text.prefix(24))", error) { jws in
            try jws.signed(Base64.encodeURL(Array(text.utf8)) + dot + Base64.encodeURL(jws.payload))
        }
    }

    /// A signature that is made of the right one in r and s.
    private static func signature(
        _ name: String,
        _ error: SignedDataError,
        _ change: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) -> WrongSignedData {
        WrongSignedData(name, error) { jws in
            let text = try jws.bytes()
            let input = text.prefix { _ in true }.split(separator: dot[0])
            let signature = try #require(Base64.decodeURL(Array(input[2])))
            return Array(input[0] + dot + input[1] + dot) + Base64.encodeURL(try change(signature))
        }
    }

    /// The whole text changed.
    private static func text(
        _ name: String,
        _ error: SignedDataError,
        _ change: @escaping @Sendable (inout [UInt8]) throws -> Void
    ) -> WrongSignedData {
        WrongSignedData(name, error) { jws in
            var text = try jws.bytes()
            try change(&text)
            return text
        }
    }

    private static let dot = Array(".".utf8)
    private static let zeros = [UInt8](repeating: 0, count: 32)

    static let rows = forms + segments + algorithms + members + certificates + signatures

    private static let forms = [
        WrongSignedData("nothing", .notThreeSegments) { _ in [] },
        WrongSignedData("two dots", .notThreeSegments) { _ in Array("..".utf8) },
        WrongSignedData("a.b", .notThreeSegments) { _ in Array("a.b".utf8) },
        WrongSignedData("a.b.c.d", .notThreeSegments) { _ in Array("a.b.c.d".utf8) },
        WrongSignedData("a.b.c", .notBase64URL(.payload)) { _ in Array("a.b.c".utf8) },
        WrongSignedData("no signature", .notThreeSegments) { jws in
            try Array(jws.bytes().prefix(while: { $0 != dot[0] })) + Array(".e30.".utf8)
        },
        text("a fourth segment", .notThreeSegments) { $0 += dot },
        text("the JSON form", .notThreeSegments) { $0 = Array(#"{"payload":"e30","signatures":[]}"#.utf8) },
        text("a line end after it", .notBase64URL(.signature)) { $0.append(0x0A) },
        text("a space before it", .notBase64URL(.header)) { $0.insert(0x20, at: 0) },
        text("a byte too large", .tooLarge(limit: 16_384)) { $0 += [UInt8](repeating: 0x41, count: 16_385 - $0.count) },
        WrongSignedData("a header too large", .headerTooLarge(limit: 12_288)) { jws in
            var jws = jws
            jws.set("pad", #""\#(String(repeating: "x", count: 9_216 - jws.headerBytes.count))""#)
            return try jws.bytes()
        },
    ]

    private static let segments = [
        WrongSignedData("padding in the header", .notBase64URL(.header)) { jws in
            var jws = jws
            for count in 0..<3 {
                jws.set("pad", #""\#(String(repeating: "x", count: count))""#)
                if jws.headerBytes.count % 3 == 1 { break }
            }
            return try jws.signed(Base64.encodeURL(jws.headerBytes) + Array("==.".utf8) + Base64.encodeURL(jws.payload))
        },
        WrongSignedData("padding in the payload", .notBase64URL(.payload)) { jws in
            try jws.signed(Base64.encodeURL(jws.headerBytes) + Array(".e30=".utf8))
        },
        text("padding in the signature", .notBase64URL(.signature)) { $0 += Array("==".utf8) },
        WrongSignedData("unused bits in the header", .notBase64URL(.header)) { jws in
            try jws.signed(Array("e31.e30".utf8))
        },
        WrongSignedData("unused bits in the payload", .notBase64URL(.payload)) { jws in
            try jws.signed(Base64.encodeURL(jws.headerBytes) + Array(".e31".utf8))
        },
        text("unused bits in the signature", .notBase64URL(.signature)) { text in
            let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
            let value = try #require(digits.firstIndex(of: text[text.count - 1]))
            text[text.count - 1] = digits[value | 1]
        },
        WrongSignedData("the standard alphabet", .notBase64URL(.payload)) { jws in
            try jws.signed(Base64.encodeURL(jws.headerBytes) + Array(".-+8".utf8))
        },
        WrongSignedData("another payload", .wrongSignature) { jws in
            var parts = try jws.bytes().split(separator: dot[0]).map(Array.init)
            parts[1] = Base64.encodeURL(jws.payload + [0x20])
            return Array(parts.joined(separator: dot))
        },
    ]

    private static let algorithms = [
        member("alg", #""none""#, .algorithmNone),
        member("alg", #""NoNe""#, .algorithmNone),
        WrongSignedData("none, and no signature", .notThreeSegments) { jws in
            var jws = jws
            jws.set("alg", #""none""#)
            return Base64.encodeURL(jws.headerBytes) + dot + Base64.encodeURL(jws.payload) + dot
        },
        WrongSignedData("HS256 with the public key", .signatureNot64Bytes) { try hs256($0, padding: 0) },
        WrongSignedData("HS256 with the public key, made 64 bytes long", .algorithmSymmetric) {
            try hs256($0, padding: 32)
        },
        member("alg", #""HS256""#, .algorithmSymmetric),
        member("alg", #""HS384""#, .algorithmSymmetric),
        member("alg", #""HS512""#, .algorithmSymmetric),
        member("alg", #""ES384""#, .algorithmNotES256),
        member("alg", #""ES256K""#, .algorithmNotES256),
        member("alg", #""RS256""#, .algorithmNotES256),
        member("alg", #""es256""#, .algorithmNotES256),
        member("alg", #""ES256 ""#, .algorithmNotES256),
        member("alg", #"["ES256"]"#, .algorithmNotES256),
        member("alg", "null", .algorithmNotES256),
        WrongSignedData("no alg", .algorithmMissing) { jws in
            var jws = jws
            jws.header.removeFirst()
            return try jws.bytes()
        },
    ]

    private static let members =
        ForbiddenHeaderMember.allCases.flatMap { forbidden in
            [#"["exp"]"#, "null", #""https://attacker.example/""#].map { value in
                member(forbidden.rawValue, value, .forbiddenMember(forbidden))
            }
        } + [
            header("", .notThreeSegments),
            header("{", .headerNotJSON(offset: 1)),
            header("[]", .headerNotObject),
            header(#""ES256""#, .headerNotObject),
            header(
                #"{"alg":"ES256","alg":"ES256"}"#,
                .headerNotJSON(offset: 15)
            ),
            header(
                #"{"alg":"none","\u0061lg":"ES256"}"#,
                .headerNotJSON(offset: 14)
            ),
            header("\u{FEFF}{}", .headerNotJSON(offset: 0)),
            header(#"{"alg":"ES256"} {}"#, .headerNotJSON(offset: 16)),
        ]

    private static let certificates = [
        header(#"{"alg":"ES256"}"#, .certificatesMissing),
        member("x5c", #""MIIB""#, .certificatesNotArray),
        member("x5c", "null", .certificatesNotArray),
        member("x5c", #"{"0":"MIIB"}"#, .certificatesNotArray),
        member("x5c", "[1,2,3]", .certificatesNotArray),
        member("x5c", "[]", .notThreeCertificates),
        member("x5c", #"["AAAA","AAAA"]"#, .notThreeCertificates),
        member("x5c", #"["AAAA","AAAA","AAAA","AAAA"]"#, .notThreeCertificates),
        member("x5c", #"["AAA","AAAA","AAAA"]"#, .certificateNotBase64(index: 0)),
        member("x5c", #"["AA-_","AAAA","AAAA"]"#, .certificateNotBase64(index: 0)),
        member("x5c", #"["","AAAA","AAAA"]"#, .certificate(.notACertificate, index: 0)),
        member("x5c", #"["MAAA","AAAA","AAAA"]"#, .certificate(.notACertificate, index: 0)),
    ]

    private static let signatures = [
        signature("the signature in DER", .signatureInDER) { try #require(ECDSASignature(rawRS: $0)).der },
        signature("63 bytes", .signatureNot64Bytes) { Array($0.dropLast()) },
        signature("65 bytes", .signatureNot64Bytes) { $0 + [0] },
        signature("r = 0", .signatureOutOfRange) { zeros + $0[32...] },
        signature("s = 0", .signatureOutOfRange) { $0[..<32] + zeros },
        signature("r = s = 0", .signatureOutOfRange) { _ in zeros + zeros },
        signature("r = n", .signatureOutOfRange) { KeyDER.order + $0[32...] },
        signature("s = n", .signatureOutOfRange) { $0[..<32] + KeyDER.order },
        signature("s = 2^256 - 1", .signatureOutOfRange) { $0[..<32] + [UInt8](repeating: 0xFF, count: 32) },
        signature("s = n - 1", .wrongSignature) { signature in
            var order = KeyDER.order
            order[31] -= 1
            return signature[..<32] + order
        },
        signature("r and s exchanged", .wrongSignature) { Array($0[32...] + $0[..<32]) },
        signature("another bit", .wrongSignature) { signature in
            var signature = signature
            signature[63] ^= 1
            return signature
        },
        WrongSignedData("a signature with another key", .wrongSignature) { jws in
            var jws = jws
            jws.key = try .p256()
            return try jws.bytes()
        },
    ]

    /// The confusion of RFC 8725 section 2.1: the public key as the shared secret.
    private static func hs256(_ jws: TestJWS, padding: Int) throws -> [UInt8] {
        var jws = jws
        jws.set("alg", #""HS256""#)
        let input = Base64.encodeURL(jws.headerBytes) + dot + Base64.encodeURL(jws.payload)
        let code = try HMACKey(secret(jws.key.spki)).authenticationCode(for: input)
        return input + dot + Base64.encodeURL(code + [UInt8](repeating: 1, count: padding))
    }
}

struct WrongSignedDataTests {
    @Test(arguments: WrongSignedData.rows)
    func `refuses it with its reason, remembered chain or not`(row: WrongSignedData) throws {
        let authority = try TestAuthority()
        let good = TestJWS(chain: try authority.chain(), key: authority.leafKey)
        let wrong = try row.make(good)
        let verifier = SignedDataVerifier(anchors: try authority.anchors())
        #expect(throws: row.error) { try verifier.verify(wrong, at: testInstant) }
        #expect(verifier.statistics.rememberedChains == 0)
        _ = try verifier.verify(good.bytes(), at: testInstant)
        #expect(throws: row.error) { try verifier.verify(wrong, at: testInstant) }
        #expect(verifier.statistics == SignedDataStatistics(hits: 0, misses: 1, rememberedChains: 1))
    }
}
