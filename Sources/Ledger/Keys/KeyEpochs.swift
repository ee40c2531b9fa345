// SPDX-License-Identifier: Apache-2.0
import Storage

/// The epochs of keys that are stored beside others, in data of the stores and in links between customers.
///
/// A row may have a key in force beside one of an earlier epoch, if requests named only a part of it since. When that
/// epoch ends, such a row would still link the two. A key that isn't listed is of the oldest epoch that was not
/// destroyed, so nothing is written while there is only one. Used by one thread, inside an open transaction.
struct KeyEpochs {
    private let connection: any DatabaseConnection

    init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// Notes that these keys were just made with the secret in force; the secret of a key never changes.
    func note(_ keys: some Sequence<[UInt8]>) throws(StorageError) {
        for key in keys { try connection.insert([.blob(key)], into: Self.insertion) }
    }

    private static let insertion = Insertion(
        into: "customer_key_epochs",
        columns: "ledger_key, ordinal",
        selecting: "SELECT ?, coalesce(max(ordinal), 0) FROM customer_epochs WHERE ordinal >= 0"
    )

    /// The ordinals of the epochs of the keys, for those that are listed.
    func ordinals(of keys: [[UInt8]]) throws(StorageError) -> [[UInt8]: Int64] {
        var found: [[UInt8]: Int64] = [:]
        try connection.rows(
            "SELECT ordinal FROM customer_key_epochs WHERE ledger_key = ?",
            forEach: keys.map { [.blob($0)] }
        ) { place, row in found[keys[place]] = row.integer(0) }
        return found
    }
}
