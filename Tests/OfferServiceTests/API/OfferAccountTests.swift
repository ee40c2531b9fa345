// SPDX-License-Identifier: Apache-2.0
import OfferService
import TestSupport
import Testing

/// Promotional offers: an app cannot use the purchases of one account for another account.
struct OfferAccountTests {
    private static let stranger = "0e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"

    /// What the store signed of a customer's subscription.
    private struct Evidence {
        let transaction, renewal: String

        init(transaction: String, renewal: String) {
            (self.transaction, self.renewal) = (transaction, renewal)
        }

        init(_ customer: FakeAppStore.CustomerIDs, _ world: StoreService) throws {
            let id = customer.subscriptions[0].originalTransactionID
            transaction = try world.store.signTransaction(id)
            renewal = try world.store.signRenewalInfo(id)
        }
    }

    /// A request of an app for an offer that lapsed customers may have, with what the store signed of one.
    private func ask(_ world: StoreService, _ evidence: [Evidence], _ members: String) async throws -> Reply {
        let transactions = evidence.map { "\"\($0.transaction)\"" }.joined(separator: ", ")
        let renewals = evidence.map { "\"\($0.renewal)\"" }.joined(separator: ", ")
        return try await world.service.send(
            world.service.call(
                as: "app",
                """
                {"bundleId": "com.example.app", "productId": "com.example.monthly", "offerId": "lapsed", \
                "signedTransactions": [\(transactions)], "signedRenewalInfo": [\(renewals)]\
                \(members.isEmpty ? "" : ", ")\(members)}
                """
            )
        )
    }

    private func withLapsed(
        _ wire: Wire = .inProcess,
        _ body: (StoreService, _ lapsed: FakeAppStore.CustomerIDs, Evidence, _ other: FakeAppStore.CustomerIDs)
            async throws -> Void
    ) async throws {
        try await withStoreService(wire, asksStore: false) { world in
            let lapsed = try world.customer([.init(.expired, endsInDays: -40)])
            let other = try world.store.setCustomer(FakeAppStore.Customer("ben", subscriptions: [.init(.active)]))
            let signed = try Evidence(lapsed, world)
            try await body(world, lapsed, signed, other)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `binds a JWS to the account of the shown purchases`(wire: Wire) async throws {
        try await withLapsed(wire) { world, lapsed, signed, other in
            let id = lapsed.subscriptions[0].originalTransactionID
            let jws = #""formats": ["jws"]"#
            let tied = try await ask(world, [signed], jws)
            #expect(tied.status == 200, "\(tied)")
            let claimed = try #require(SignedAnswer(tied).jwsClaims["transactionId"].text)
            #expect(lapsed.subscriptions[0].transactionIDs.contains(claimed))
            for own in [id, lapsed.appTransactionID] {
                let reply = try await ask(world, [signed], #"\#(jws), "transactionId": "\#(own)""#)
                #expect(SignedAnswer(reply).jwsClaims["transactionId"].text == own, "\(reply)")
            }
            for foreign in [other.appTransactionID, other.subscriptions[0].originalTransactionID] {
                let reply = try await ask(world, [signed], #"\#(jws), "transactionId": "\#(foreign)""#)
                #expect(reply.status == 403 && reply.problem == "transaction-not-shown", "\(reply)")
                #expect(reply.pointers == ["/transactionId"])
            }
        }
    }

    @Test(arguments: [
        "", #""formats": ["v1"]"#, #""applicationUsername": "me", "formats": ["v1"]"#,
        #""appAccountToken": "\#(stranger)""#, #""appAccountToken": "\#(stranger)", "formats": ["jws"]"#,
        #""applicationUsername": "\#(stranger)", "formats": ["v1"]"#,
    ])
    func `refuses purchases that name an account unless the request names it too`(members: String) async throws {
        try await withLapsed { world, _, signed, _ in
            let reply = try await ask(world, [signed], members)
            #expect(reply.status == 403 && reply.problem == "signed-data-of-other-account", "\(reply)")
            #expect(reply.pointers == ["/signedTransactions/0"])
            #expect(try world.service.entries("sign.intent").isEmpty)
        }
    }

    @Test func `accepts purchases that name an account for that account, under each of its names`() async throws {
        try await withLapsed { world, _, signed, _ in
            for members in [
                #""appAccountToken": "\#(world.token.uppercased())""#,
                #""applicationUsername": "\#(world.token)", "formats": ["v1"]"#,
            ] {
                let reply = try await ask(world, [signed], members)
                #expect(reply.status == 200, "\(members): \(reply)")
            }
        }
    }

    @Test func `purchases of two accounts are not taken together`() async throws {
        try await withLapsed { world, _, signed, other in
            let reply = try await ask(
                world,
                [signed, try Evidence(other, world)],
                #""appAccountToken": "\#(world.token)""#
            )
            #expect(reply.status == 403 && reply.problem == "signed-data-of-other-account", "\(reply)")
            #expect(reply.pointers == ["/signedTransactions/1"])
        }
    }

    @Test func `purchases that name two tokens are not taken together, whatever is signed`() async throws {
        try await withLapsed { world, lapsed, signed, _ in
            let changed = try world.store.signTransaction(
                lapsed.subscriptions[0].originalTransactionID,
                changing: ["appAccountToken": .text(Self.stranger), "appTransactionId": .null]
            )
            let both = [signed, Evidence(transaction: changed, renewal: signed.renewal)]
            let reply = try await ask(world, both, #""formats": ["jws"]"#)
            #expect(reply.status == 403 && reply.problem == "signed-data-of-other-account", "\(reply)")
            #expect(reply.pointers == ["/signedTransactions/1"])
        }
    }

    @Test func `does not compare the transactionId with the evidence if it binds no signature`() async throws {
        try await withLapsed { world, _, signed, other in
            let members = #""appAccountToken": "\#(world.token)", "transactionId": "\#(other.appTransactionID)""#
            let reply = try await ask(world, [signed], members)
            #expect(reply.status == 200, "\(reply)")
        }
    }

    @Test func `accepts a backend's statement about the account of the purchases`() async throws {
        try await withLapsed { world, _, signed, other in
            let reply = try await world.service.send(
                world.service.call(
                    as: "backend",
                    """
                    {"bundleId": "com.example.app", "productId": "com.example.monthly", "offerId": "lapsed", \
                    "signedTransactions": ["\(signed.transaction)"], \
                    "signedRenewalInfo": ["\(signed.renewal)"], "appAccountToken": "\(Self.stranger)", \
                    "transactionId": "\(other.appTransactionID)", "formats": ["v1", "jws"]}
                    """
                )
            )
            #expect(SignedAnswer(reply).jwsClaims["transactionId"].text == other.appTransactionID, "\(reply)")
        }
    }
}
