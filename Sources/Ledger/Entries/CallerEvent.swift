// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// An ``AuditEvent`` of a caller's API keys or sessions.
package enum CallerEvent: Sendable {
    /// A caller was added, with its first API key.
    case created(CallerID, role: CallerRole, keyID: String)
    /// A caller got another API key.
    case keyAdded(CallerID, keyID: String)
    /// An API key may no longer be used; `nil` means all of the caller.
    case revoked(CallerID, keyID: String?)
    /// A person signed in to the console by an identity provider.
    case sessionBegun(CallerID, role: CallerRole, expiresAt: Timestamp)
    /// A person signed out of the console, or a command ended `count` sessions of the person.
    case sessionEnded(CallerID, count: Int? = nil)

    /// What the entry's `ev` member says.
    var name: AuditEventName {
        switch self {
        case .created: .callerCreate
        case .keyAdded: .callerKey
        case .revoked: .callerRevoke
        case .sessionBegun: .sessionBegin
        case .sessionEnded: .sessionEnd
        }
    }

    /// The entry's other members.
    var details: [AuditEntry.Member] {
        switch self {
        case .created(let caller, let role, let keyID):
            [("caller", .text(caller.text)), ("role", .text(role.rawValue)), ("ck", .text(keyID))]
        case .keyAdded(let caller, let keyID): [("caller", .text(caller.text)), ("ck", .text(keyID))]
        case .revoked(let caller, let keyID):
            [("caller", .text(caller.text))] + (keyID.map { [("ck", .text($0))] } ?? [])
        case .sessionBegun(let caller, let role, let expiresAt):
            [("caller", .text(caller.text)), ("role", .text(role.rawValue)), ("exp", .integer(expiresAt.seconds))]
        case .sessionEnded(let caller, let count):
            [("caller", .text(caller.text))]
                + (count.map { [("by", .text("command")), ("count", .integer(Int64($0)))] } ?? [])
        }
    }
}
