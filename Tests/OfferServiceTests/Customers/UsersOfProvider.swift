// SPDX-License-Identifier: Apache-2.0
import OfferService
import TestSupport

/// Runs a service that takes the tokens of an identity provider; `body` gets a function that makes one for a user.
func withUsers(
    asksStore: Bool = false,
    offers: String,
    wrap: @escaping TestService.Wrap = { $0 },
    _ body: (StoreService, (String) throws -> String) async throws -> Void
) async throws {
    let provider = try FakeIdentityProvider()
    let entry = """
        [{issuer: "\(provider.issuer)", audience: "offer-signer", bundleIds: ["com.example.app"], name: "login"}]
        """
    try await withStoreService(
        asksStore: asksStore,
        identityProviders: entry,
        moreOffers: offers,
        wrap: wrap
    ) { world async throws in
        try await body(world) { user in
            try UserToken(provider.issuer, of: user, at: world.service.clock.now).text(provider)
        }
    }
}

extension Call {
    /// What an app sends with its user's token, for one offer.
    static func offer(_ offer: String, with token: String, _ members: String = "") -> Call {
        let more = members.isEmpty ? "" : ", \(members)"
        let body = """
            {"bundleId": "com.example.app", "productId": "com.example.monthly", "offerId": "\(offer)"\(more)}
            """
        return Call(
            fields: [("Content-Type", "application/json"), ("Authorization", "Bearer \(token)")],
            body: Array(body.utf8)
        )
    }
}
