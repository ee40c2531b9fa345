// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Ledger

/// One query of the audit log: who asked, and for what.
package struct AuditQueryUse: Sendable {
    /// Records a query before its answer is sent.
    package typealias Note = @Sendable (AuditQueryUse) async -> Void

    /// Who asked.
    package let caller: CallerID
    /// The call by which it was asked.
    package let call: AuditCall
    /// What was asked for.
    package let query: AuditQuery
    /// How many entries the answer has.
    package let count: Int
}

extension ReadRecorder {
    /// Records a query before its answer is sent.
    package func note(_ reading: AuditQueryUse) async {
        let conditions = reading.query.conditions
        await note(caller: reading.caller, call: reading.call, conditions: conditions, count: reading.count)
    }
}
