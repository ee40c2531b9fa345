// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import Testing

@testable import OfferService
@testable import Stores

/// What is known of one certificate: pure, with times of the test.
@Suite("Revocation record")
struct RevocationRecordTests {
    private static let instant: Int64 = 1_800_000_000
    private static let failure = OCSPQuestionError.notReached(.timeout)

    private func claimed() -> RevocationRecord {
        var record = RevocationRecord(at: 0)
        #expect(record.claim(at: 0) == true)
        return record
    }

    private func settled(_ result: Result<OCSPStatus, OCSPQuestionError>) -> RevocationRecord {
        var record = claimed()
        record.settle(result, at: 0, unixSeconds: Self.instant, jitter: 0)
        return record
    }

    @Test
    func `is asked about once at a time`() {
        var record = claimed()
        #expect(record.claim(at: 1 << 40) == false)
        record.settle(.failure(Self.failure), at: 1 << 40, unixSeconds: Self.instant, jitter: 0)
        #expect(record.claim(at: 1 << 41) == true)
    }

    @Test
    func `an answer holds to its end and no longer`() {
        let record = settled(.success(.good(validUntil: Self.instant + 600)))
        #expect(record.state(at: Self.instant + 599) == .good)
        #expect(record.state(at: Self.instant + 600) == .unknown)
    }

    @Test(arguments: [(600, 300), (86_400, 3600), (20, 60)])
    func `an answer is renewed at half its time, within a minute and an hour`(_ lifeSeconds: Int64, _ after: Int64) {
        var record = settled(.success(.good(validUntil: Self.instant + lifeSeconds)))
        #expect(record.claim(at: after * 1000 - 1) == false)
        #expect(record.claim(at: after * 1000) == true)
    }

    @Test
    func `pauses grow after failures, and what is known stays known`() {
        var record = settled(.success(.good(validUntil: Self.instant + 600)))
        var now: Int64 = 1_000_000
        // Half of each pause is left to chance; a jitter of 0 takes none of it.
        for seconds: Int64 in [15, 30, 60, 120, 240, 480, 900, 900] {
            #expect(record.claim(at: now) == true)
            record.settle(.failure(Self.failure), at: now, unixSeconds: Self.instant, jitter: 0)
            #expect(record.failure == "timeout")
            #expect(record.claim(at: now + seconds * 500 - 1) == false)
            now += seconds * 500
        }
        #expect(record.state(at: Self.instant + 1) == .good)
        #expect(record.claim(at: now) == true)
        record.settle(.success(.good(validUntil: Self.instant + 600)), at: now, unixSeconds: Self.instant, jitter: 0)
        #expect(record.failure == nil)
    }

    @Test(arguments: [UInt64(0), 1, 7500, 7501, .max])
    func `chance makes no pause longer than it is meant to be`(_ jitter: UInt64) {
        var record = claimed()
        record.settle(.failure(Self.failure), at: 0, unixSeconds: Self.instant, jitter: jitter)
        #expect(record.claim(at: 7499) == false)
        #expect(record.claim(at: 15_000) == true)
    }

    @Test
    func `what has been revoked stays so, and is not asked about again`() {
        var record = settled(.success(.revoked(at: Self.instant - 5)))
        #expect(record.claim(at: 1 << 50) == false)
        record.settle(.success(.good(validUntil: Self.instant + 600)), at: 1, unixSeconds: Self.instant, jitter: 0)
        record.settle(.failure(Self.failure), at: 2, unixSeconds: Self.instant, jitter: 0)
        #expect(record.state(at: Self.instant) == .revoked)
    }

    @Test
    func `a responder that does not know the certificate takes back what it said`() {
        var record = settled(.success(.good(validUntil: Self.instant + 600)))
        record.settle(.success(.unknown(validUntil: Self.instant + 600)), at: 0, unixSeconds: Self.instant, jitter: 0)
        #expect(record.state(at: Self.instant) == .unknown)
        #expect(record.failure == "unknown")
        #expect(record.claim(at: 15_000) == true)
    }
}
