// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain
import Testing

@testable import Ledger
@testable import OfferService

/// The `facts` member, as SDKs and other systems write it.
struct FactsReaderTests {
    private let now = Timestamp(milliseconds: 1_772_366_400_000)

    private func read(_ json: String) throws -> (facts: CustomerFacts, faults: [Mismatch]) {
        let mismatches = Mismatches()
        let root = try JSONDocument(Array(json.utf8)).root
        return (CustomerFactsReader.read(root, observedAt: now, into: mismatches), mismatches.all)
    }

    @Test(arguments: [
        #""2026-02-01T00:00:00Z""#, #""2026-02-01t00:00:00.000000000000z""#, "1769904000000",
        #""2026-02-01T01:00:00+01:00""#,
    ])
    func `reads a time as RFC 3339 or as milliseconds`(time: String) throws {
        let json = #"{"expiresAt": \#(time), "cancelledAt": \#(time), "refundedAt": [\#(time)]}"#
        let (facts, faults) = try read(json)
        let instant = Timestamp(milliseconds: 1_769_904_000_000)
        #expect(faults.isEmpty, "\(faults)")
        #expect(facts.expiresAt?.value == instant && facts.cancelledAt?.value == instant)
        #expect(facts.refundedAt?.value == [Refund(at: instant)])
    }

    @Test(arguments: [
        "1769904000", "1769904000.5", #""1769904000000""#, "0", "-1", #""2026-02-01""#, "true", "1e99",
        "-9223372036854775808",
    ])
    func `refuses what is neither, seconds too`(time: String) throws {
        let (facts, faults) = try read(#"{"expiresAt": \#(time)}"#)
        #expect(facts.expiresAt == nil && faults.map(\.pointer) == ["/expiresAt"])
        #expect(faults.first?.message.contains("milliseconds since 1970") == true)
    }

    @Test
    func `reads what SDKs report`() throws {
        let json = #"{"isActive": false, "expiresAt": 1769904000000, "renewsTo": "com.example.basic"}"#
        let (facts, faults) = try read(json)
        #expect(faults.isEmpty)
        #expect(facts.isActive?.value == false && facts.status?.value == .expired)
        #expect(facts.renewsTo?.value.text == "com.example.basic" && facts.subscribedBefore?.value == true)
    }

    @Test(arguments: [("active", false), ("inGracePeriod", false), ("expired", true), ("revoked", true)])
    func `refuses an access that contradicts the status`(status: String, isActive: Bool) throws {
        let (_, faults) = try read(#"{"status": "\#(status)", "isActive": \#(isActive)}"#)
        #expect(faults.map(\.pointer) == ["/isActive"])
        #expect(try read(#"{"status": "\#(status)", "isActive": \#(!isActive)}"#).faults.isEmpty)
    }
}
