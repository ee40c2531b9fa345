// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OfferDomain

/// What a key may be used for, named as Apple names the audience of what it signs.
package enum KeyPurpose: String, CaseIterable, Hashable, Sendable {
    case promotionalOffer = "promotional-offer"
    case introductoryOfferEligibility = "introductory-offer-eligibility"
    case advancedCommerce = "advanced-commerce-api"
    /// Asking the App Store Server API; the audience of its tokens is another, but this is what the API is called.
    case appStoreServerAPI = "app-store-server-api"
}

/// Where a key is in its life.
package enum KeyStatus: String, CaseIterable, Hashable, Sendable {
    /// Signs.
    case active
    /// Loaded and checked but signs nothing new; what it signed stays good for 24 hours, so it must not be
    /// revoked in App Store Connect before then.
    case retiring
    /// Not used for anything; its file is not read.
    case disabled
}

/// What a key may sign, and for which apps.
package struct KeyScope: Sendable {
    /// The apps that it signs for.
    package let bundleIDs: [BundleID]
    /// What it may sign.
    package let purposes: Set<KeyPurpose>

    /// Every one of the apps with every one of the purposes.
    package init(bundleIDs: [BundleID], purposes: Set<KeyPurpose>) {
        self.bundleIDs = bundleIDs
        self.purposes = purposes
    }
}

/// A private key as far as it is loaded, with what the file pins it to.
package struct PinnedKey: Sendable {
    /// `nil` if it is not to be used, or could not be loaded.
    package let privateKey: PrivateKey?
    /// The digest that the file demands of the public key; `nil` admits every key.
    package let pin: SHA256Digest?

    /// Takes a key that was checked against the pin.
    package init(_ privateKey: PrivateKey? = nil, pin: SHA256Digest? = nil) {
        self.privateKey = privateKey
        self.pin = pin
    }
}

/// One in-app purchase key with all that the configuration says of it.
package final class SigningKey: Sendable {
    /// The key's ID in App Store Connect: `kid` of what it signs.
    package let id: KeyID
    /// The team's issuer ID: `iss` of what it signs.
    package let issuerID: UniqueID
    /// The apps that it signs for.
    package let bundleIDs: [BundleID]
    /// What it may sign.
    package let purposes: Set<KeyPurpose>
    /// What is done with the key; `disabled` also where an administrator disabled it.
    package let status: KeyStatus
    /// `nil` for a disabled key, whether the file or an administrator says so.
    package let privateKey: PrivateKey?
    /// SHA-256 over the SubjectPublicKeyInfo as 64 hex digits; records name the key by it.
    ///
    /// `nil` of a key that the file disables, which is not read.
    package let publicKeyDigest: String?
    /// The same, or what the file pins the key to; of a key that the file disables, its pin alone.
    package let pin: SHA256Digest?

    /// Without a private key, the key is disabled whatever `status` says.
    package init(id: KeyID, issuerID: UniqueID, scope: KeyScope, status: KeyStatus, key: PinnedKey) {
        self.id = id
        self.issuerID = issuerID
        bundleIDs = scope.bundleIDs
        purposes = scope.purposes
        privateKey = key.privateKey
        self.status = privateKey == nil ? .disabled : status
        publicKeyDigest = privateKey?.publicKey.spkiSHA256.hex
        pin = privateKey?.publicKey.spkiSHA256 ?? key.pin
    }

    private init(_ key: SigningKey, status: KeyStatus) {
        id = key.id
        issuerID = key.issuerID
        bundleIDs = key.bundleIDs
        purposes = key.purposes
        privateKey = status == .disabled ? nil : key.privateKey
        self.status = privateKey == nil ? .disabled : status
        publicKeyDigest = key.publicKeyDigest
        pin = key.pin
    }

    /// The same key in another state; a disabled one lets go of its private key.
    package func with(status: KeyStatus) -> SigningKey {
        SigningKey(self, status: status)
    }
}

/// The keys of all apps; an immutable snapshot, swapped whole on a reload.
package struct KeyRing: Sendable {
    private let active: [KeyNeed: ActiveKey]
    /// In the order of the file, disabled ones too.
    package let keys: [SigningKey]
    /// In the order of the file.
    package let serviceAccounts: [GoogleServiceAccount]
    private let accounts: [PackageName: GoogleServiceAccount]

    /// Expects at most one active key for an app and a purpose, as the keys file is refused otherwise.
    package init(keys: [SigningKey], serviceAccounts: [GoogleServiceAccount] = []) {
        self.keys = keys
        self.serviceAccounts = serviceAccounts
        let owned = serviceAccounts.flatMap { account in account.packageNames.map { ($0, account) } }
        accounts = Dictionary(owned) { first, _ in first }
        var active: [KeyNeed: ActiveKey] = [:]
        for key in keys {
            guard let activeKey = ActiveKey(key) else { continue }
            for bundleID in key.bundleIDs {
                for purpose in key.purposes { active[KeyNeed(bundleID: bundleID, purpose: purpose)] = activeKey }
            }
        }
        self.active = active
    }

    /// The one key that signs for that app and purpose.
    package func activeKey(for bundleID: BundleID, purpose: KeyPurpose) -> ActiveKey? {
        active[KeyNeed(bundleID: bundleID, purpose: purpose)]
    }

    /// Which key can't sign so that its own signature verifies; `nil` if all can.
    package var selfTestFailure: String? {
        for key in keys {
            do throws(PrivateKeyError) { try key.privateKey?.testSignature() } catch {
                return "the self-test of key \(key.id.text) failed: \(error)"
            }
        }
        return nil
    }

    /// The account that asks Google Play about that app.
    package func serviceAccount(for packageName: PackageName) -> GoogleServiceAccount? {
        accounts[packageName]
    }

    /// The same ring with some keys disabled by an administrator, whatever the file says.
    package func disabling(_ disabled: Set<KeyID>) -> KeyRing {
        guard !disabled.isEmpty else { return self }
        return KeyRing(
            keys: keys.map { disabled.contains($0.id) ? $0.with(status: .disabled) : $0 },
            serviceAccounts: serviceAccounts
        )
    }
}
