// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OfferDomain

/// A key that signs; see ``SigningKey`` for what the configuration says of it.
///
/// A class, because each request passes it on several times.
package final class ActiveKey: Sendable {
    /// See ``SigningKey/id``.
    package let id: KeyID
    /// See ``SigningKey/issuerID``.
    package let issuerID: UniqueID
    /// Makes the signatures; whoever signs asks first whether the key was disabled since.
    package let privateKey: PrivateKey
    /// See ``SigningKey/publicKeyDigest``.
    package let publicKeyDigest: String

    /// `nil` if the key is not to sign now.
    package init?(_ key: SigningKey) {
        guard key.status == .active, let privateKey = key.privateKey, let digest = key.publicKeyDigest
        else { return nil }
        (id, issuerID, self.privateKey, publicKeyDigest) = (key.id, key.issuerID, privateKey, digest)
    }
}
