// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Foundation
import HTTP
import OfferDomain
import OfferService
import Synchronization
import Testing

@testable import Ledger
@testable import Stores

@Suite("App Store Server API: tokens")
struct TokenTests {
    let id: TransactionID
    let asking: AppStoreAsking

    init() throws {
        try startSecureMemory()
        id = try TransactionID("1")
        asking = try .by()
    }

    private func key(_ privateKey: PrivateKey) throws -> ActiveKey {
        let key = SigningKey(
            id: try KeyID("ABCDEFGHIJ"),
            issuerID: try #require(UniqueID("57246542-96FE-1A63-E053-0824D011072A")),
            scope: KeyScope(bundleIDs: [asking.bundleID], purposes: []),
            status: .active,
            key: PinnedKey(privateKey)
        )
        return try #require(ActiveKey(key))
    }

    @Test
    func `a token is an ES256 JWT with the claims that Apple asks for, recorded before it is signed`() async throws {
        let privateKey = try PrivateKey.generate()
        let key = try key(privateKey)
        let recorded = Mutex<[SHA256Digest]>([])
        let transport = ScriptedTransport(.statuses())
        let record: @Sendable (ActiveKey, TokenRequest, SHA256Digest) async throws(StoreError) -> Void = {
            _,
            _,
            digest in
            recorded.withLock { $0.append(digest) }
            #expect(transport.requests.isEmpty)
        }
        let store = TestStore(transport, signer: KeyRingTokenSigner(key: { _ in key }, record: record))
        _ = try await store.api.subscriptionStatuses(of: id, asking)

        let header = try #require(transport.requests[0].headers.first("authorization"))
        #expect(header.starts(with: "Bearer ".utf8))
        let parts = header.dropFirst(7).split(separator: UInt8(ascii: "."))
        let decoded = try parts.map { try #require(Base64.decodeURL(Array($0))) }
        #expect(String(decoding: decoded[0], as: UTF8.self) == #"{"alg":"ES256","kid":"ABCDEFGHIJ","typ":"JWT"}"#)
        let now = store.clock.now.seconds
        #expect(
            String(decoding: decoded[1], as: UTF8.self)
                == #"{"iss":"57246542-96fe-1a63-e053-0824d011072a","iat":\#(now - 30),"exp":\#(now + 900),"#
                + #""aud":"appstoreconnect-v1","bid":"com.example.app"}"#
        )
        let input = Array(parts[0] + [UInt8(ascii: ".")] + parts[1])
        let signature = try #require(ECDSASignature(rawRS: decoded[2]))
        #expect(privateKey.publicKey.verifies(signature, of: SHA256.digest(of: input)))
        #expect(recorded.withLock { $0 } == [SHA256.digest(of: input)])
    }

    @Test
    func `nothing is asked if the use of the key can't be recorded, or there is no key`() async throws {
        let good = try key(try PrivateKey.generate())
        let refuse: @Sendable (ActiveKey, TokenRequest, SHA256Digest) async throws(StoreError) -> Void = {
            (_, _, _) throws(StoreError) in
            throw StoreError.cannotSign(reason: "the log is full")
        }
        let transport = ScriptedTransport(.statuses())
        for signer in [
            KeyRingTokenSigner(key: { _ in good }, record: refuse),
            KeyRingTokenSigner(key: { _ in nil }, record: refuse),
        ] {
            let store = TestStore(transport, signer: signer)
            let error = await failure { try await store.api.subscriptionStatuses(of: id, asking) }
            #expect(error?.label == "cannot-sign")
            #expect(store.count("cannot-sign") == 1)
        }
        #expect(transport.requests.isEmpty)
    }

    @Test
    func `a token is used for ten minutes, and not with another key, an earlier clock, or after a refusal`()
        async throws
    {
        let transport = ScriptedTransport { _, index in index == 6 ? .json("", status: 401) : .statuses() }
        let store = TestStore(transport)
        func ask() async throws -> String {
            _ = await failure { try await store.api.subscriptionStatuses(of: id, asking) }
            return String(
                decoding: try #require(transport.requests.last?.headers.first("authorization")),
                as: UTF8.self
            )
        }
        #expect(try await ask() == "Bearer token1")
        store.clock.advance(milliseconds: 599_999)
        #expect(try await ask() == "Bearer token1")
        store.clock.advance(milliseconds: 1)
        #expect(try await ask() == "Bearer token2")
        store.signer.use(try KeyID("KEYNUMBER2"))
        #expect(try await ask() == "Bearer token3")
        store.clock.advance(milliseconds: -1000)
        #expect(try await ask() == "Bearer token4")
        #expect(try await ask() == "Bearer token4")
        // The service asks the refused question once more with a new token, and logs no refusal.
        #expect(try await ask() == "Bearer token5")
        #expect(try await ask() == "Bearer token5")
        #expect(!store.log.lines.contains { $0.contains("refuses our credentials") })
        #expect(!store.log.lines.contains { $0.contains("token") })
        for request in store.signer.requests {
            #expect(request.expiresAt.milliseconds - request.issuedAt.milliseconds <= 3_600_000)
        }
    }

    @Test
    func `one token is made for many who need it at once`() async throws {
        let store = TestStore(ScriptedTransport(.statuses()))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<50 {
                let id = try TransactionID("\(index + 1)")
                group.addTask { _ = try await store.api.subscriptionStatuses(of: id, asking) }
            }
            try await group.waitForAll()
        }
        #expect((1...2).contains(store.signer.requests.count))
    }
}
