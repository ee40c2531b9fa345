// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import TestSupport
import Testing

@testable import Configuration
@testable import OfferService
@testable import ServiceRuntime
@testable import Stores

/// Certificates that may have been revoked, with a responder that answers, errs, lies or hangs.
@Suite("Revocation", .serialized)
struct RevocationTests {
    @Test
    func `a chain is believed at once, and asked about behind the back of who asks`() async throws {
        let place = try RevocationPlace()
        #expect(place.fault() == nil)
        #expect(try await eventually { place.questions("good") == 2 })
        #expect(place.fault() == nil)
        #expect(place.monitor.warnings.isEmpty)
        #expect(try place.requests == 2)
        let page = place.metrics.text(gauges: place.monitor.gauges)
        #expect(page.contains(#"offer_signer_ocsp_questions_total{certificate="leaf",outcome="good"} 1"#))
        #expect(page.contains(#"offer_signer_revocation_certificates{certificate="intermediate",state="good"} 1"#))
        #expect(page.contains("offer_signer_revocation_answer_age_seconds{certificate=\"leaf\",sha256=\""))
    }

    @Test(arguments: [FakeAppStore.ChainCertificate.leaf, .intermediate])
    func `data under a revoked certificate is refused for good`(_ which: FakeAppStore.ChainCertificate) async throws {
        let place = try RevocationPlace()
        try place.store.setOCSP(.revoked, about: which)
        let expected = SignedDataError.chain(.revoked(which == .leaf ? .leaf : .intermediate))
        #expect(place.fault() == nil, "the service does not know of it yet")
        #expect(try await eventually { place.fault() == expected })
        #expect(expected.label == "certificate-revoked")
        #expect(place.monitor.warnings.map(\.name) == ["certificate-revoked"])
        // The revocation is in force before the log reports it.
        let isLogged = try await eventually {
            place.log.lines.contains { $0.contains(#""level":"error""#) && $0.contains("revoked") }
        }
        #expect(isLogged)
        // A question that is under way is not asked again.
        #expect(try await eventually { place.questions("good") == 1 })
        // Another payload under the same chain, and a responder that has thought better of it.
        try place.store.setOCSP(.good)
        place.clock.advance(hours: 6)
        place.monitor.renew()
        #expect(try await eventually { place.questions("good") == 2 })
        #expect(place.fault(of: Array(try place.store.signPayload(["b": 2]).utf8)) == expected)
    }

    @Test(arguments: [RevocationCheck.background, .required], UselessAnswer.rows)
    func `an answer that says nothing is none`(_ check: RevocationCheck, _ row: UselessAnswer) async throws {
        let place = try RevocationPlace(check)
        try row.set(place.store)
        let expected: SignedDataError? = check == .required ? .revocationUnknown : nil
        #expect(place.fault() == expected)
        #expect(try await eventually { place.questions(row.label) == 2 }, "\(place.log.lines)")
        #expect(place.fault() == expected)
        #expect(place.monitor.warnings.map(\.name) == ["revocation-unknown", "revocation-unknown"])
        #expect(place.monitor.warnings.allSatisfy { $0.detail.contains(row.label) })
        #expect(place.log.lines.count { $0.contains(#""level":"warning""#) } == 2)
        // Once, until it is time to try again; then it is good, and the trouble is over without a restart.
        try place.store.behave()
        try place.store.setOCSP(.good)
        #expect(place.questions(row.label) == 2)
        place.clock.advance(seconds: 15)
        _ = place.fault()
        #expect(try await eventually { place.questions("good") == 2 })
        #expect(place.fault() == nil)
        #expect(place.monitor.warnings.isEmpty)
    }

    @Test
    func `what is required and not known is a temporary fault`() async throws {
        let place = try RevocationPlace(.required)
        let app = AppStoreApp(bundleID: try BundleID("com.example.app"), appAppleID: 1, environments: [.production])
        let reader = AppStoreSignedDataReader(apps: [app], authenticator: place.authenticator)
        do {
            _ = try reader.transaction(place.jws, at: place.clock.now)
            Issue.record("it was read")
        } catch {
            #expect(error.isTemporary && error.label == "revocation-unknown")
        }
        #expect(!SignedDataFault.notVerified(.chain(.revoked(.leaf))).isTemporary)
    }

    @Test
    func `a hanging responder delays no request, and is asked once`() async throws {
        let place = try RevocationPlace()
        try place.store.misbehave(.hang, at: .ocsp)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { place.fault() == nil } }
            for await isBelieved in group { #expect(isBelieved) }
        }
        let isAsked = try await eventually { try place.requests == 2 }
        #expect(isAsked, "\(place.log.lines)")
        place.monitor.renew()
        for _ in 0..<50 { #expect(place.fault() == nil) }
        #expect(try place.requests == 2)
    }

    @Test
    func `uses an old answer until it expires while the responder gives no new one`() async throws {
        let place = try RevocationPlace(.required)
        _ = place.fault()
        #expect(try await eventually { place.questions("good") == 2 })
        try place.store.misbehave(.status(503), at: .ocsp)
        // The fake's answers end 11 hours from when they are given, and clocks may differ by five minutes.
        place.clock.advance(hours: 11)
        #expect(place.fault() == nil)
        #expect(try await eventually { place.questions("http-status") == 2 })
        #expect(place.fault() == nil)
        #expect(place.monitor.warnings.isEmpty, "the answers that there are still hold")
        place.clock.advance(seconds: 301)
        #expect(place.fault() == .revocationUnknown)
        #expect(place.monitor.warnings.count == 2)
    }

    @Test
    func `renews answers without new requests`() async throws {
        let place = try RevocationPlace()
        _ = place.fault()
        #expect(try await eventually { place.questions("good") == 2 })
        place.clock.advance(seconds: 3599)
        place.monitor.renew()
        place.clock.advance(seconds: 1)
        place.monitor.renew()
        #expect(try await eventually { place.questions("good") == 4 })
        #expect(try place.requests == 4)
        place.monitor.stop()
        place.clock.advance(hours: 2)
        place.monitor.renew()
        #expect(place.fault() == nil)
        #expect(try place.requests == 4, "stopped")
    }

    @Test
    func `asks no responder about data that fails verification`() async throws {
        let place = try RevocationPlace()
        let faults: [FakeAppStore.Fault] = [
            .otherRoot, .otherRootShownAsOurs, .otherIntermediateKey, .badSignature, .tampered, .leafFromLeaf,
            .selfSignedLeaf, .expiredLeaf, .leafWithoutMarker, .certificatesReversed, .xcodeCertificate,
        ]
        for fault in faults {
            let jws = try place.store.signPayload(["a": 1], fault: fault)
            #expect(place.fault(of: Array(jws.utf8)) != nil, "\(fault)")
        }
        #expect(place.fault(of: Array("a.b.c".utf8)) != nil)
        #expect(try place.store.counts().ocspConnections == 0)
        // By now a question would be on its way: one that is allowed is answered. How many connections the client opens for
        // its two requests, on a busy machine, is its own affair.
        #expect(place.fault() == nil)
        #expect(try await eventually { place.questions("good") == 2 })
        #expect(try place.requests == 2)
    }

    @Test
    func `reports a certificate without a responder`() async throws {
        let place = try RevocationPlace()
        let jws = Array(try place.store.signPayload(["a": 1], fault: .leafWithoutResponder).utf8)
        #expect(place.fault(of: jws) == nil)
        #expect(try await eventually { place.questions("no-responder") == 1 })
        #expect(place.monitor.warnings.map(\.name) == ["revocation-unknown"])
    }

    @Test
    func `keeps a limited number of certificates, and drops revoked ones last`() throws {
        let place = try RevocationPlace()
        let chain = try place.verifier.verify(place.jws, at: place.clock.now.seconds).chain
        let certificates = [chain.leaf, chain.intermediate, chain.root]
        let subjects = certificates.flatMap { certificate in
            certificates.map { RevocationSubject(certificate: certificate, issuer: $0, role: .leaf) }
        }
        let instant = place.clock.now.seconds
        var table = RevocationTable(capacity: 3)
        for (index, subject) in subjects.enumerated() {
            #expect(table.meet(subject, at: Int64(index), unixSeconds: instant).isToBeAsked == true)
            if index == 0 {
                _ = table.settle(subject, .success(.revoked(at: 0)), at: 0, unixSeconds: instant, jitter: 0)
            }
        }
        #expect(Set(table.records.keys) == [subjects[0], subjects[7], subjects[8]])
        #expect(table.meet(subjects[0], at: 20, unixSeconds: instant).state == .revoked)
        #expect(table.due(at: 1 << 40, unixSeconds: chain.notAfter + 1 << 40).isEmpty)
        #expect(table.records.isEmpty, "expired ones are forgotten")
    }
}

/// A way in which a responder does not answer the question.
struct UselessAnswer: CustomTestStringConvertible, Sendable {
    let label: String
    let set: @Sendable (FakeAppStore) throws -> Void

    var testDescription: String { label }

    private init(_ behaviour: FakeAppStore.OCSPBehaviour, _ label: String) {
        self.label = label
        set = { try $0.setOCSP(behaviour) }
    }

    private init(_ misbehaviour: FakeAppStore.Misbehaviour, _ label: String) {
        self.label = label
        set = { try $0.misbehave(misbehaviour, at: .ocsp) }
    }

    static let rows = [
        UselessAnswer(.unknown, "unknown"),
        UselessAnswer(.stale, "stale"),
        UselessAnswer(.future, "not-yet-valid"),
        UselessAnswer(.signedByStranger, "responder-not-issued"),
        UselessAnswer(.delegatedWithoutUsage, "responder-not-delegated"),
        UselessAnswer(.otherCertificate, "wrong-certificate"),
        UselessAnswer(.otherNonce, "nonce-mismatch"),
        UselessAnswer(.tryLater, "try-later"),
        UselessAnswer(.malformed, "malformed"),
        UselessAnswer(.status(500), "http-status"),
        UselessAnswer(.redirect(to: "http://127.0.0.1:1/"), "http-status"),
        UselessAnswer(.close, "connection-lost"),
        UselessAnswer(.garbage, "protocol-violation"),
    ]
}
