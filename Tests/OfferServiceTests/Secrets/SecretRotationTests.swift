// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// Wherever the ledger has a key that was made under the earlier version of the secret, it gets the key of now.
@Suite(.overBothEngines) struct SecretRotationTests {
    private static let earlier = [UInt8](repeating: 0xAA, count: 18)
    private static let current = [UInt8](repeating: 0xBB, count: 18)

    /// One place of a key, with the rows beside it by which it is found; each statement takes the key once.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let table: StaticString
        let statements: [StaticString]
        /// In the text of a record, and not as bytes.
        var isInRecord = false

        init(_ name: String, _ table: StaticString, isInRecord: Bool = false, _ statements: StaticString...) {
            testDescription = name
            self.table = table
            self.statements = statements
            self.isInRecord = isInRecord
        }
    }

    static let rows = [
        Row("a grant", "SELECT subject FROM grants", "INSERT INTO grants VALUES (?, 7, x'01', 3)"),
        Row(
            "a customer with a subscription",
            "SELECT subject FROM subscription_customers",
            "INSERT INTO subscription_customers VALUES (?, 'app-store', x'0C')"
        ),
        Row(
            "a subscription of a customer",
            "SELECT subscription FROM subscription_customers",
            "INSERT INTO subscription_customers VALUES (x'05', 'google-play', ?)"
        ),
        Row(
            "a subscription",
            "SELECT subscription FROM subscription_records",
            "INSERT INTO subscription_records (subscription, store, record) VALUES (?, 'app-store', '{}')"
        ),
        Row(
            "the subscription of a transaction",
            "SELECT subscription FROM transaction_records",
            "INSERT INTO transaction_records (subscription, transaction_key, record) VALUES (?, x'07', '{}')",
            "INSERT INTO subscription_records (subscription, store, record) VALUES (?, 'app-store', '{}')"
        ),
        Row(
            "a transaction",
            "SELECT transaction_key FROM transaction_records",
            "INSERT INTO transaction_records (subscription, transaction_key, record) VALUES (x'0C', ?, '{}')"
        ),
        Row(
            "the chain of a redemption",
            "SELECT subscription FROM redemptions",
            """
            INSERT INTO redemptions (
                subscription, first_transaction, product_id, base_plan_id, offer_id, store, store_app, state, redeemed_at,
                environment, matched_as
            ) VALUES (?, x'07', 'p', '', 'o', 'app-store', 'com.example.app', 's', 1, 'production', 'none')
            """,
            "INSERT INTO subscription_records (subscription, store, record) VALUES (?, 'app-store', '{}')"
        ),
        Row(
            "the first transaction of a redemption",
            "SELECT first_transaction FROM redemptions",
            """
            INSERT INTO redemptions (
                subscription, first_transaction, product_id, base_plan_id, offer_id, store, store_app, state, redeemed_at,
                environment, matched_as
            ) VALUES (x'0C', ?, 'p', '', 'o', 'app-store', 'com.example.app', 's', 1, 'production', 'none')
            """,
            "INSERT INTO transaction_records (subscription, transaction_key, record) VALUES (x'0C', ?, '{}')"
        ),
        Row(
            "the account that a transaction was bought by",
            "SELECT record FROM transaction_records",
            isInRecord: true,
            "INSERT INTO transaction_records (subscription, transaction_key, record) VALUES (x'0C', x'07', ?)",
            "INSERT INTO subscription_customers VALUES (?, 'app-store', x'0C')"
        ),
        Row(
            "a purchase that another follows",
            "SELECT subject FROM subscription_customers WHERE subject <> subscription",
            "INSERT INTO subscription_customers VALUES (?, 'google-play', x'0C')"
        ),
        Row(
            "a purchase that is linked to others",
            "SELECT subject FROM subscription_customers WHERE subject = subscription",
            "INSERT INTO subscription_customers VALUES (?, 'google-play', x'0C')",
            """
            INSERT INTO subscription_customers SELECT subject, store, subject FROM subscription_customers WHERE subject = ?
            """
        ),
        Row(
            "the predecessor in a record",
            "SELECT record FROM subscription_records",
            isInRecord: true,
            "INSERT INTO subscription_records (subscription, store, record) VALUES (x'0C', 'google-play', ?)",
            "INSERT INTO subscription_customers VALUES (?, 'google-play', x'0C')",
            """
            INSERT INTO subscription_customers SELECT subject, store, subject FROM subscription_customers WHERE subject = ?
            """
        ),
        Row(
            "the purchase of a redemption",
            "SELECT subscription FROM redemptions",
            """
            INSERT INTO redemptions (
                subscription, first_transaction, product_id, base_plan_id, offer_id, store, store_app, state, redeemed_at,
                environment, matched_as
            ) VALUES (?, x'', 'p', 'b', 'o', 'google-play', 'com.example.app', 's', 1, 'production', 'none')
            """,
            "INSERT INTO subscription_records (subscription, store, record) VALUES (?, 'google-play', '{}')"
        ),
        Row(
            "the beginning of a link",
            "SELECT from_subject FROM customer_links",
            "INSERT INTO customer_links VALUES (?, x'06', 1, 1, 1)"
        ),
        Row(
            "the end of a link",
            "SELECT to_subject FROM customer_links",
            "INSERT INTO customer_links VALUES (x'06', ?, 1, 1, 1)"
        ),
        Row(
            "stored attributes",
            "SELECT subject FROM customer_attributes",
            "INSERT INTO customer_attributes VALUES (?, '{}', 1, 2, 3, '{}')"
        ),
        Row(
            "a subscription with an owner",
            "SELECT subscription FROM subscription_holders",
            "INSERT INTO subscription_holders VALUES (?, 'account', x'05', 1)"
        ),
        Row(
            "the owner of a subscription of the App Store",
            "SELECT subject FROM subscription_holders",
            "INSERT INTO subscription_holders VALUES (x'0C', 'account', ?, 1)",
            "INSERT INTO subscription_customers VALUES (?, 'app-store', x'0C')"
        ),
        Row(
            "the owner of a subscription of Google Play",
            "SELECT subject FROM subscription_holders",
            "INSERT INTO subscription_holders VALUES (x'0C', 'account', ?, 1)",
            "INSERT INTO subscription_customers VALUES (?, 'google-play', x'0C')"
        ),
        Row(
            "the account that a grant was given to",
            "SELECT account FROM issued_grants",
            "INSERT INTO issued_grants VALUES (x'01', 7, 1, ?, 3)",
            "INSERT INTO grants VALUES (?, 7, x'01', 3)"
        ),
    ]

    @Test(arguments: rows)
    func `replaces the key in every table, and a second run changes nothing`(row: Row) throws {
        let place = try LogPlace()
        let connection = try place.ledger.openPatiently()
        for (index, statement) in row.statements.enumerated() {
            let text = #"{"key":"\#(AccountKey(Self.earlier).recordText)"}"#
            try connection.run(
                SQL(statement, row.isInRecord && index == 0 ? .text(text) : .blob(Self.earlier))
            )
        }
        let rotatedKeys = SecretRotation(GrantTable(connection: connection))
        let rotatedKey = RotatedKey(
            current: Self.current,
            earlier: [[UInt8](repeating: 1, count: 18), Self.earlier]
        )
        let record = Array(#"{"key":"\#(AccountKey(Self.current).recordText)"}"#.utf8)
        for _ in 0..<2 {
            try rotatedKeys.apply([rotatedKey])
            let found: [[UInt8]] = try connection.all(SQL(row.table)) { found in
                row.isInRecord ? Array(found.text(0).utf8) : found.blob(0)
            }
            #expect(found == [row.isInRecord ? record : Self.current])
        }
    }

    @Test func `what there is under the key of now stays, and nothing is left under the earlier one`() throws {
        let place = try LogPlace()
        let connection = try place.ledger.openPatiently()
        for (key, grant) in [(Self.earlier, 1), (Self.current, 1), (Self.earlier, 2)] {
            let values: [SQLValue] = [.blob(key), .blob([UInt8(grant)])]
            try connection.run(SQL("INSERT INTO grants VALUES (?, 7, ?, 3)", values))
        }
        let rotatedKey = RotatedKey(current: Self.current, earlier: [Self.earlier])
        try SecretRotation(GrantTable(connection: connection)).apply([rotatedKey])
        let rows = try connection.all(SQL("SELECT subject, grant_id FROM grants ORDER BY grant_id")) {
            $0.blob(0) + $0.blob(1)
        }
        #expect(rows == [Self.current + [1], Self.current + [2]])
    }
}
