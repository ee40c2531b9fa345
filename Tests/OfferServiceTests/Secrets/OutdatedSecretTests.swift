// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import TestSupport
import Testing

@testable import Ledger

/// A service that has not yet read a new secret for customer ids stores nothing under the outdated one.
@Suite(.overBothEngines) struct OutdatedSecretTests {
    private static let ada = #""customerId": "ada""#

    private static let tables: [StaticString] = [
        "SELECT 'entry ' || entry_index FROM audit_entries ORDER BY 1",
        "SELECT 'link ' || hex(from_subject) || hex(to_subject) FROM customer_links ORDER BY 1",
        "SELECT 'chain ' || hex(subscription) || record FROM subscription_records ORDER BY 1",
        "SELECT 'transaction ' || hex(subscription) || record FROM transaction_records ORDER BY 1",
        "SELECT 'notification ' || hex(notification_id) FROM store_notifications ORDER BY 1",
    ]

    @Test(arguments: Wire.ofRun)
    func `what is sent to it is neither kept nor forgotten, and is taken once it has read the secret`(
        wire: Wire
    ) async throws {
        try await withStoreService(wire, asksStore: false) { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            try await world.vouch(ids, Self.ada)
            let outdated = world.service.current.value
            try world.service.beginSecretVersion("2")
            let current = world.service.current.value
            var eligibility = world.service.call(#"{"bundleId": "com.example.app", \#(Self.ada)}"#)
            eligibility.path = "/v1/eligibility"
            let refund = try world.store.signNotification(
                .init("REFUND", transactionID: ids.originalTransactionID)
            ).body
            let calls = [
                world.service.transferCall(from: "device-1", to: "ada"),
                world.transactionsCall(as: "backend", try world.tokenless(ids), Self.ada),
                .notification(refund), eligibility, world.call(as: "backend", "running", Self.ada),
            ]
            world.service.current.swap(outdated)
            let before = try world.service.rows(Self.tables)
            for call in calls {
                let reply = try await world.service.send(call)
                #expect(reply.status == 503 && reply.problem == "audit-unavailable", "\(call.path): \(reply)")
            }
            #expect(try world.service.rows(Self.tables) == before)

            world.service.current.swap(current)
            for call in calls {
                let reply = try await world.service.send(call)
                #expect(reply.status == 200, "\(call.path): \(reply)")
            }
            #expect(try world.service.entries("store.notification").count == 1)
            #expect(try world.service.entries("customer.transferred").count == 1)
        }
    }

    @Test func `what others send at the same time is done`() async throws {
        try await withService { service in
            let outdated = service.current.value.pseudonyms
            try service.beginSecretVersion("2")
            let current = service.current.value.pseudonyms
            let refusals = try await withThrowingTaskGroup { group in
                for (index, pseudonyms) in [current, outdated, current, outdated, current].enumerated() {
                    let transfer = try transfer(service, "device-\(index)", pseudonyms)
                    group.addTask {
                        let refusal = await outcome(of: transfer, service.committer)
                        return (index, refusal)
                    }
                }
                return try await group.reduce(into: [Int: LedgerError]()) { $0[$1.0] = $1.1 }
            }
            #expect(refusals == [1: .outdatedSecret, 3: .outdatedSecret])
            #expect(try service.entries("customer.transferred").count == 3)
        }
    }

    private func transfer(_ service: TestService, _ name: String, _ pseudonyms: Pseudonyms) throws -> CustomerTransfer {
        CustomerTransfer(
            from: try AnonymousID(name),
            to: try CustomerID("ada"),
            app: try #require(AppInStores(AppName("com.example.app"), in: service.loaded.catalog)),
            callerID: try #require(CallerID("backend")),
            under: EvidenceContext(catalog: service.loaded.catalog, pseudonyms: pseudonyms)
        )
    }

    private func outcome(of transfer: CustomerTransfer, _ committer: Committer) async -> LedgerError? {
        do throws(LedgerError) {
            _ = try await committer.transfer(transfer)
            return nil
        } catch {
            return error
        }
    }

    @Test func `meanwhile Google Play's pushes get 503, so that Google sends them again`() async throws {
        try await withPlayService { world in
            let outdated = world.service.current.value
            try world.service.beginSecretVersion("2")
            let current = world.service.current.value
            try world.play.answer("a", PlaySample("ACTIVE"))
            let push = PlayService.push(PlayService.change(4, "a"), id: "1")
            world.service.current.swap(outdated)
            let before = try world.tables()
            let reply = try await world.service.send(push)
            #expect(reply.status == 503 && reply.problem == "audit-unavailable", "\(reply)")
            #expect(try world.tables() == before)
            world.service.current.swap(current)
            #expect(try await world.service.send(push).status == 204)
            #expect(try world.tables() != before)
        }
    }
}
