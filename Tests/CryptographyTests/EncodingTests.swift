// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import TestSupport
import Testing

struct EncodingTests {
    /// Source: RFC 4648 section 10.
    @Test(
        arguments: zip(
            ["", "f", "fo", "foo", "foob", "fooba", "foobar"],
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]
        )
    )
    func `encodes and decodes the examples of the RFC`(plain: String, text: String) {
        let bytes = Array(plain.utf8)
        let unpadded = Array(text.filter { $0 != "=" }.utf8)
        #expect(Base64.encode(bytes) == Array(text.utf8))
        #expect(Base64.decode(Array(text.utf8)) == bytes)
        #expect(Base64.encodeURL(bytes) == unpadded)
        #expect(Base64.decodeURL(unpadded) == bytes)
    }

    @Test
    func `agrees with Foundation on any bytes`() throws {
        let random = try SystemRandom()
        for count in 0..<200 {
            let bytes = random.bytes(count)
            let text = Data(bytes).base64EncodedString()
            #expect(Base64.encode(bytes) == Array(text.utf8))
            #expect(Base64.decode(Array(text.utf8)) == bytes)
            let url = text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            #expect(Base64.encodeURL(bytes) == Array(url.utf8))
            #expect(Base64.decodeURL(Array(url.utf8)) == bytes)
        }
    }

    @Test(
        arguments: [
            "Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm8", "Zm8==", "Z===", "====", "=", "Zm9v====", "Zg==Zg==",
            "Zm=v",
            "Zm9v\n", " Zm9v", "Zm 9v", "Zm9-", "Zm9_", "Zm9\u{0}", "Zm9.", "Zm\u{E9}v",
        ]
    )
    func `refuses every other text of the standard form`(text: String) {
        #expect(Base64.decode(Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        "Z", "Zg==", "Zh", "Zm9", "Zm8=", "Zm9vZ", "Zm9+", "Zm9/", "Zm9v\n", "Zm9v ", "Zg=", "Zm9.", "Zm9v=",
    ])
    func `refuses every other text of the form for URLs`(text: String) {
        #expect(Base64.decodeURL(Array(text.utf8)) == nil)
    }

    @Test
    func `has one text for one byte string`() {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for first in alphabet {
            for second in alphabet {
                let text = [first, second] + Array("==".utf8)
                #expect(Base64.decode(text).map { Base64.encode($0) == text } != false)
            }
        }
    }

    @Test
    func `joins a JWS that openssl verifies`() throws {
        let directory = try TemporaryDirectory()
        let key = try privateKey(KeyTool.makeKey())
        let jws = CompactJWS(header: Array(#"{"alg":"ES256"}"#.utf8), payload: Array(#"{"a":1}"#.utf8))
        #expect(String(decoding: jws.signingInput, as: UTF8.self) == "eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ")
        let text = try jws.serialized(signature: key.signature(of: SHA256.digest(of: jws.signingInput)))
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        #expect(parts.count == 3)
        #expect(text.starts(with: jws.signingInput))
        let raw = try #require(Base64.decodeURL(Array(parts[2])))
        let signature = try #require(ECDSASignature(rawRS: raw))
        let publicKey = try directory.write(Array(key.publicKey.pem.utf8), to: "public.pem")
        let file = try directory.write(signature.der, to: "signature")
        try KeyTool.openssl("dgst", "-sha256", "-verify", publicKey, "-signature", file, input: jws.signingInput)
    }
}
