// SPDX-License-Identifier: Apache-2.0

/// Why the database did not do what it was asked; these are all the ways.
///
/// It holds the engine's code and words, which name tables and columns, but never a statement's values.
package enum StorageError: Error, Hashable, Sendable {
    /// Nothing was changed; the connection can be used again.
    case diskFull(EngineReport)
    case readOnly(EngineReport)
    /// Another connection kept its lock for longer than one is willing to wait.
    case busy(EngineReport)
    /// The file is damaged or no database at all.
    case corrupt(EngineReport)
    /// Reading, writing or syncing failed. What is on disk is unknown: close the connection and open a new one.
    ///
    /// After a failed `fsync` Linux forgets which pages were not written, so a later successful `fsync` proves nothing.
    case ioFailure(EngineReport)
    case constraint(Constraint, EngineReport)
    case cannotOpen(EngineReport)
    case outOfMemory(EngineReport)
    /// The database was brought up to date by a newer program.
    case schemaTooNew(found: Int, supported: Int)
    /// A migration that was applied long ago had another name.
    case schemaDiffers(version: Int, applied: String, expected: String)
    /// A table to be copied has different columns in the two databases.
    case tableDiffers(String)
    /// A setting on which safety rests did not take effect.
    case settingRefused(name: String, value: String)
    /// A column was not of the kind that the program reads.
    case unexpectedValue(column: Int)
    /// Another service holds the database; its process is known where it could be read.
    case inUse(path: String, process: Int32?)
    /// The program used the database in a way it must not.
    case misuse(EngineReport)

    /// The file is not as it should be; the caller gives the reason.
    package static func cannotRead(_ reason: String) -> StorageError { .cannotOpen(EngineReport(reason)) }

    /// Another process has the file open.
    package static func isOpen(_ path: String) -> StorageError { .busy(EngineReport(path)) }

    /// A statement changed this number of rows, and the program relies on another; it may be committed.
    static func changed(_ changes: Int, insteadOf expected: Int) -> StorageError {
        .ioFailure(EngineReport("a statement changed \(changes) rows instead of \(expected)"))
    }

    /// What sort of rule a row would have broken.
    package enum Constraint: Hashable, Sendable {
        case unique, primaryKey, foreignKey, notNull, check, other
    }

    /// Whether the connection is of no more use.
    package var requiresReopening: Bool {
        if case .ioFailure = self { true } else { false }
    }
}

/// What the engine said: its own number and its own words.
package struct EngineReport: Hashable, Sendable {
    /// SQLite's extended result code, or 0 where another noticed.
    package let code: Int32
    /// PostgreSQL's SQLSTATE, five letters or digits; empty where another noticed.
    package let state: String
    /// Names tables and columns, never values.
    package let message: String

    /// Whether the server has undone the transaction because nothing came for too long, whatever was sent meanwhile.
    package var hasEndedTransaction: Bool { state == "25P03" }

    /// The engine's words, or the program's own with neither number nor state.
    package init(code: Int32 = 0, state: String = "", _ message: String) {
        self.code = code
        self.state = state
        self.message = message
    }
}

extension StorageError: StorageErrorConvertible {
    /// The error itself.
    package static func storage(_ error: StorageError) -> StorageError { error }
}

extension StorageError: CustomStringConvertible {
    /// One sentence for a person, and what the engine said.
    package var description: String {
        switch self {
        case .diskFull(let report): "The disk that holds the database is full (\(report))."
        case .readOnly(let report): "The database cannot be written to (\(report))."
        case .busy(let report): "The database is in use by another connection (\(report))."
        case .corrupt(let report): "The database is damaged, or the file is not a database (\(report))."
        case .ioFailure(let report): "The database could not be read or written (\(report))."
        case .constraint(_, let report): "The change breaks a rule of the database (\(report))."
        case .cannotOpen(let report): "The database cannot be opened (\(report))."
        case .outOfMemory(let report): "There is not enough memory for the database (\(report))."
        case .schemaTooNew(let found, let supported):
            "The database has version \(found), and this program knows versions up to \(supported)."
        case .schemaDiffers(let version, let applied, let expected):
            "Version \(version) of the database is '\(applied)', where this program has '\(expected)'."
        case .tableDiffers(let name):
            "The table \(name) does not have the same columns in both databases; undo what was changed by hand."
        case .settingRefused(let name, let value): "The database's setting \(name) is \(value), which is not safe."
        case .unexpectedValue(let column): "Column \(column) of the answer is not of the kind expected."
        case .inUse(let path, let process):
            "The database is held by another service (\(process.map { "process \($0), " } ?? "")\(path))."
        case .misuse(let report): "The program misused its database (\(report))."
        }
    }
}

extension EngineReport: CustomStringConvertible {
    /// Number or state, and words.
    package var description: String {
        if code != 0 { return "\(code): \(message)" }
        return state.isEmpty ? message : "\(state): \(message)"
    }
}
