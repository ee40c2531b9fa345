// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import TestSupport

// Feeds the readers of certificates, of chains, of root certificates in PEM and of OCSP responses whatever libFuzzer
// makes up, and checks what must hold: no crash, and nothing is believed that was not signed.
//
// The first byte says how the rest is read, see `Shape`. The seeds hold signatures, so they are made at each start, in
// the folder `certificates-seeds`.
//
// Built and run by `Tests/Fuzzing/fuzz-cryptography certificates SECONDS`.

/// How bytes are read.
private enum Shape: UInt8, CaseIterable {
    /// As a certificate, also in the places of leaf and intermediate.
    case certificate
    /// As the extensions of a leaf that the intermediate then signs.
    case leafExtensions
    /// As the extensions of an intermediate that the root then signs.
    case intermediateExtensions
    /// As an OCSP response.
    case response
    /// As what a responder then signs.
    case responseContents
    /// As root certificates in PEM.
    case pem
}

private struct Stage {
    let authority: TestAuthority
    let responder: TestResponder
    let chain: [[UInt8]]
    let anchors: TrustAnchors

    init() throws {
        authority = try TestAuthority()
        responder = try TestResponder(authority)
        chain = try authority.chain()
        anchors = try TrustAnchors([Certificate(der: chain[2])])
    }

    /// Whether a chain under our root is believed; if so, it is the one that was verified.
    func believes(_ chain: [[UInt8]]) throws -> Bool {
        let text = try TestJWS(chain: chain, key: authority.leafKey).bytes()
        let verifier = SignedDataVerifier(anchors: anchors, cacheCapacity: 0)
        guard let verified = try? verifier.verify(text, at: testInstant, maximumBytes: 65_536) else { return false }
        guard verified.chain.leaf.der == chain[0], verified.chain.intermediate.der == chain[1] else {
            fatalError("another chain was verified")
        }
        return true
    }

    func seeds() throws -> [(Shape, [UInt8])] {
        var delegated = responder
        try delegated.delegate()
        return [
            (.certificate, chain[0]), (.certificate, chain[1]), (.certificate, chain[2]),
            (.certificate, try TrustAnchors.appleRootCAG3().certificates[0].der),
            (.leafExtensions, Array(authority.leaf.extensions.joined())),
            (.intermediateExtensions, Array(authority.intermediate.extensions.joined())),
            (.response, try responder.response()), (.response, try delegated.response()),
            (.response, [0x30, 3, 10, 1, 3]),
            (.responseContents, responder.draft.contents),
            (.pem, KeyDER.pem(chain[2], label: "CERTIFICATE")),
        ]
    }
}

private let stage: Stage = {
    do { return try Stage() } catch { fatalError("\(error)") }
}()

@_cdecl("LLVMFuzzerInitialize")
public func startFuzzing(_ count: UnsafeMutablePointer<CInt>, _ words: UnsafeMutableRawPointer) -> CInt {
    do {
        for (index, seed) in try stage.seeds().enumerated() {
            let file = URL(fileURLWithPath: "certificates-seeds/\(index)")
            try Data([seed.0.rawValue] + seed.1).write(to: file)
        }
    } catch {
        fatalError("\(error)")
    }
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCertificates(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first, let shape = Shape(rawValue: first) else { return -1 }
    let rest = Array(input.dropFirst())
    do {
        switch shape {
        case .certificate: try readCertificate(rest)
        case .leafExtensions: try readLeaf(extensions: rest)
        case .intermediateExtensions: try readIntermediate(extensions: rest)
        case .response: readResponse(rest)
        case .responseContents: readResponse(try signed(rest))
        case .pem: readPEM(rest)
        }
    } catch {
        fatalError("\(error)")
    }
    return 0
}

private func readCertificate(_ der: [UInt8]) throws {
    guard let certificate = try? Certificate(der: der) else { return }
    guard certificate.der == der, certificate.fingerprint == SHA256.digest(of: der) else { fatalError("other bytes") }
    _ = certificate.p256Key
    let chain = stage.chain
    if try stage.believes([der, chain[1], chain[2]]) { guard der == chain[0] else { fatalError("a forged leaf") } }
    if try stage.believes([chain[0], der, chain[2]]) { guard der == chain[1] else { fatalError("a forged issuer") } }
    if let request = try? OCSPRequest(for: certificate, issuer: certificate) {
        guard request.responders.count <= 4, !request.der.isEmpty else { fatalError("a wrong request") }
    }
}

private func readLeaf(extensions: [UInt8]) throws {
    var authority = stage.authority
    authority.leaf.extensions = [extensions]
    let leaf = try authority.leafDER()
    guard try stage.believes([leaf, stage.chain[1], stage.chain[2]]) else { return }
    let certificate = try Certificate(der: leaf)
    guard certificate.hasExtension(ObjectIdentifierText("1.2.840.113635.100.6.11.1")), !certificate.isAuthority else {
        fatalError("a leaf that may not sign")
    }
}

private func readIntermediate(extensions: [UInt8]) throws {
    var authority = stage.authority
    authority.intermediate.extensions = [extensions]
    let intermediate = try authority.intermediateDER()
    guard try stage.believes([stage.chain[0], intermediate, stage.chain[2]]) else { return }
    let certificate = try Certificate(der: intermediate)
    guard certificate.hasExtension(ObjectIdentifierText("1.2.840.113635.100.6.2.1")), certificate.isAuthority else {
        fatalError("an intermediate that may not issue")
    }
}

private func signed(_ contents: [UInt8]) throws -> [UInt8] {
    let basic = KeyDER.element(
        0x30,
        contents,
        DER.ecdsaWithSHA256,
        KeyDER.element(0x03, [0], try stage.authority.intermediateKey.sign(contents))
    )
    let typed = KeyDER.element(0x30, DER.identifier("1.3.6.1.5.5.7.48.1.1"), KeyDER.element(0x04, basic))
    return KeyDER.element(0x30, KeyDER.element(0x0A, [0]), KeyDER.element(0xA0, typed))
}

private func readResponse(_ der: [UInt8]) {
    do throws(OCSPError) {
        switch try stage.responder.request.status(from: der, at: testInstant) {
        case .good(let end), .unknown(let end):
            guard (testInstant + 1...testInstant + 605_400).contains(end) else { fatalError("an answer without end") }
        case .revoked: break
        }
    } catch {
        guard !error.label.isEmpty, error.description.utf8.count < 300 else { fatalError("no reason") }
    }
}

private func readPEM(_ text: [UInt8]) {
    do throws(TrustAnchorError) {
        let anchors = try TrustAnchors(pem: text)
        guard (1...32).contains(anchors.certificates.count) else { fatalError("no root, or too many") }
    } catch {
        guard error.description.utf8.count < 300 else { fatalError("no reason") }
    }
}
