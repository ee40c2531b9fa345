// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

/// What was matched before names and accounts were kept stays, and is completed when it is told of again.
struct ReconciliationUpgradeTests {
    @Test func `rows of before are what they were`() throws {
        let directory = try TemporaryDirectory()
        let location = try #require(DatabaseLocation(directory.database("ledger.db")))
        let connection = try location.connect()
        try Migrations.apply(LedgerSchema.migrations.filter { $0.version <= 4 }, to: connection, at: 0)
        for statement: StaticString in [
            """
            INSERT INTO app_store_redemptions (chain, first_transaction, offer_id, product_id, state, redeemed_at, grant_id)
            VALUES (x'01', x'01', 'o', 'p', 'redeemed', 5, x'0011'), (x'02', x'02', 'o', 'p', 'redeemed', 6, NULL)
            """,
            """
            INSERT INTO google_play_redemptions (purchase, product_id, base_plan_id, offer_id, offer_key, state, redeemed_at,
                grant_id) VALUES (x'01', 'p', 'b', 'o', 1, 'redeemed', 7, x'0011'), (x'02', 'p', 'b', 'o', 1, 'redeemed', 8, NULL)
            """,
        ] { try connection.run(SQL(statement)) }
        try Migrations.apply(LedgerSchema.migrations, to: connection, at: 1)
        let query = ReconciliationQuery(from: Timestamp(milliseconds: 0), until: Timestamp(milliseconds: 9))
        let report = try ReconciliationReader(connection: connection).report(query, at: Timestamp(milliseconds: 9))
        #expect(report.uses == [.granted: 2, .ungranted: 2])
        #expect(report.withoutRecord.map(\.redeemedAt.milliseconds) == [8, 6])
        #expect(report.withoutRecord.allSatisfy { $0.entryIndex == -1 && $0.place.app == nil })
    }

    @Test func `a row of before is completed without telling anything new`() async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try world.customer([
                .init(.active, periods: 1, startedDaysAgo: 1, offers: [.init(2, "store_open", period: 0)])
            ])
            let id = ids.subscriptions[0].originalTransactionID
            try await world.deliver(.init("SUBSCRIBED", transactionID: id))
            try world.service.change(
                "UPDATE app_store_redemptions SET bundle_id = NULL, environment = NULL, entry_index = -1"
            )
            try await world.deliver(.init("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", transactionID: id))
            let names: StaticString = "SELECT bundle_id || ' ' || environment FROM app_store_redemptions"
            #expect(try world.service.rows([names]) == ["com.example.app production"])
            #expect(try world.service.entries("offer.redemption").count == 1)
            #expect(world.service.metrics[.redemptions(state: "redeemed", match: .ungranted)] == 1)
        }
    }
}
