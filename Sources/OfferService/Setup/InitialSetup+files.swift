// SPDX-License-Identifier: Apache-2.0
import OfferDomain

/// The files that people edit. Every value that goes into them has an allow-list of bytes, so none needs escaping.
extension InitialSetup {
    func keys(pinnedTo publicKeySHA256: String) -> String {
        """
        // The key ring, JSON5. Paths are relative to this file. Every member is explained in keys.example.
        {
          keys: [
            {
              id: "\(keyID)",
              issuerId: "\(issuerID.description)",
              file: "\(keyFileName)",
              // SHA-256 of the public key: the service refuses another key under this ID.
              publicKeySha256: "\(publicKeySHA256)",
              bundleIds: ["\(bundleID)"],
              // Add "app-store-server-api" to let the service ask the App Store about customers.
              // Then try it: offer-signer check --live
              purposes: ["promotional-offer", "introductory-offer-eligibility"],
              status: "active",
            },
          ],
        \(connectEntry)
          // Records and ledger hold customers' ids only as HMACs under this secret. Back it up: the service starts with no other.
          customerIds: { epoch: "1", file: "customer-ids.key" },

          // The audit log's name and key. Neither can change later without a new log. Back the key up.
          auditLog: { origin: "\(origin)", file: "audit-log.key" },
        }

        """
    }

    private var connectEntry: String {
        guard let connectKey, let connectKeyFileName else { return "" }
        return """

              // Reads what App Store Connect has, for offer-signer check --live. It never signs offers.
              appStoreConnect: {
                id: "\(connectKey.id)",
                issuerId: "\(issuerID.description)",
                file: "\(connectKeyFileName)",
              },

            """
    }

    var offers: String {
        let number = appAppleID.map { "appAppleId: \($0)," }
        let app =
            number
            ?? "// Without the app's number (its Apple ID in App Store Connect), production data is refused: appAppleId: 0,"
        return """
            // The catalog, JSON5. Nothing outside this file is ever signed. Rules are explained in docs/rules.md.
            {
              apps: [
                {
                  bundleId: "\(bundleID)",
                  \(app)
                  plans: [
                    {
                      id: "\(productID)",
                      appStore: { productId: "\(productID)", subscriptionGroupId: "\(groupID)" },
                      offers: [
                        {
                          id: "\(offerID)",
                          appStore: { offerId: "\(offerID)" },
                          // Who may have the offer. Apple requires a current or past subscriber; beyond that, this rule
                          // admits everyone 100 times a year. Lower that before you go live.
                          eligibility: { grants: { atMost: 100, perDays: 365 } },
                        },
                      ],
                    },
                  ],
                },
              ],
            }

            """
    }

    /// What a backend asks for the offer with; the customer is made up.
    func request(account: UniqueID) -> String {
        """
        {
          "bundleId": "\(bundleID)",
          "productId": "\(productID)",
          "offerId": "\(offerID)",
          "appAccountToken": "\(account)",
          "facts": {"status": "expired"},
          "formats": ["v1", "jws"]
        }

        """
    }
}
