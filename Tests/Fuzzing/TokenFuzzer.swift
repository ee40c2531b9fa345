// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import TestSupport

// Feeds the readers of tokens, key sets and DPoP proofs whatever libFuzzer makes up, and checks what must hold for any text
// at all: no crash, and nothing is taken that the one key did not sign.
//
// The first byte says what the rest is: 0 a token, 1 a key set, 2 a header and 3 a payload, which are signed before they are
// read, 4 a proof, and 5 a header and 6 a payload of one, signed as well. Control characters 1 to 3 mean the segments of
// a good token, and in the header of a proof 1 means its key; both are made at each start.
//
// Built and run by `Tests/Fuzzing/fuzz-cryptography tokens SECONDS`.

private struct Stage {
    let key: TestKey
    let set: TokenKeySet
    let segments: [[UInt8]]
    let payload: [UInt8]
    let policy: TokenPolicy
    let now = testInstant * 1000
    let jwk: String
    let thumbprint: SHA256Digest?

    init() throws {
        key = try TestKey.p256()
        let point = key.spki.suffix(64)
        let (x, y) = (Base64.encodeURL(Array(point.prefix(32))), Base64.encodeURL(Array(point.suffix(32))))
        jwk = #"{"kty":"EC","crv":"P-256","kid":"k","x":"\#(Self.text(x))","y":"\#(Self.text(y))"}"#
        set = try TokenKeySet(Array(#"{"keys":[\#(jwk)]}"#.utf8))
        thumbprint = set.keys.first?.p256Thumbprint
        var policy = TokenPolicy(issuer: "i", audiences: ["a"], algorithms: [.es256])
        policy.kind = .any
        self.policy = policy
        let claims = #"{"iss":"i","aud":"a","sub":"s","iat":\#(testInstant),"exp":\#(testInstant + 60)}"#
        payload = Array(claims.utf8)
        let token = try Self.signed(Array(#"{"alg":"ES256","kid":"k"}"#.utf8), payload, key)
        segments = token.split(separator: UInt8(ascii: ".")).map(Array.init)
    }

    static func signed(_ header: [UInt8], _ payload: [UInt8], _ key: TestKey) throws -> [UInt8] {
        let input = Base64.encodeURL(header) + Array(".".utf8) + Base64.encodeURL(payload)
        guard let signature = ECDSASignature(der: try key.sign(input)) else { fatalError("no signature") }
        return input + Array(".".utf8) + Base64.encodeURL(signature.rawRS)
    }

    /// A proof of a request with ``shown``.
    var proofHeader: [UInt8] { Array(#"{"typ":"dpop+jwt","alg":"ES256","jwk":\#(jwk)}"#.utf8) }
    var proofPayload: [UInt8] {
        let hash = Self.text(Base64.encodeURL(SHA256.digest(of: Self.shown).bytes))
        return Array(#"{"jti":"j","htm":"POST","htu":"https://a/b","iat":1,"ath":"\#(hash)"}"#.utf8)
    }
    static let shown = Array("a token".utf8)

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

private let stage: Stage = {
    do { return try Stage() } catch { fatalError("\(error)") }
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTokens(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    let rest = Array(input.dropFirst())
    do {
        switch input[0] % 7 {
        case 0: try readToken(rest.flatMap { (1...3).contains($0) ? stage.segments[Int($0) - 1] : [$0] })
        case 1: readKeySet(rest)
        case 2: try readToken(try Stage.signed(rest, stage.payload, stage.key))
        case 3: try readToken(try Stage.signed(Array(#"{"alg":"ES256"}"#.utf8), rest, stage.key))
        case 4: readProof(rest)
        case 5:
            let header = rest.flatMap { $0 == 1 ? Array(stage.jwk.utf8) : [$0] }
            readProof(try Stage.signed(header, stage.proofPayload, stage.key))
        default: readProof(try Stage.signed(stage.proofHeader, rest, stage.key))
        }
    } catch let fault as TokenFault {
        guard !fault.label.isEmpty, fault.description.utf8.count < 300 else { fatalError("no reason") }
    } catch {
        fatalError("\(error)")
    }
    return 0
}

private func readToken(_ text: [UInt8]) throws {
    let token = try JSONWebToken(text[...])
    try stage.policy.checkHeader(token)
    guard stage.set.candidates(for: token).contains(where: token.isSigned) else { throw TokenFault.signatureWrong }
    let claims = try TokenClaims(token.payload)
    try stage.policy.check(claims, at: stage.now)
    guard claims.issuer == "i", claims.expiresAt > stage.now - 60_000 else { fatalError("a token that was not issued") }
    guard text.count(where: { $0 == UInt8(ascii: ".") }) == 2 else { fatalError("not three segments") }
}

private func readKeySet(_ text: [UInt8]) {
    guard let set = try? TokenKeySet(text) else { return }
    guard (1...TokenKeySet.mostKeys).contains(set.keys.count) else { fatalError("too many keys") }
    for key in set.keys where key.algorithms.isEmpty { fatalError("a key for nothing") }
}

private func readProof(_ text: [UInt8]) {
    guard let proof = try? TokenProof(text[...]) else { return }
    guard proof.thumbprint == stage.thumbprint else { fatalError("a proof of a key that signed nothing") }
    let own = String(decoding: Base64.encodeURL(proof.thumbprint.bytes), as: UTF8.self)
    func isFor(_ method: String, _ token: [UInt8], _ key: String) -> Bool {
        (try? proof.check(method: method, url: "https://a/b", token: token[...], confirmation: key)) != nil
    }
    guard isFor("POST", Stage.shown, own) else { return }
    guard !isFor("GET", Stage.shown, own), !isFor("POST", [], own), !isFor("POST", Stage.shown, "") else {
        fatalError("a proof for more than one request")
    }
}
