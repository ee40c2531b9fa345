// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain

/// A sign-in that a browser has begun and not finished; only the browser keeps it, in a cookie.
///
/// The service derives everything else from the cookie's text and a secret that all instances share. So any instance
/// can finish a sign-in, and unauthenticated callers who begin sign-ins use no memory.
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

    /// Reads a sign-in from a cookie; its contents must not be trusted before ``isStarted(by:)``.
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

    /// The value that the ID token repeats, which ties the token to this sign-in.
    var nonce: String { text("nonce") }

    /// What the service sends to the token endpoint, so that an intercepted code is useless.
    var codeVerifier: String { text("verifier") }

    /// The SHA-256 of ``codeVerifier`` (`S256`), which the provider gets first.
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
