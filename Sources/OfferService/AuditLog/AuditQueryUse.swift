// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Ledger

/// Somebody asked the audit log, and how.
package struct AuditQueryUse: Sendable {
    /// Is told of each reading before its answer leaves.
    package typealias Note = @Sendable (AuditQueryUse) async -> Void

    /// Who asked.
    package let caller: CallerID
    /// The call by which it was asked.
    package let route: Route
    /// What was asked for.
    package let query: AuditQuery
    /// How many entries the answer has.
    package let count: Int
}

extension ReadRecorder {
    /// Records a reading before its answer leaves.
    package func note(_ reading: AuditQueryUse) async {
        guard let call = AuditCall(rawValue: reading.route.rawValue) else { return }
        await note(caller: reading.caller, call: call, conditions: reading.query.conditions, count: reading.count)
    }
}
