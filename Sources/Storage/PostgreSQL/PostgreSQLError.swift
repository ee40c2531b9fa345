// SPDX-License-Identifier: Apache-2.0

extension StorageError {
    /// What PostgreSQL says with an SQLSTATE; the connection is still there unless `isLost`.
    ///
    /// Source: [PostgreSQL Error Codes](https://www.postgresql.org/docs/15/errcodes-appendix.html).
    static func postgreSQL(_ report: EngineReport, isLost: Bool) -> StorageError {
        // Whatever the report says: if the connection is lost, the outcome of the last statement is unknown.
        if isLost { return .ioFailure(report) }
        return switch report.state {
        case "23505": .constraint(.unique, report)
        case "23503": .constraint(.foreignKey, report)
        case "23502": .constraint(.notNull, report)
        case "23514": .constraint(.check, report)
        case "25006": .readOnly(report)
        // A lock that was waited for in vain, two that wait for each other, two that changed the same: worth another try.
        case "55P03", "40001", "40P01", "55006", "57014": .busy(report)
        // A server that does not know itself what became of a statement; a commit may have happened.
        case "40003": .ioFailure(report)
        case "53100": .diskFull(report)
        case "53200": .outOfMemory(report)
        case "XX001", "XX002": .corrupt(report)
        default: byClass(report)
        }
    }

    private static func byClass(_ report: EngineReport) -> StorageError {
        switch report.state.prefix(2) {
        case "23": .constraint(.other, report)
        // A connection that ends, a transaction of unknown end, an error of the system or of the server itself.
        case "08", "57", "58", "XX": .ioFailure(report)
        case "40": .busy(report)
        case "28", "3D": .cannotOpen(report)
        case "53": .outOfMemory(report)
        default: .misuse(report)
        }
    }
}

extension EngineReport {
    /// A server's state and message, without the parts that may contain a value.
    ///
    /// The words of class 22, data exceptions, quote what they object to.
    init(state: String, words: String) {
        self.init(state: state, state.hasPrefix("22") ? "a value that the database cannot hold" : words)
    }
}
