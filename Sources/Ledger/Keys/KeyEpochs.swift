// SPDX-License-Identifier: Apache-2.0
import Storage

/// Of which epoch the keys are that stand beside others in what the stores told, and between customers.
///
/// A row may have a key in force beside one of an earlier epoch, of which only a part was named since. When that epoch ends,
/// such a row would still say who is who. A key that isn't listed is of the oldest epoch that was not destroyed, so where
/// there is but one nothing is written. Used by one thread, inside an open transaction.
struct KeyEpochs {
    private let connection: any DatabaseConnection

    init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// Notes that these were made with the secret in force, just now; a key is never another secret's.
    func note(_ keys: some Sequence<[UInt8]>) throws(StorageError) {
        for key in keys { try connection.insert([.blob(key)], into: Self.insertion) }
    }

    private static let insertion = Insertion(
        into: "customer_key_epochs",
        columns: "ledger_key, ordinal",
        selecting: "SELECT ?, coalesce(max(ordinal), 0) FROM customer_epochs WHERE ordinal >= 0"
    )

    /// The places of the epochs that the listed ones of the keys are of.
    func ordinals(of keys: [[UInt8]]) throws(StorageError) -> [[UInt8]: Int64] {
        var found: [[UInt8]: Int64] = [:]
        try connection.rows(
            "SELECT ordinal FROM customer_key_epochs WHERE ledger_key = ?",
            forEach: keys.map { [.blob($0)] }
        ) { place, row in found[keys[place]] = row.integer(0) }
        return found
    }
}
