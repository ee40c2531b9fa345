// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import Testing

/// The examples of the RFCs on tokens, their keys and proofs of possession.
struct TokenVectorTests {
    private static func key(_ json: String) throws -> TokenKey { try TokenKey(JSONDocument(Array(json.utf8)).root) }

    static let rsaModulus =
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZ"
        + "S-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2"
        + "R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcD"
        + "TW9gb54h4FRWyuXpoQ"

    static let rsaKey = #"{"kty":"RSA","n":"\#(rsaModulus)","e":"AQAB"}"#
    static let ecKey =
        #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
        + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#
    static let edKey = #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#

    private static let claims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    private static let rs256 =
        "eyJhbGciOiJSUzI1NiJ9.\(claims)."
        + "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CU"
        + "Ar7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_d"
        + "O--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0ig"
        + "cN_IoypGlUPQGe77Rw"

    private static let es256 =
        "eyJhbGciOiJFUzI1NiJ9.\(claims)."
        + "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    @Test(arguments: [("RFC 7515 A.2", rs256, rsaKey, ecKey), ("RFC 7515 A.3", es256, ecKey, rsaKey)])
    func `verifies the token of the example by its key, and by no other`(
        name: String,
        text: String,
        key: String,
        other: String
    ) throws {
        let token = try JSONWebToken(Array(text.utf8)[...])
        #expect(token.isSigned(by: try Self.key(key)), "\(name)")
        #expect(token.payload["iss"]?.string == "joe")
        #expect(!token.isSigned(by: try Self.key(other)))
        let parts = text.split(separator: ".")
        // One character of the payload; the claim is "jof" then.
        let changed = "\(parts[0]).\(parts[1].replacing("pc3MiOiJqb2UiLA", with: "pc3MiOiJqb2YiLA")).\(parts[2])"
        #expect(changed != text)
        #expect(!(try JSONWebToken(Array(changed.utf8)[...])).isSigned(by: try Self.key(key)))
    }

    /// RFC 8037 A.4; its payload is no JSON object, so it is no token here.
    @Test func `verifies the Ed25519 signature of the example`() throws {
        let text = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
        let signed =
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        let signature = try #require(Base64.decodeURL(Array(signed.utf8)))
        let key = try Self.key(Self.edKey)
        #expect(key.verifies(signature, of: Array(text.utf8)[...], by: .edDSA))
        #expect(!key.verifies(signature, of: Array(text.utf8).dropLast(), by: .edDSA))
        #expect(throws: TokenFault.payloadNotJSON) { try JSONWebToken(Array("\(text).\(signed)".utf8)[...]) }
    }

    // MARK: - RFC 9449

    private static let proofHeader =
        "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0Rs"
        + "cEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2"
        + "In19"

    /// Figure 13, with a proof for a request of a protected resource.
    private static let proof =
        proofHeader
        + ".eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90"
        + "ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFF"
        + "byJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA"

    /// Figure 2, with a proof for a request of a token.
    private static let tokenRequestProof =
        proofHeader
        + ".eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2Vu"
        + "IiwiaWF0IjoxNTYyMjYyNjE2fQ"
        + ".2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg"

    private static let accessToken = Array("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU".utf8)
    /// Figure 9.
    private static let thumbprint = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"

