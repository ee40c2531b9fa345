// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
package import OfferDomain

/// One stored API key of a caller.
package struct StoredCallerKey: Hashable, Sendable {
    /// The public part of the key, `ID` of `ID.SECRET`.
    package let id: String
    /// SHA-256 of the secret: the secret itself is not stored.
    package let secretDigest: [UInt8]
    /// When the key was made.
    package let createdAt: Timestamp
    /// From when on it is refused; `nil` if it does not expire.
    package let expiresAt: Timestamp?
    /// When it was revoked; `nil` while it is not.
    package let revokedAt: Timestamp?

    package init(
        id: String,
        secretDigest: [UInt8],
        createdAt: Timestamp,
        expiresAt: Timestamp?,
        revokedAt: Timestamp?
    ) {
        self.id = id
        self.secretDigest = secretDigest
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
    }

    /// Whether the key is neither revoked nor expired at that time.
    package func isLive(at now: Timestamp) -> Bool {
        revokedAt == nil && expiresAt.map { now < $0 } ?? true
    }
}

/// All callers and their keys; an immutable snapshot.
package struct CallerDirectory: Sendable {
    /// A key and the caller that it belongs to.
    private final class Owner: Sendable {
        let caller: Caller
        let key: StoredCallerKey
        let secretDigest: SHA256Digest

        init?(_ caller: Caller, _ key: StoredCallerKey) {
            guard let digest = SHA256Digest(bytes: key.secretDigest) else { return nil }
            self.caller = caller
            self.key = key
            secretDigest = digest
        }
    }

    /// By the key's id.
    private let owners: [String: Owner]

    /// How certificates of clients reach the service.
    let certificates: ClientCertificates
    /// Whether a caller has a certificate, so that TLS connections are asked for one.
    package let hasCertificates: Bool

    /// The session that the current request brings; `nil` if it brings none, and outside of requests.
    var session: PresentedSession?

    /// Callers without a key are left out, because none can call.
    package init(
        _ callers: [(caller: Caller, keys: [StoredCallerKey])],
        certificates: ClientCertificates = ClientCertificates()
    ) {
        var owners: [String: Owner] = [:]
        for (caller, keys) in callers {
            for key in keys { owners[key.id] = Owner(caller, key) }
        }
        self.owners = owners
        self.certificates = certificates
        hasCertificates = owners.keys.contains { $0.hasPrefix(CertificateKey.prefix) }
    }

    /// Whether there is no API key, so that every call is refused.
    package var isEmpty: Bool { owners.isEmpty }

    /// The names of all callers, in their order.
    package var ids: [String] { Set(owners.values.map(\.caller.id.text)).sorted() }

    /// When the last live key of each caller expires; callers with a live key that does not expire are left out.
    func lastExpiries(at now: Timestamp) -> [CallerID: Timestamp] {
        let live = owners.values.filter { $0.key.isLive(at: now) }
        return Dictionary(grouping: live, by: \.caller.id).compactMapValues { owners in
            let expiries = owners.compactMap(\.key.expiresAt)
            return expiries.count == owners.count ? expiries.max() : nil
        }
    }

    /// The caller that presents this credential, or `nil`.
    ///
    /// Compared in constant time, and an unknown id costs as much as a known one, so that time tells nothing.
    package func caller(presenting key: some CallerCredential, at now: Timestamp) -> Caller? {
        let found = owners[key.id]
        let isRight = key.secretDigest.equalsInConstantTime(found?.secretDigest ?? .zero)
        guard let found, isRight, found.key.isLive(at: now) else { return nil }
        return found.caller
    }
}
