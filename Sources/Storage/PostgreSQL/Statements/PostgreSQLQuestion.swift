// SPDX-License-Identifier: Apache-2.0

/// A statement whose answer is kept until it is wanted.
final class PostgreSQLQuestion {
    private let address: UInt
    /// One for a statement with one list of values, any for one that is asked for each of many.
    private let lists: [[SQLValue]]
    private let isForMany: Bool
    /// Nil until it has come, and where it was an error.
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
