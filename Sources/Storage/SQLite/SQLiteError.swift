// SPDX-License-Identifier: Apache-2.0
import CSQLite
import Glibc

extension StorageError {
    /// What SQLite says of the call that has just failed on a connection.
    ///
    /// Source: [Result and error codes](https://www.sqlite.org/rescode.html).
    static func sqlite(_ connection: OpaquePointer?) -> StorageError {
        let code = unsafe sqlite3_extended_errcode(connection)
        let message = unsafe String(cString: sqlite3_errmsg(connection))
        let systemError = unsafe sqlite3_system_errno(connection)
        return sqlite(EngineReport(code: code, message), systemError: systemError)
    }

    /// Sorts a report into the closed list.
    static func sqlite(_ report: EngineReport, systemError: Int32) -> StorageError {
        switch report.code & 0xFF {
        case SQLITE_FULL: .diskFull(report)
        case SQLITE_IOERR: inputOutput(report, systemError: systemError)
        case SQLITE_READONLY: .readOnly(report)
        case SQLITE_BUSY, SQLITE_LOCKED: .busy(report)
        case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt(report)
        case SQLITE_CONSTRAINT: .constraint(Constraint(sqlite: report.code), report)
        case SQLITE_CANTOPEN, SQLITE_PERM: .cannotOpen(report)
        case SQLITE_NOMEM: .outOfMemory(report)
        default: .misuse(report)
        }
    }

    private static func inputOutput(_ report: EngineReport, systemError: Int32) -> StorageError {
        switch report.code >> 8 {
        // A sync that failed is not to be trusted, be it for want of room.
        case inputOutputFsync, inputOutputDirectoryFsync: .ioFailure(report)
        case inputOutputNoMemory: .outOfMemory(report)
        default: [ENOSPC, EDQUOT].contains(systemError) ? .diskFull(report) : .ioFailure(report)
        }
    }

    // The extended codes are macros that are put together, which are not imported; these are their upper parts.
    private static let inputOutputFsync: Int32 = 4
    private static let inputOutputDirectoryFsync: Int32 = 5
    private static let inputOutputNoMemory: Int32 = 12
}

extension StorageError.Constraint {
    /// Reads SQLite's extended code; its upper part identifies the kind of constraint.
    init(sqlite code: Int32) {
        self =
            switch code >> 8 {
            case 1: .check
            case 3: .foreignKey
            case 5: .notNull
            case 6: .primaryKey
            case 8: .unique
            default: .other
            }
    }
}
