// SPDX-License-Identifier: Apache-2.0
import Storage
package import TransparencyLog

/// What is signed of the log, and kept beside it.
package enum LogSignature: Sendable {
    /// The log's own.
    case checkpoint(SignedCheckpoint)
    /// A witness's, of that checkpoint.
    case cosignature(VerifiedSignature, SignedCheckpoint)
}

extension LedgerWriter {
    /// Stores the signature, unless there is another checkpoint that must not be replaced.
    func keep(_ signature: LogSignature) throws(LedgerError) -> CheckpointTable.Keeping {
        let table = CheckpointTable(connection: connection)
        switch signature {
        case .checkpoint(let signed): return try database(table.keep(signed))
        case .cosignature(let cosignature, let signed):
            try database(table.keep(cosignature, of: signed))
            return .kept
        }
    }
}
