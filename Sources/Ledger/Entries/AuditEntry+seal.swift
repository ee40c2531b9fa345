// SPDX-License-Identifier: Apache-2.0
import Configuration

extension AuditEntry {
    /// Who acted (a caller by name, others by kind), and whether other instances must still acknowledge it.
    static func details(of requester: Requester, isAwaited: Bool = false) -> [Member] {
        [("by", .text(requester.kind))] + (requester.callerID.map { [("caller", .text($0.text))] } ?? [])
            + (isAwaited ? [("awaited", .boolean(true))] : [])
    }

    static func details(of seal: ActiveSeal, isAwaited: Bool) -> [Member] {
        [("cause", .text(seal.cause.rawValue)), ("reason", .text(seal.detail))]
            + details(of: seal.requester, isAwaited: isAwaited)
    }
}
