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
}
