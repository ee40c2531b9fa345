// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain

/// A sign-in that a browser has begun and not finished; the browser alone keeps it, in a cookie.
///
/// Everything that the sign-in needs is made of the cookie's text and a secret that all instances have, so any of them can
/// finish it and a stranger who begins sign-ins takes no memory.
///
/// Sources: OpenID Connect Core 1.0 section 3.1.2.1, RFC 7636 section 4.1, RFC 9700 section 4.7.
struct PendingSignIn: Sendable {
    /// The provider's entry in the keys file.
    let provider: String
    let expiresAt: Timestamp
    /// 16 random bytes, different for each sign-in.
    let id: [UInt8]
    private let pseudonyms: Pseudonyms

    static let lifetimeSeconds: Int64 = 600
    private static let idBytes = 16

    /// A new one.
    init(at provider: IdentityProvider, under pseudonyms: Pseudonyms, at now: Timestamp, _ random: some RandomSource) {
        self.provider = provider.name
        self.pseudonyms = pseudonyms
        expiresAt = Timestamp(milliseconds: now.adding(seconds: Int(Self.lifetimeSeconds)).seconds * 1000)
        id = random.bytes(Self.idBytes)
    }

    /// The one that a cookie holds; nothing in it counts before ``isStarted(by:)``.
    init?(_ cookie: ArraySlice<UInt8>, under pseudonyms: Pseudonyms) {
        let parts = cookie.split(separator: UInt8(ascii: "~"), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].count <= 64, let seconds = Int64(String(decoding: parts[1], as: UTF8.self)),
            (0...Self.lastSecond).contains(seconds), let id = Base64.decodeURL(Array(parts[2])),
            id.count == Self.idBytes
        else { return nil }
        provider = String(decoding: parts[0], as: UTF8.self)
        expiresAt = Timestamp(milliseconds: seconds * 1000)
        self.id = id
        self.pseudonyms = pseudonyms
        guard self.cookie.utf8.elementsEqual(cookie) else { return nil }
    }

    /// The cookie's value.
    var cookie: String { "\(provider)~\(expiresAt.seconds)~\(String(decoding: Base64.encodeURL(id), as: UTF8.self))" }

    /// What the provider sends back: only a browser that this service gave the cookie has the two together.
    var state: String { text("state") }

    /// What the ID token repeats, so that it is of this sign-in.
    var nonce: String { text("nonce") }

    /// What the token endpoint is shown, so that a code that was caught on its way is worth nothing.
    var codeVerifier: String { text("verifier") }

    /// What the provider is told first of ``codeVerifier``: its SHA-256 (`S256`).
    var codeChallenge: String {
        String(decoding: Base64.encodeURL(SHA256.digest(of: Array(codeVerifier.utf8)).bytes), as: UTF8.self)
    }

    /// Whether the browser that was given the cookie began the sign-in that the provider now finishes.
    func isStarted(by state: String) -> Bool {
        constantTimeEqual(Array(self.state.utf8), Array(state.utf8))
    }

    private func text(_ use: String) -> String {
        let code = pseudonyms.code(.consoleSignIn, Array("\(use)~\(cookie)".utf8))
        return String(decoding: Base64.encodeURL(code), as: UTF8.self)
    }

    private static let lastSecond: Int64 = 253_402_300_799
}
