// SPDX-License-Identifier: Apache-2.0

/// A statement whose answer is kept until it is needed.
final class PostgreSQLQuestion {
    private let address: UInt
    /// One list for a single statement; any number of lists for a statement that is run for each of them.
    private let lists: [[SQLValue]]
    private let isForMany: Bool
    /// Nil until the answer has come, and if it was an error.
    var result: PostgreSQLResult?

    init(_ sql: SQL) { (address, lists, isForMany) = (sql.address, [sql.values], false) }

    init(_ text: StaticString, forEach lists: [[SQLValue]]) {
        (address, self.lists, isForMany) = (SQLText(text).address, lists, true)
    }

    /// Whether the answer is the same.
    func isSame(as other: PostgreSQLQuestion) -> Bool {
        address == other.address && isForMany == other.isForMany && lists == other.lists
    }
}

/// How many rows a statement is to change.
struct PostgreSQLExpectation {
    let question: PostgreSQLQuestion
    let changes: Int

    /// What is wrong, if the answer has come and is another.
    var fault: StorageError? {
        guard let found = question.result?.changes, found != changes else { return nil }
        return .changed(found, insteadOf: changes)
    }
}
