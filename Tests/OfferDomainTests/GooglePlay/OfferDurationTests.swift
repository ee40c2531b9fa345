// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Testing

struct OfferDurationTests {
    @Test(arguments: [
        ("P7D", "P1W"), ("P1W", "P1W"), ("P14D", "P2W"), ("P3D", "P3D"), ("P10D", "P10D"), ("P1W3D", "P10D"),
        ("P1M", "P1M"), ("P12M", "P1Y"), ("P1Y", "P1Y"), ("P18M", "P1Y6M"), ("P1Y6M", "P1Y6M"), ("P0Y3M", "P3M"),
        ("P1M7D", "P1M7D"), ("P1M1W", "P1M7D"), ("P01D", "P1D"), ("P30D", "P30D"), ("P9999Y", "P9999Y"),
    ])
    func `writes equal durations in one way`(text: String, normalised: String) throws {
        let duration = try #require(OfferDuration(iso8601: text))
        #expect(duration.iso8601 == normalised)
        #expect(OfferDuration(iso8601: normalised) == duration)
    }

    @Test(arguments: [
        "", "P", "7D", "p7d", "P7d", "PD", "P7", "P-7D", "-P7D", "+P7D", "P1.5D", "P1,5D", "P0D", "P0Y0M", "PT1H",
        "P1DT1H",
        "P1D1W", "P1D1D", "P1M1Y", "P10000D", "P 7D", "P7D ", "P７D", "P1X", "P1W2W",
    ])
    func `refuses what is no duration of an offer`(text: String) {
        #expect(OfferDuration(iso8601: text) == nil)
    }

    @Test
    func `keeps apart what is not of one length`() {
        #expect(OfferDuration(iso8601: "P30D") != OfferDuration(iso8601: "P1M"))
        #expect(OfferDuration(iso8601: "P365D") != OfferDuration(iso8601: "P1Y"))
        #expect(OfferDuration(iso8601: "P4W") != OfferDuration(iso8601: "P1M"))
    }
}
