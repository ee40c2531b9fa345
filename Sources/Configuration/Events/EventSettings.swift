// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import HTTP
package import OfferDomain

/// What the events file holds: the receivers of events, with every secret that it names loaded.
package struct EventSettings: Sendable {
    /// In the order of the file.
    package let endpoints: [EventEndpoint]
    /// Receivers of the log's entries themselves.
    package let streams: [LogStream]
    /// Networks that are not public and may be connected to all the same.
    package let privateNetworks: [AddressNetwork]
    /// PEM: the only certificates that receivers may have; `nil` trusts the system's.
    package let trustedCertificatesPath: String?
    /// Over the bytes of the file.
    package let digest: SHA256Digest

    /// Differs once the file or a secret that it names has changed; discloses none of them.
    package let fingerprint: [UInt8]

    init(
        endpoints: [EventEndpoint],
        streams: [LogStream] = [],
        privateNetworks: [AddressNetwork],
        trustedCertificatesPath: String?,
        digest: SHA256Digest
    ) {
        (self.endpoints, self.streams) = (endpoints, streams)
        self.privateNetworks = privateNetworks
        self.trustedCertificatesPath = trustedCertificatesPath
        self.digest = digest
        fingerprint = endpoints.reduce(into: digest.bytes) { bytes, endpoint in
            for secret in endpoint.secrets { bytes += secret.authenticationCode(for: digest.bytes) }
            for key in endpoint.signingKeys { bytes += key.publicKey.bytes }
            if case .notifications(_, let token?) = endpoint.source {
                bytes += SHA256.digest(of: Array(token.text.utf8)).bytes
            }
        }
    }

    /// The names of all receivers.
    package var receiverIDs: [String] { endpoints.map(\.id) + streams.map(\.id) }

    /// The stores whose notifications are relayed.
    package var relayedStores: Set<Store> {
        Set(
            endpoints.compactMap { endpoint in
                if case .notifications(let store, _) = endpoint.source { store } else { nil }
            }
        )
    }
}

/// One receiver.
package struct EventEndpoint: Sendable {
    /// Names it in the database, in metrics and in commands.
    package let id: String
    /// Where messages are posted; it may be secret, so only a part of it is shown.
    package let url: String
    /// Which messages it gets, and in which form.
    package let source: Source
    /// HMAC secrets; each of them signs every message.
    package let secrets: [HMACKey]
    /// Ed25519 keys; each of them signs every message.
    package let signingKeys: [Ed25519PrivateKey]
    /// The apps whose events the receiver gets; empty for all apps and the service itself.
    package let apps: Set<AppName>

    /// What it is sent.
    package enum Source: Hashable, Sendable {
        case events(types: Set<EventType>, WebhookFormat)
        /// A store's notifications, byte for byte.
        case notifications(Store, token: RelayToken?)
    }

    /// The URL without path and query, which often are secret.
    package var shownURL: String {
        let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let authority = parts.last?.prefix { !"/?#".contains($0) } ?? ""
        return "\(parts.first ?? "")//\(authority.split(separator: "@").last ?? "")/…"
    }

    /// Whether it is sent notifications of a store.
    package var isRelay: Bool {
        if case .notifications = source { true } else { false }
    }

    /// The public halves of its Ed25519 keys, as Standard Webhooks writes them.
    package var publicKeys: [String] {
        signingKeys.map { "whpk_" + String(decoding: Base64.encode($0.publicKey.bytes), as: UTF8.self) }
    }
}

/// What a relayed notification carries so that its receiver knows who sent it: `Authorization: Bearer …`.
///
/// Held as bytes of ordinary memory: it is sent in the clear of TLS, and is a password and no key.
package struct RelayToken: Hashable, Sendable {
    package let text: String

    /// 16 to 512 visible characters without spaces.
    init?(_ text: String) {
        guard (16...512).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        self.text = text
    }
}

/// How an event is written for a receiver.
package enum WebhookFormat: String, CaseIterable, Hashable, Sendable {
    /// Standard Webhooks 1.0.0.
    case standard
    /// CloudEvents 1.0, in structured content mode.
    case cloudevents
    /// The names and members of Purchasely's webhook, version 3.
    case purchasely

    /// The media type of its bodies.
    package var contentType: String { self == .cloudevents ? "application/cloudevents+json" : "application/json" }
}
