// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// A purchase is read from the ledger as it was written there, whatever names the store has given.
struct PurchaseRecordTests {
    /// As they stand in the store's answer.
    @Test(arguments: ["premium", #"pre\"mium"#, #"back\\slash"#, #"\u0007\n"#, #"\",\"x\":\""#, "\u{E9}\u{1F600}"])
    func `names come back as they were`(name: String) throws {
        var purchase = try PlaySample(
            "ACTIVE\(name)",
            .init {
                $0.product = name; $0.plan = name; $0.offer = name; $0.phase = name
                $0.more = #""itemReplacement":{"productId":"\#(name)","basePlanId":"\#(name)","offerId":"\#(name)"}"#
            }
        ) {
            $0.cancellation = name
        }.purchase()
        purchase.lineItems[0].priceStepUp = .init(consent: Reported(name), deadline: PlaySample.now)
        let record = GooglePlayPurchaseRecord(purchase, observedAt: PlaySample.now, mark: name, keys: PlainKeys())
        let read = try #require(GooglePlayPurchaseRecord(json: record.json), "\(record.json)")
        #expect(read == record)
        #expect(read.json == record.json)
    }
}
