// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport

// Feeds the reader of signed data whatever libFuzzer makes up, and checks what must hold for any text at all: no crash,
// and what is believed was signed by the one leaf that there is and leads to the one root that is trusted.
//
// A first byte of 0 means that the rest is a JWS, any other that the rest is a header, which is signed before it is
// read. Control characters stand for what is generated at each start: in a JWS, for the three segments of a good one;
// in a header, for certificates in Base64. So the corpus of libFuzzer is of use at the next start.
//
// Built and run by `Tests/Fuzzing/fuzz-cryptography signed-data SECONDS`.

private struct Stage {
    let verifier: SignedDataVerifier
    let jws: TestJWS
    let chain: [[UInt8]]
    let segments: [[UInt8]]
    let certificateTexts: [[UInt8]]

    init() throws {
        let authority = try TestAuthority()
        let stranger = try TestAuthority()
        chain = try authority.chain()
        verifier = SignedDataVerifier(anchors: try TrustAnchors([Certificate(der: chain[2])]), cacheCapacity: 2)
        jws = TestJWS(chain: chain, key: authority.leafKey)
        segments = try jws.bytes().split(separator: UInt8(ascii: ".")).map(Array.init)
        var expired = authority
        expired.leaf.notAfter = testInstant
        let wrong = try stranger.chain() + [expired.leafDER(), TestKey.p256().spki]
        certificateTexts = (chain + wrong).map(Base64.encode)
    }

    func filled(_ text: some Sequence<UInt8>, with pieces: [[UInt8]]) -> [UInt8] {
        text.flatMap { byte in (1...pieces.count).contains(Int(byte)) ? pieces[Int(byte) - 1] : [byte] }
    }
}

private let stage: Stage = {
    do { return try Stage() } catch { fatalError("\(error)") }
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSignedData(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    let rest = input.dropFirst()
    do throws(SignedDataError) {
        if input[0] == 0 {
            let text = stage.filled(rest, with: stage.segments)
            let verified = try stage.verifier.verify(text, at: testInstant)
            guard verified.payload == stage.jws.payload else { fatalError("a payload that was not signed") }
            guard text.count(where: { $0 == UInt8(ascii: ".") }) == 2 else { fatalError("not three segments") }
            guard text.starts(with: stage.segments[0]) else { fatalError("a header that was not signed") }
        } else {
            try readHeader(stage.filled(rest, with: stage.certificateTexts))
        }
    } catch {
        guard !error.label.isEmpty, error.description.utf8.count < 300 else { fatalError("no reason") }
    }
    guard stage.verifier.statistics.rememberedChains <= 2 else { fatalError("remembers too many") }
    return 0
}

private func readHeader(_ header: [UInt8]) throws(SignedDataError) {
    let text: [UInt8]
    do {
        text = try stage.jws.signed(Base64.encodeURL(header) + Array(".e30".utf8))
    } catch {
        fatalError("\(error)")
    }
    let verified = try stage.verifier.verify(text, at: testInstant)
    guard verified.payload == Array("{}".utf8) else { fatalError("another payload") }
    guard
        verified.chain.leaf.der == stage.chain[0],
        verified.chain.intermediate.der == stage.chain[1],
        verified.chain.root.der == stage.chain[2]
    else { fatalError("a chain that is not ours") }
    let again = try stage.verifier.verify(text, at: testInstant)
    guard again.chain == verified.chain else { fatalError("a chain is remembered wrongly") }
}
