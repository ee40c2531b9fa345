// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import HTTP
import OfferDomain
import ServiceRuntime
import TestSupport
import Testing

@testable import Configuration
@testable import OfferService
@testable import Stores

/// A monitor with a clock of the test, which asks the fake's responder over the network.
final class RevocationPlace: Sendable {
    /// Its own: what another test has left on the way would be counted as one of this one's questions.
    let store: FakeAppStore
    let clock: SettableClock
    let metrics = Metrics()
    let log = LogRecorder()
    let verifier: SignedDataVerifier
    let monitor: RevocationMonitor
    let authenticator: RevocationAwareAuthenticator
    /// Signed data that is as it must be.
    let jws: [UInt8]
    private let client: Client

    init(_ check: RevocationCheck = .background) throws {
        store = try FakeAppStore()
        try store.setOCSP(.good)
        let clock = SettableClock(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        self.clock = clock
        try startSecureMemory()
        client = try Client(ClientConfiguration(timeoutMilliseconds: 60_000, allowsPlainHTTP: true))
        try client.start()
        monitor = RevocationMonitor(
            check,
            transport: client,
            runtime: StoreRuntime(
                clock: clock.wallClock,
                random: try SystemRandom(),
                metrics: metrics,
                log: Log(level: .debug, clock: clock.wallClock, sink: log.sink)
            ),
            pause: Pause { _ in try? await Task.sleep(for: .seconds(600)) }
        )
        let root = try Data(contentsOf: URL(filePath: store.rootPEMPath))
        verifier = SignedDataVerifier(anchors: try TrustAnchors(pem: Array(root)))
        authenticator = RevocationAwareAuthenticator(verifier, monitor)
        jws = Array(try store.signPayload(["a": 1]).utf8)
    }

    deinit {
        monitor.stop()
        client.stop()
    }

    /// Why the data is not taken now; `nil` if it is.
    func fault(of jws: [UInt8]? = nil) -> SignedDataError? {
        do throws(SignedDataError) {
            _ = try authenticator.payload(of: jws ?? self.jws, at: clock.now.seconds, maximumBytes: 16_384)
            return nil
        } catch {
            return error
        }
    }

    /// Answers about leaf and intermediate that came so.
    func questions(_ outcome: String) -> Int {
        ["leaf", "intermediate"].reduce(0) { $0 + metrics[.ocspQuestions(certificate: $1, outcome: outcome)] }
    }

    var requests: Int { get throws { try store.counts().requests(to: .ocsp) } }
}
