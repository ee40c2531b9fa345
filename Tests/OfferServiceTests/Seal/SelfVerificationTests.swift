// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Testing

@testable import Configuration
@testable import OfferService

/// Which fresh signatures are verified before they leave.
struct SelfVerificationTests {
    @Test func `of those made within ten milliseconds, the first is verified`() {
        let clock = SettableClock()
        let verification = SelfVerification(.sampled, clock: clock.wallClock)
        var verified: [Int] = []
        for millisecond in 0..<35 {
            for _ in 0..<3 where verification.isDue() { verified.append(millisecond) }
            clock.advance(milliseconds: 1)
        }
        #expect(verified == [0, 10, 20, 30])
    }

    @Test func `after a pause the next one is verified, and one alone`() {
        let clock = SettableClock()
        let verification = SelfVerification(.sampled, clock: clock.wallClock)
        #expect(verification.isDue())
        clock.advance(seconds: 60)
        #expect(verification.isDue())
        #expect(!verification.isDue(), "the pause is not made up for")
    }

    @Test func `of many made at once, one is verified`() async {
        let verification = SelfVerification(.sampled, clock: SettableClock().wallClock)
        let verified = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { verification.isDue() } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(verified == 1)
    }

    @Test(arguments: [(SelfVerificationMode.always, 6), (.sampled, 3), (.off, 0)])
    func `verifies as many signatures as the mode says`(mode: SelfVerificationMode, count: Int) async throws {
        var files = TestFiles()
        files.selfVerification = mode
        let verified = Recorder()
        files.verifies = { key, signature, digest in
            verified.add()
            return key.verifies(signature, of: digest)
        }
        try await withService(.inProcess, files) { service async throws in
            for number in 0..<6 {
                #expect(try await service.sign(offer: "open").status == 200)
                // Two and two come within the same ten milliseconds.
                if number % 2 == 1 { service.clock.advance(milliseconds: 10) }
            }
            #expect(verified.count == count)
            #expect(service.metrics[.selfVerifications] == count)
        }
    }

    @Test func `both forms of a request are verified, or none`() async throws {
        var files = TestFiles()
        files.selfVerification = .sampled
        let verified = Recorder()
        files.verifies = { key, signature, digest in
            verified.add()
            return key.verifies(signature, of: digest)
        }
        try await withService(.inProcess, files) { service async throws in
            for count in [2, 2, 4] {
                if count == 4 { service.clock.advance(milliseconds: 10) }
                #expect(try await service.sign(offer: "open", #""formats": ["v1", "jws"]"#).status == 200)
                #expect(verified.count == count)
            }
        }
    }
}
