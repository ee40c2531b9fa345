// SPDX-License-Identifier: Apache-2.0
import Storage

extension KeyTables {
    /// Every table with keys of customers, chains, transactions or purchases, except `grants_by_time`: its rows move to
    /// `grants` before a key of theirs is renamed.
    ///
    /// The first transaction of a redemption and the holder of a subscription have no index, so ``SecretRotation`` finds
    /// them by other columns of their rows.
    static let ofLedger = KeyTables([
        Table("grants", primaryKey: "subject, offer_key, grant_id", renamed: "subject", removed: "subject"),
        Table(
            "subscription_customers",
            primaryKey: "subject, store, subscription",
            renamed: "subject, subscription",
            removed: "subject, subscription"
        ),
        Table(
            "subscription_records",
            primaryKey: "subscription",
            renamed: "subscription",
            removed: "subscription"
        ),
        Table(
            "transaction_records",
            primaryKey: "subscription, transaction_key",
            renamed: "subscription, transaction_key",
            removed: "subscription, transaction_key"
        ),
        Table(
            "redemptions",
            primaryKey: "subscription, first_transaction, product_id, base_plan_id, offer_id",
            renamed: "subscription",
            removed: "subscription, first_transaction"
        ),
        Table("google_play_accounts", primaryKey: "account", renamed: "customer", removed: "customer"),
        Table(
            "customer_links",
            primaryKey: "from_subject, to_subject",
            renamed: "from_subject, to_subject",
            removed: "from_subject, to_subject"
        ),
        Table(
            "subscription_holders",
            primaryKey: "subscription, kind",
            renamed: "subscription",
            removed: "subscription, subject"
        ),
        Table("customer_attributes", primaryKey: "subject", renamed: "subject", removed: "subject"),
    ])
}
