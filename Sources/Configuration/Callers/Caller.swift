// SPDX-License-Identifier: Apache-2.0
package import HTTP
package import OfferDomain
package import ServiceRuntime

/// What a caller may do.
package enum CallerRole: String, CaseIterable, Hashable, Sendable {
    /// An app on a customer's device: may ask for a signature, but not state facts, attributes or a customer id.
    case app
    /// The team's own server: may also say who the customer is and what is known of them.
    case backend
    /// Reads the log.
    case auditor
    /// Reads the log, disables and enables keys, and seals and unseals the service.
    case admin

    /// Whether this role may ask for decisions and signatures.
    package var mayAskForSignatures: Bool { self == .app || self == .backend }
    /// Whether this role may read the log, the key ring and the seal.
    package var mayReadRecords: Bool { self == .auditor || self == .admin }
    /// Whether this role may disable and enable keys, and seal and unseal the service.
    package var mayAct: Bool { self == .admin }
    /// Whether what this role says of a customer is believed.
    package var mayAssertFacts: Bool { self == .backend }
}

/// The name of a caller, chosen by the operator: 1 to 64 of `a-z 0-9 . _ -`.
package struct CallerID: Hashable, Sendable, CustomStringConvertible {
    /// The name as the operator wrote it.
    package let text: String

    /// Takes a name that has the form above; `nil` otherwise.
    package init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    private init(own text: StaticString) {
        self.text = "\(text)"
    }

    /// The users of an identity provider of that name; no caller with an API key can be called so.
    package init(usersOf provider: String) {
        text = "users:\(provider)"
    }

    /// A person in a session of the console, by a sign-in at an identity provider of that name.
    init(person pseudonym: String, of provider: String) {
        text = "console:\(provider):\(pseudonym)"
    }

    /// A person's name as the table of sessions and the audit log have it; `nil` for any other name.
    package init?(ofSession text: String) {
        guard text.hasPrefix("console:") else { return nil }
        self.text = text
    }

    /// The service itself, for what it does on its own account.
    package static let service = CallerID(own: "service")
    /// The App Store as the sender of real-time requests; no caller with an API key can have this name.
    package static let retention = CallerID(own: "app-store:retention")

    /// The name itself.
    package var description: String { text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

/// A client that may call the service.
package struct Caller: Hashable, Sendable {
    /// The caller's name, which entries of the audit log have.
    package let id: CallerID
    /// What the caller may do.
    package let role: CallerRole
    /// The apps it may ask for, as the ledger names them; empty for all.
    package let apps: Set<AppName>
    /// How often it may ask; `nil` is as the settings have it for its role.
    package let rate: RateLimit?
    /// The address that an app's request comes from; `nil` for every other caller, and while there is no request.
    package var origin: PeerAddress.Address?
    /// Who the app's user is, where a token of an identity provider proves it.
    package var user: ProvenUser?

    package init(id: CallerID, role: CallerRole, apps: Set<AppName>, rate: RateLimit? = nil) {
        self.id = id
        self.role = role
        self.apps = apps
        self.rate = rate
    }

    /// Whether the caller's scope has the app; an empty scope has all.
    package func mayAsk(for app: AppName) -> Bool {
        apps.isEmpty || apps.contains(app)
    }
}
