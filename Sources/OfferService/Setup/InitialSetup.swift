// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain
import ServiceRuntime
import TransparencyLog

/// What a team says of its app, so that its first configuration can be written.
package struct InitialSetup: Sendable {
    /// The In-App Purchase key as App Store Connect handed it out.
    package let keyFile: String
    /// The key's ID as App Store Connect shows it.
    package let keyID: KeyID
    /// The team's issuer ID.
    package let issuerID: IssuerID
    /// The app.
    package let bundleID: BundleID
    /// The app's number in App Store Connect; without it, production data of the App Store is refused.
    package let appAppleID: Int64?
    /// The product that the example's offer is for.
    package let productID: ProductID
    /// The product's subscription group.
    package let groupID: SubscriptionGroupID
    /// The offer's identifier in App Store Connect.
    package let offerID: OfferID
    /// The App Store Connect API key that reads what is set up there; optional.
    package var connectKey: (file: String, id: KeyID)?
    /// The name of the audit log.
    package let origin: LogOrigin
    /// What the backend that may ask is called.
    package let caller: CallerID

    package init(
        key: (file: String, id: KeyID, issuer: IssuerID),
        app: (bundleID: BundleID, appAppleID: Int64?),
        offer: (productID: ProductID, groupID: SubscriptionGroupID, offerID: OfferID),
        origin: LogOrigin,
        caller: CallerID
    ) {
        (keyFile, keyID, issuerID) = key
        (bundleID, appAppleID) = app
        (productID, groupID, offerID) = offer
        self.origin = origin
        self.caller = caller
    }

    /// The name that the key's file has beside the configuration.
    package var keyFileName: String { "SubscriptionKey_\(keyID).p8" }

    /// The name that the App Store Connect API key's file has there.
    package var connectKeyFileName: String? { connectKey.map { "AuthKey_\($0.id).p8" } }

    /// The key ID in the name of an App Store Connect API key's file, as `AuthKey_DEF456GHIJ.p8`.
    ///
    /// - Throws: Why the name does not tell, with what to do.
    package static func connectKeyID(inNameOf path: String) throws(SetupError) -> KeyID {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let stem = name.split(separator: ".", omittingEmptySubsequences: false).first.map(String.init) ?? ""
        guard stem.hasPrefix("AuthKey_"), let id = try? KeyID(String(stem.dropFirst("AuthKey_".count).prefix(10)))
        else {
            throw SetupError(
                "\(name) is not named like an App Store Connect API key (AuthKey_DEF456GHIJ.p8), which shows the key's ID: "
                    + "keep the name of the download"
            )
        }
        return id
    }

    /// The key id in the name of a file that App Store Connect handed out, as `SubscriptionKey_ABC123DEFG.p8`.
    ///
    /// - Throws: Why the name does not tell, with what to do.
    package static func keyID(inNameOf path: String) throws(SetupError) -> KeyID {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        if name.hasPrefix("AuthKey_") {
            throw SetupError(
                "\(name) is named like an App Store Connect API key, which the App Store accepts no offer from. Download an "
                    + "In-App Purchase key (SubscriptionKey_….p8): App Store Connect > Users and Access > Integrations > "
                    + "In-App Purchase. If it is one, give its id with --key-id."
            )
        }
        let stem = name.split(separator: ".", omittingEmptySubsequences: false).first.map(String.init) ?? ""
        let text = stem.split(separator: "_").last.map { String($0.prefix(10)) } ?? ""
        guard stem.hasPrefix("SubscriptionKey_"), let id = try? KeyID(text) else {
            throw SetupError(
                "\(name) does not show the key's id, as SubscriptionKey_ABC123DEFG.p8 would; give the id with --key-id"
            )
        }
        return id
    }

    /// Whether a path leads to something.
    package static func isThere(_ path: String) -> Bool { FileIdentity(path: path) != nil }

    /// A name for the audit log that belongs to the owner of the app: `com.example.app` gives `app.example.com/offer-signer`.
    package static func origin(for bundleID: BundleID) -> String {
        bundleID.text.split(separator: ".").reversed().joined(separator: ".").lowercased() + "/offer-signer"
    }
}

/// Why nothing was set up.
package struct SetupError: Error, Sendable, CustomStringConvertible {
    /// A sentence for the person who ran the command.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
