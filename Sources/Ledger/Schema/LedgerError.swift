// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
package import Storage
package import TransparencyLog

/// Why the ledger recorded nothing; nothing may be signed then.
package enum LedgerError: Error, Hashable, Sendable {
    /// More requests wait than the ledger will hold.
    case overloaded
    /// The database refused; nothing of the batch is on disk.
    case database(StorageError)
    /// The file of the database was moved, removed or replaced; nothing is believed to be on disk.
    case databaseGone
    /// The service is stopping.
    case stopped
    /// What should have been signed could not be built; a mistake of ours.
    case unbuildable(PayloadError)
    /// The audit log is not as it was written; nothing is added to it.
    case log(LogFault)
    /// It was made into keys under a secret that another took over from, so it would be kept where nobody looks for it.
    case outdatedSecret
}

/// The value of an expression about the database, whose errors become the ledger's: `try database(table.all())`.
package func database<Value>(_ body: @autoclosure () throws(StorageError) -> Value) throws(LedgerError) -> Value {
    do { return try body() } catch { throw .database(error) }
}

extension LedgerError {
    /// Why the log could not be gone on with.
    package init(_ error: AuditReadError) {
        switch error {
        case .database(let error): self = .database(error)
        case .damaged(let index): self = .log(.entryDamaged(index: index))
        case .log(let fault): self = .log(fault)
        case .noSuchTree(let size): self = .log(.notContinued(size: size))
        }
    }
}
