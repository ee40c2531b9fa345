// SPDX-License-Identifier: Apache-2.0

extension AuditEntry {
    /// Who used a switch: a caller by its name, the others by what they are.
    static func details(of requester: Requester) -> [Member] {
        [("by", .text(requester.kind))] + (requester.callerID.map { [("caller", .text($0.text))] } ?? [])
    }
}