    @Test func `takes the DPoP proof of the example for its request, token and key alone`() throws {
        let proof = try TokenProof(Array(Self.proof.utf8)[...])
        #expect(String(decoding: Base64.encodeURL(proof.thumbprint.bytes), as: UTF8.self) == Self.thumbprint)
        #expect(proof.id == "e1j3V_bKic8-LAEB" && proof.nonce == nil && proof.issuedAt == 1_562_262_618_000)
        func check(_ method: String, _ url: String, _ token: [UInt8], _ key: String) throws(ProofFault) {
            try proof.check(method: method, url: url, token: token[...], confirmation: key)
        }
        let url = "https://resource.example.org/protectedresource"
        #expect(throws: Never.self) { try check("GET", url, Self.accessToken, Self.thumbprint) }
        #expect(throws: ProofFault.otherMethod) { try check("POST", url, Self.accessToken, Self.thumbprint) }
        #expect(throws: ProofFault.otherURL) { try check("GET", url + "s", Self.accessToken, Self.thumbprint) }
        #expect(throws: ProofFault.otherToken) { try check("GET", url, Array("other".utf8), Self.thumbprint) }
        #expect(throws: ProofFault.otherKey) {
            try check("GET", url, Self.accessToken, String(Self.thumbprint.reversed()))
        }
    }

    @Test func `takes no DPoP proof that was made for a request of a token`() {
        #expect(throws: ProofFault.claimMissing("ath")) {
            _ = try TokenProof(Array(Self.tokenRequestProof.utf8)[...])
        }
    }

    // MARK: - Keys

    /// The key of RFC 7638 section 3.1 is RSA, and RSA keys get no thumbprint: proofs have keys on P-256.
    @Test func `makes the thumbprint of keys on P-256 alone, whatever else they say`() throws {
        let coordinates =
            #""y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs""#
        for more in ["", #","kid":"2011-04-29","alg":"ES256","use":"sig""#] {
            let key = try Self.key(#"{\#(coordinates),"kty":"EC","crv":"P-256"\#(more)}"#)
            let thumbprint = try #require(key.p256Thumbprint)
            #expect(Base64.encodeURL(thumbprint.bytes) == Array(Self.thumbprint.utf8))
        }
        for key in [Self.rsaKey, Self.edKey] { #expect(try Self.key(key).p256Thumbprint == nil) }
    }

    /// Members that are added to a key, or replace its own, and why it is passed over then; `nil` where it is as good.
    private static let keys: [(key: String, members: [String: String], fault: TokenKeyFault?)] =
        [ecKey, rsaKey, edKey].flatMap { key -> [(String, [String: String], TokenKeyFault?)] in
            [
                (key, [:], nil),
                (key, ["use": #""sig""#, "key_ops": #"["verify","sign"]"#, "x5t": #""AAAA""#], nil),
                (key, ["d": #""AAAA""#], .secret), (key, ["d": "null"], .secret), (key, ["k": #""AAAA""#], .secret),
                (key, ["use": #""enc""#], .otherUse), (key, ["use": "null"], .otherUse),
                (key, ["key_ops": "[]"], .otherUse), (key, ["key_ops": #"["sign"]"#], .otherUse),
                (key, ["key_ops": #""verify""#], .otherUse),
                (key, ["kid": #""""#], .idUnfit), (key, ["kid": "1"], .idUnfit),
                (key, ["alg": #""HS256""#], .otherAlgorithm), (key, ["kty": #""oct""#], .otherKind),
            ]
        } + [
            (rsaKey, ["p": #""AAAA""#], .secret), (rsaKey, ["alg": #""PS256""#], nil),
            (rsaKey, ["alg": #""ES256""#], .otherAlgorithm),
            (rsaKey, ["n": bytes(255, of: 0xFF)], .tooSmall), (rsaKey, ["n": bytes(513, of: 0xFF)], .tooLarge),
            (rsaKey, ["e": #""Aw""#], .numbersUnfit), (rsaKey, ["e": #""AQAA""#], .numbersUnfit),
            (ecKey, ["crv": #""P-384""#], .otherKind), (ecKey, ["alg": #""RS256""#], .otherAlgorithm),
            (ecKey, ["x": bytes(32, of: 0)], .numbersUnfit), (ecKey, ["x": bytes(33, of: 0)], .numbersUnfit),
            (edKey, ["crv": #""X25519""#], .otherKind), (edKey, ["x": bytes(31, of: 1)], .numbersUnfit),
        ]

    private static func bytes(_ count: Int, of byte: UInt8) -> String {
        let text = Base64.encodeURL([UInt8](repeating: byte, count: count))
        return "\"\(String(decoding: text, as: UTF8.self))\""
    }

    @Test func `passes over each key that is not for verifying tokens, and says why`() throws {
        for (key, members, fault) in Self.keys {
            let own = try #require(JSONDocument(Array(key.utf8)).root.object)
            var all: [String: String] = [:]
            for name in ["kty", "crv", "x", "y", "n", "e"] {
                if let text = own[name]?.string { all[name] = "\"\(text)\"" }
            }
            let json = "{" + all.merging(members) { $1 }.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
            if let fault {
                #expect(throws: fault, "\(json)") { try Self.key(json) }
            } else {
                #expect(throws: Never.self, "\(json)") { try Self.key(json) }
            }
        }
    }
}
