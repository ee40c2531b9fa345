// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain

/// What an app has its key sign beside a request, so that what it sends was made just now, and for this service.
///
/// Nothing is kept of a challenge: it carries its end and a code that only this service and its other instances can make. An
/// attestation uses it up, because the key's row names it; each assertion counts once by its counter.
struct AppAttestChallenge: Sendable {
    /// 51 characters of base64url.
    let text: String
    let expiresAt: Timestamp
    /// 16 random bytes, different in each challenge.
    let nonce: [UInt8]

    static let lifetimeMilliseconds: Int64 = 300_000
    /// Between the clocks of instances.
    private static let clockSkewMilliseconds: Int64 = 60_000
    private static let timeBytes = 6
    private static let nonceBytes = 16
    private static let codeBytes = 16

    /// A new one for an app.
    init(for app: AppName, under pseudonyms: Pseudonyms, at now: Timestamp, _ random: some RandomSource) {
        expiresAt = Timestamp(milliseconds: now.milliseconds + Self.lifetimeMilliseconds)
        nonce = random.bytes(Self.nonceBytes)
        let contents = Self.bytes(expiresAt) + nonce
        let code = pseudonyms.code(.appAttestChallenge, contents, in: app).prefix(Self.codeBytes)
        text = String(decoding: Base64.encodeURL(contents + code), as: UTF8.self)
    }

    /// Reads a challenge that an app sends back; `nil` unless it was made for this app and has not expired.
    init?(_ text: some Collection<UInt8>, for app: AppName, under pseudonyms: Pseudonyms, at now: Timestamp) {
        guard let bytes = Base64.decodeURL(Array(text)),
            bytes.count == Self.timeBytes + Self.nonceBytes + Self.codeBytes
        else { return nil }
        let (contents, code) = (Array(bytes.dropLast(Self.codeBytes)), Array(bytes.suffix(Self.codeBytes)))
        // Challenges made just before a secret rotation are accepted too.
        let codes =
            [pseudonyms.code(.appAttestChallenge, contents, in: app)]
            + pseudonyms.earlierCodes(.appAttestChallenge, contents, in: app)
        guard codes.contains(where: { constantTimeEqual(Array($0.prefix(Self.codeBytes)), code) }) else { return nil }
        expiresAt = Timestamp(milliseconds: contents.prefix(Self.timeBytes).reduce(0) { $0 << 8 | Int64($1) })
        let mostLeft = Self.lifetimeMilliseconds + Self.clockSkewMilliseconds
        guard now < expiresAt, expiresAt.milliseconds - now.milliseconds <= mostLeft else { return nil }
        nonce = Array(contents.dropFirst(Self.timeBytes))
        self.text = String(decoding: Array(text), as: UTF8.self)
    }

    /// What an app hands to `attestKey`: the digest of the challenge's text.
    var attestedDigest: SHA256Digest { SHA256.digest(of: Array(text.utf8)) }

    private static func bytes(_ instant: Timestamp) -> [UInt8] {
        [40, 32, 24, 16, 8, 0].map { UInt8(truncatingIfNeeded: instant.milliseconds >> $0) }
    }
}
