// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Ledger
import ServiceRuntime

/// All that a request is decided by, of one piece: a reload swaps the whole of it.
package final class Snapshot: Sendable {
    /// The offers, with their rules.
    package let catalog: Catalog
    /// With what administrators disabled already taken out.
    package let keyRing: KeyRing
    /// The secrets that pseudonyms are made with.
    package let pseudonyms: Pseudonyms
    /// Who may call.
    package let callers: CallerDirectory
    /// The identity providers whose users' tokens are accepted.
    package let identity: IdentityProviders
    /// The stores whose notifications are relayed.
    package let relayedStores: Set<Store>

    package init(
        catalog: Catalog,
        keyRing: KeyRing,
        pseudonyms: Pseudonyms,
        callers: CallerDirectory,
        identity: IdentityProviders = IdentityProviders()
    ) {
        self.catalog = catalog
        self.keyRing = keyRing
        self.pseudonyms = pseudonyms
        self.callers = callers
        self.identity = identity
        relayedStores = []
    }

    /// What reports of the stores and of backends are filed under and compared with.
    package var evidence: EvidenceContext {
        EvidenceContext(catalog: catalog, pseudonyms: pseudonyms, relayedStores: relayedStores)
    }

    /// Whether clients of TLS connections are asked for a certificate.
    var asksForCertificates: Bool { callers.hasCertificates || identity.asksForCertificates }

    /// The same for one request, which brings a session.
    init(_ other: Snapshot, presenting session: PresentedSession) {
        var callers = other.callers
        callers.session = session
        self.callers = callers
        catalog = other.catalog
        keyRing = other.keyRing
        pseudonyms = other.pseudonyms
        identity = other.identity
        relayedStores = other.relayedStores
    }

    /// The same, with notifications relayed.
    package init(_ other: Snapshot, relaying stores: Set<Store>) {
        catalog = other.catalog
        keyRing = other.keyRing
        pseudonyms = other.pseudonyms
        callers = other.callers
        identity = other.identity
        relayedStores = stores
    }
}

/// The snapshot in force.
package final class CurrentSnapshot: Sendable {
    private let snapshot: Guarded<Snapshot>

    /// Begins with what the service starts with.
    package init(_ first: Snapshot) {
        snapshot = Guarded(first)
    }

    /// The current snapshot; a request keeps the snapshot that it began with.
    package var value: Snapshot { snapshot.withLock { $0 } }

    /// Brings another snapshot into force.
    package func swap(_ next: Snapshot) {
        // The old one is freed outside of the lock: freeing keys wipes memory.
        let old = snapshot.withLock { current in
            defer { current = next }
            return current
        }
        withExtendedLifetime(old) {}
    }
}
