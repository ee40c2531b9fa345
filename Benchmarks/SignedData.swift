// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Cryptography
import TestSupport

/// What verifying signed data costs, as a multiple of the one verification in OpenSSL that it can't do without.
///
/// The two are measured in turns, so that what else the machine does hits both. The chain is like the App Store's: root
/// and intermediate on P-384, and some 6 KiB of JWS.
@main
enum SignedDataBenchmark {
    static func main() throws {
        let authority = try TestAuthority(rootKey: .p384(), intermediateKey: .p384())
        var chain = try authority.chain()
        var draft = authority.leaf
        // Apple's leaf has some 1,000 bytes, most of them a policy's text.
        draft.extensions.insert(
            DER.certificateExtension("1.2.3.4", [4, 130, 1, 244] + [UInt8](repeating: 65, count: 500)),
            at: 0
        )
        chain[0] = try draft.der(signedBy: authority.intermediateKey.sign)
        var jws = TestJWS(chain: chain, key: authority.leafKey)
        jws.payload = Array((#"{"p":""# + String(repeating: "x", count: 1_200) + #""}"#).utf8)
        let text = try jws.bytes()
        let anchors = try TrustAnchors([Certificate(der: chain[2])])
        let remembering = SignedDataVerifier(anchors: anchors)
        let forgetting = SignedDataVerifier(anchors: anchors, cacheCapacity: 0)
        let junk = try wrongSignature(text)
        let bare = try BareVerification(text, spki: authority.leafKey.spki)

        print("JWS of \(text.count) bytes, header of \(text.prefix { $0 != 46 }.count)")
        _ = try remembering.verify(text, at: testInstant)
        var times: [[Double]] = [[], [], [], []]
        for _ in 0..<20 {
            times[0].append(microseconds(500) { bare.verify() })
            times[1].append(microseconds(500) { (try? remembering.verify(text, at: testInstant)) != nil })
            times[2].append(microseconds(20) { (try? forgetting.verify(text, at: testInstant)) != nil })
            times[3].append(microseconds(50) { (try? forgetting.verify(junk, at: testInstant)) == nil })
        }
        let medians = times.map { $0.sorted()[$0.count / 2] }
        let names = ["bare EVP_DigestVerify", "known chain", "new chain", "new chain, wrong signature"]
        for (name, median) in zip(names, medians) {
            print("\(name): \(rounded(median)) µs, \(rounded(median / medians[0])) times the first")
        }
    }

    private static func wrongSignature(_ text: [UInt8]) throws -> [UInt8] {
        var text = text
        let place = text.count - 40
        text[place] = text[place] == 65 ? 66 : 65
        return text
    }

    private static func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }

    private static func microseconds(_ count: Int, _ body: () -> Bool) -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        for _ in 0..<count { guard body() else { fatalError("wrong answer") } }
        let time = clock.now - start
        return Double(time.components.attoseconds) / 1e12 / Double(count) + Double(time.components.seconds) * 1e6
            / Double(count)
    }
}

/// One verification as OpenSSL's manual has it, the key and the context prepared before.
private final class BareVerification {
    private let template: OpaquePointer
    private let input: [UInt8]
    private let signature: [UInt8]

    init(_ jws: [UInt8], spki: [UInt8]) throws {
        let parts = jws.split(separator: UInt8(ascii: ".")).map(Array.init)
        input = parts[0] + [UInt8(ascii: ".")] + parts[1]
        guard
            let raw = Base64.decodeURL(parts[2]), let ecdsa = ECDSASignature(rawRS: raw), let context = EVP_MD_CTX_new()
        else { fatalError("no JWS") }
        signature = ecdsa.der
        let key = spki.withUnsafeBufferPointer { spki in
            var next = spki.baseAddress
            return d2i_PUBKEY(nil, &next, spki.count)
        }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else { fatalError("no key") }
        template = context
    }

    func verify() -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        return EVP_MD_CTX_copy_ex(context, template) == 1
            && EVP_DigestVerify(context, signature, signature.count, input, input.count) == 1
    }
}
