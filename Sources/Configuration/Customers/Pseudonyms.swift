// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import OfferDomain

/// Turns customer ids into pseudonyms; only a holder of the secrets can turn one back, or try ids out.
///
/// A class, because each request gets it several times and it never changes.
package final class Pseudonyms: Sendable {
    /// The newest first: new data is kept under it; data that was kept under the others is still found.
    package let versions: [SecretVersion]
    private let newest: SecretVersion
    private let earlier: [SecretVersion]
    /// Earlier versions that are listed but whose files are gone, as they are after they were destroyed.
    package let gone: [String]

    /// `earlier` and `gone` are of secret versions before the newest, the latest first.
    package init(_ newest: SecretVersion, earlier: [SecretVersion] = [], gone: [String] = []) {
        self.newest = newest
        self.earlier = earlier
        self.gone = gone
        versions = [newest] + earlier
    }

    /// The name of the secret version in force; records carry it, so that a later secret is not mistaken for it.
    package var secretVersion: String { newest.name }

    /// Whether anything may be kept under an earlier version of the secret.
    package var hasEarlierVersions: Bool { !earlier.isEmpty }

    /// A copy without versions that were destroyed while they were loaded; the version in force always stays.
    package func without(_ destroyed: Set<String>) -> Pseudonyms {
        guard earlier.contains(where: { destroyed.contains($0.name) }) else { return self }
        return Pseudonyms(newest, earlier: earlier.filter { !destroyed.contains($0.name) }, gone: gone)
    }

    /// The pseudonym of a customer within one app.
    package func pseudonym(of identity: CustomerIdentity, in app: AppName) -> Pseudonym {
        let message = message(identity, app)
        var pseudonym = newest.pseudonym(of: message)
        if !earlier.isEmpty { pseudonym.earlier = earlier.map { $0.pseudonym(of: message) } }
        return pseudonym
    }

    private func message(_ identity: CustomerIdentity, _ app: AppName) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(96)
        message.append(contentsOf: app.text.utf8)
        message.append(0)
        identity.appendCapBytes(to: &message)
        return message
    }

    /// What else the secret makes, beside pseudonyms of customers; no value can pass for one of another use, since each
    /// use has a first byte of its own, which no kind of customer identity has.
    package enum Use: UInt8, CaseIterable, Sendable {
        /// Ties a sign-in to the console to the browser that began it; in no app.
        case consoleSignIn = 0x69
        /// Represents a person who signs in to the console; in no app.
        case consoleUser = 0x75
        /// Proves that the service made a challenge.
        case appAttestChallenge = 0x68
        /// Represents a purchase token.
        case purchase = 0x67
        /// Proves that the service made a grant's mark.
        case grantMark = 0x6D
        /// Represents a customer in a purchase at Google Play.
        case accountID = 0x6F
    }

    /// The 32 bytes that stand for, or prove, a message within one app.
    package func code(_ use: Use, _ message: [UInt8], in app: AppName) -> [UInt8] {
        newest.code(use, message, in: app)
    }

    /// The same as ``code(_:_:in:)``, where the first 18 bytes are a key of the ledger.
    package func taggedCode(_ use: Use, _ message: [UInt8], in app: AppName) -> [UInt8] {
        newest.taggedCode(use, message, in: app)
    }

    /// The same under the earlier versions of the secret, the latest first.
    package func earlierTaggedCodes(_ use: Use, _ message: [UInt8], in app: AppName) -> [[UInt8]] {
        earlier.map { $0.taggedCode(use, message, in: app) }
    }

    /// The 32 bytes that stand for, or prove, a message that is of no app.
    package func code(_ use: Use, _ message: [UInt8]) -> [UInt8] { newest.code(use, message) }

    /// The same under the earlier versions of the secret, the latest first.
    package func earlierCodes(_ use: Use, _ message: [UInt8], in app: AppName) -> [[UInt8]] {
        earlier.map { $0.code(use, message, in: app) }
    }
}
