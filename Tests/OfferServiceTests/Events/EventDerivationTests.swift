// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferService
import TestSupport
import Testing

/// What one entry of the log makes.
struct EventDerivationTests {
    private struct Row: Sendable, CustomTestStringConvertible {
        let entry: String
        let events: [EventType]
        var testDescription: String { entry }

        init(_ entry: String, _ events: EventType...) {
            (self.entry, self.events) = (entry, events)
        }
    }

    private static let rows = [
        // Seals and disabled keys: the event comes once every instance has acknowledged.
        Row(#""ev":"key.disable","by":"api","kid":"A""#, .keyDisabled),
        Row(#""ev":"key.disable","by":"api","awaited":true,"kid":"A""#),
        Row(#""ev":"key.disable","by":"command","kid":"A""#),
        Row(#""ev":"key.disabled","kid":"A""#, .keyDisabled),
        Row(#""ev":"key.enable","by":"api","kid":"A""#),
        Row(#""ev":"service.seal","by":"api","cause":"administrator""#, .serviceSealed),
        Row(#""ev":"service.seal","awaited":true,"by":"api","cause":"administrator""#),
        Row(#""ev":"service.seal","by":"command","cause":"administrator""#),
        Row(#""ev":"service.seal","by":"service","cause":"checkpoint""#, .serviceSealed, .logContradicted),
        Row(#""ev":"service.seal","awaited":true,"by":"service","cause":"checkpoint""#),
        Row(#""ev":"service.sealed","cause":"checkpoint""#, .serviceSealed, .logContradicted),
        Row(#""ev":"service.sealed","cause":"administrator""#, .serviceSealed),
        // Redemptions without a grant: the event comes at their start.
        Row(#""ev":"offer.redemption","match":"none","state":"pending""#, .offerPending),
        Row(#""ev":"offer.redemption","match":"none","state":"redeemed""#, .offerRedeemed, .redemptionUnmatched),
        Row(
            #""ev":"offer.redemption","match":"none","state":"redeemed","was":"pending""#,
            .offerRedeemed,
            .redemptionUnmatched
        ),
        Row(
            #""ev":"offer.redemption","match":"none","settled":5,"state":"converted","was":"redeemed""#,
            .offerConverted
        ),
        Row(#""ev":"offer.redemption","match":"none","settled":5,"state":"undone","was":"converted""#, .offerUndone),
        Row(
            #""ev":"offer.redemption","match":"none","settled":5,"state":"converted""#,
            .offerRedeemed,
            .offerConverted,
            .redemptionUnmatched
        ),
        Row(#""ev":"offer.redemption","match":"grant","state":"redeemed""#, .offerRedeemed),
        // A use that arrived late, and was earlier, has taken its grant.
        Row(
            #""ev":"offer.redemption","match":"none","state":"redeemed","was":"redeemed""#,
            .offerRedeemed,
            .redemptionUnmatched
        ),
        // Money that was paid back without undoing the use.
        Row(
            #""ev":"offer.redemption","match":"grant","refunded":9,"settled":5,"state":"converted","was":"converted""#,
            .offerRefunded
        ),
        Row(
            #""ev":"offer.redemption","match":"none","refunded":9,"settled":5,"state":"notConverted","was":"redeemed""#,
            .offerNotConverted,
            .offerRefunded
        ),
        Row(
            #""ev":"offer.redemption","match":"none","refunded":9,"settled":5,"state":"notConverted""#,
            .offerRedeemed,
            .offerNotConverted,
            .offerRefunded,
            .redemptionUnmatched
        ),
        Row(
            #""ev":"offer.redemption","refunded":9,"settled":9,"state":"notConverted","was":"redeemed","wasRefunded":9"#,
            .offerNotConverted
        ),
        Row(
            #""ev":"offer.redemption","refunded":8,"state":"redeemed","was":"redeemed","wasRefunded":9"#,
            .offerRefunded
        ),
        Row(
            #""ev":"offer.redemption","match":"none","refunded":8,"state":"redeemed","was":"redeemed""#,
            .offerRefunded
        ),
        // Only times are new, such as the start of a use that became known after a renewal.
        Row(#""corrected":true,"ev":"offer.redemption","match":"grant","state":"redeemed","was":"redeemed""#),
        Row(#""corrected":true,"ev":"offer.redemption","settled":5,"state":"converted","was":"converted""#),
        // Only the grant is new.
        Row(
            #""ev":"offer.redemption","refunded":9,"state":"redeemed","was":"redeemed","wasRefunded":9"#,
            .offerRedeemed,
            .offerRefunded
        ),
        // The store took the refund back.
        Row(#""ev":"offer.redemption","state":"redeemed","was":"redeemed","wasRefunded":9"#, .offerRedeemed),
    ]

    @Test(arguments: rows) private func `makes these events`(row: Row) throws {
        var derivation = EventDerivation()
        let entry = Array(#"{"t":1782907200123,"v":1,\#(row.entry)}"#.utf8)
        #expect(try derivation.events(of: entry, at: 7).map(\.type) == row.events)
    }
}
