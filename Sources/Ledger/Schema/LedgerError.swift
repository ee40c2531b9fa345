// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
package import Storage
package import TransparencyLog

/// Why the ledger recorded nothing; nothing may be signed then.
package enum LedgerError: Error, Hashable, Sendable {
    /// More requests wait than the ledger will hold.
    case overloaded
    /// The database failed; nothing of the batch is on disk.
    case database(StorageError)
    /// The file of the database was moved, removed or replaced; the ledger treats nothing as on disk.
    case databaseGone
    /// The service is stopping.
    case stopped
    /// The payload to sign could not be built; a bug in the service.
    case unbuildable(PayloadError)
    /// The audit log differs from what was written; nothing is added to it.
    case log(LogFault)
    /// The keys were made under a secret that another has replaced, so no later lookup would find the record.
    case outdatedSecret
}

/// Evaluates a database expression and turns its errors into ledger errors: `try database(table.all())`.
package func database<Value>(_ body: @autoclosure () throws(StorageError) -> Value) throws(LedgerError) -> Value {
    do { return try body() } catch { throw .database(error) }
}

extension LedgerError {
    /// Why the log could not be continued.
    package init(_ error: AuditReadError) {
        switch error {
        case .database(let error): self = .database(error)
        case .damaged(let index): self = .log(.entryDamaged(index: index))
        case .log(let fault): self = .log(fault)
        case .noSuchTree(let size): self = .log(.notContinued(size: size))
        }
    }

    /// Whether a new connection must be opened; after the errors listed first, the connection is known to be unchanged.
    var needsNewConnection: Bool {
        switch self {
        case .database(.diskFull), .database(.readOnly), .database(.busy), .database(.constraint), .overloaded,
            .database(.unexpectedValue), .stopped, .unbuildable, .log, .outdatedSecret:
            false
        case .database, .databaseGone: true
        }
    }

    /// Whether the error comes from what one request reads or wants signed, and not from the database.
    package var isOfOneRequest: Bool {
        switch self {
        case .database(.unexpectedValue), .database(.constraint), .unbuildable, .outdatedSecret: true
        case .database, .databaseGone, .overloaded, .stopped, .log: false
        }
    }
}

extension LedgerError: CustomStringConvertible {
    /// A sentence for the log, and for the person who ran a command.
    package var description: String {
        switch self {
        case .overloaded: "More requests wait for the ledger than it holds."
        case .database(let error): error.description
        case .databaseGone:
            "The database is not where it was opened: put the file back, or start the service again."
        case .stopped: "The ledger is closed, because the service is stopping."
        case .unbuildable(let error): error.description
        case .log(let fault): fault.description
        case .outdatedSecret:
            "Customers are kept under a newer secret than the one that was read here: nothing was kept; try again."
        }
    }

    /// One word for metrics.
    package var label: String {
        switch self {
        case .overloaded: "overloaded"
        case .database(.diskFull): "disk-full"
        case .database(.readOnly): "read-only"
        case .database(.busy): "busy"
        case .database(.ioFailure): "io-failure"
        case .database: "database"
        case .databaseGone: "database-gone"
        case .stopped: "stopped"
        case .unbuildable: "unbuildable"
        case .log: "log-damaged"
        case .outdatedSecret: "outdated-secret"
        }
    }
}
