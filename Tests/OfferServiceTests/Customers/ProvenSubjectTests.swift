// SPDX-License-Identifier: Apache-2.0
import OfferService
import TestSupport
import Testing

/// An app's API key is public: caps count the customer that evidence proves, in every group, not the claimed name.
@Suite(.overBothEngines) struct ProvenSubjectTests {
    private static let otherGroup = FakeAppStore.Subscription(
        .active,
        productID: "com.example.other",
        group: "20000009",
        allTransactions: ["appTransactionId": .null]
    )

    /// Names that an app can make up without end.
    private static func madeUp(_ number: Int) -> String {
        let token = "00000000-0000-4000-8000-0000000000\(10 + number)"
        return [
            #""anonymousId": "device-\#(number)""#, #""appAccountToken": "\#(token)""#,
            #""applicationUsername": "user-\#(number)""#,
        ][number % 3]
    }

    @Test(arguments: ["once_a_customer", "once", "now_and_then"], ["v1", "jws"])
    func `one transaction of another group has a capped offer once, by whatever names it is asked for`(
        offer: String,
        format: String
    ) async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try world.store.setCustomer(FakeAppStore.Customer("eve", subscriptions: [Self.otherGroup]))
            let id = ids.subscriptions[0].originalTransactionID
            var statuses: [Int] = []
            for number in 0..<12 {
                let shown = #""signedTransactions": ["\#(try world.store.signTransaction(id))"]"#
                let members = #"\#(shown), "formats": ["\#(format)"], \#(Self.madeUp(number))"#
                statuses.append(try await world.sign(as: "app", offer, members).status)
            }
            #expect(statuses == [200] + [Int](repeating: 403, count: 11))
        }
    }

    /// What is in signed data beside the transaction, and stays the same where that is another one.
    @Test(arguments: ["appTransactionId", "appAccountToken"])
    func `another transaction of the same account has it no second time`(member: String) async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try world.store.setCustomer(
                FakeAppStore.Customer("eve", subscriptions: [Self.otherGroup, .init(.active, group: "20000008")])
            )
            let token = "00000000-0000-4000-8000-000000000001"
            let account: FakeAppStore.Value = member == "appTransactionId" ? "704000000000000001" : .text(token)
            var statuses: [Int] = []
            for subscription in ids.subscriptions {
                var changes: FakeAppStore.Members = ["appTransactionId": .null, "appAccountToken": .null]
                changes[member] = account
                let signed = try world.store.signTransaction(subscription.originalTransactionID, changing: changes)
                let binding = member == "appAccountToken" ? #", "appAccountToken": "\#(token)""# : ""
                let members = #""signedTransactions": ["\#(signed)"]\#(binding)"#
                statuses.append(try await world.sign(as: "app", "once_a_customer", members).status)
            }
            #expect(statuses == [200, 403])
        }
    }

    @Test func `a subscription counts with its account's others, also where its data names the account no more`()
        async throws
    {
        try await withStoreService(asksStore: false) { world in
            let ids = try world.store.setCustomer(
                FakeAppStore.Customer("eve", subscriptions: [Self.otherGroup, .init(.active, group: "20000008")])
            )
            let (first, second) = (
                ids.subscriptions[0].originalTransactionID, ids.subscriptions[1].originalTransactionID
            )
            func ask(_ offer: String, _ id: String, account: FakeAppStore.Value) async throws -> Int {
                let changes: FakeAppStore.Members = ["appTransactionId": account, "appAccountToken": .null]
                let signed = try world.store.signTransaction(id, changing: changes)
                return try await world.sign(as: "app", offer, #""signedTransactions": ["\#(signed)"]"#).status
            }
            #expect(try await ask("once_a_customer", first, account: "704000000000000001") == 200)
            #expect(try await ask("once_a_customer", second, account: "704000000000000001") == 403)
            #expect(try await ask("once_a_customer", second, account: .null) == 403)
        }
    }

    @Test func `an introductory offer with a cap is signed once for a transaction that names no account`() async throws
    {
        try await withStoreService(asksStore: false) { world in
            let ids = try world.store.setCustomer(FakeAppStore.Customer("eve", subscriptions: [Self.otherGroup]))
            var answers: [Tree] = []
            for number in 0..<4 {
                let signed = try world.store.signTransaction(
                    ids.subscriptions[0].originalTransactionID,
                    changing: ["appTransactionId": .null]
                )
                let members = #""signedTransactions": ["\#(signed)"], \#(Self.madeUp(3 * number))"#
                let reply = try await world.service.send(
                    world.introductoryCall(as: "app", product: "com.example.weekly", members)
                )
                answers.append(reply.json["allowIntroductoryOffer"])
            }
            #expect(answers == [.boolean(true), .boolean(false), .boolean(false), .boolean(false)])
        }
    }

    /// A caller who knows a customer's name can use up nothing of that customer.
    @Test(
        arguments: ["once_a_customer", "now_and_then"],
        [#""appAccountToken": "TOKEN""#, #""anonymousId": "TOKEN""#, #""applicationUsername": "TOKEN""#]
    )
    func `a name claimed beside other evidence uses up nothing of the customer it belongs to`(
        offer: String,
        claim: String
    ) async throws {
        try await withStoreService(asksStore: false) { world async throws in
            func ask(_ customer: String, _ token: FakeAppStore.Value, _ claim: String) async throws -> Reply {
                let ids = try world.store.setCustomer(FakeAppStore.Customer(customer, subscriptions: [Self.otherGroup]))
                let signed = try world.store.signTransaction(
                    ids.subscriptions[0].originalTransactionID,
                    changing: ["appAccountToken": token, "appTransactionId": .null]
                )
                return try await world.sign(as: "app", offer, #""signedTransactions": ["\#(signed)"], \#(claim)"#)
            }
            let token = "00000000-0000-4000-8000-00000000abcd"
            let claim = claim.replacing("TOKEN", with: token)
            let isDevice = claim.contains("anonymousId")
            // What a signature will be bound to must be what the transaction shows.
            let shown: FakeAppStore.Value = isDevice ? .null : .text(token)
            #expect(try await ask("mallory", .null, claim).status == 200)
            #expect(try await ask("mallory", .null, claim).status == 403)
            #expect(try await ask("alice", shown, claim).status == 200)
            #expect(try await ask("alice", shown, claim).status == 403)
            if isDevice {
                let stated = #""customerId": "bob", \#(claim), "facts": {"subscribedBefore": true}"#
                #expect(try await world.sign(offer, stated).status == 200)
                #expect(try await world.sign(offer, stated).status == 403)
            }
        }
    }

    @Test func `an app without evidence of its customer is refused, and the problem says what to send`() async throws {
        try await withStoreService(asksStore: false) { world in
            for members in (0..<3).map(Self.madeUp) + [#""transactionId": "2000000000000001""#] {
                let reply = try await world.sign(as: "app", "once_a_customer", members)
                #expect(reply.problem == "eligibility-undecided", "\(members): \(reply)")
                #expect(reply.body.contains("customer-unproven") && reply.body.contains("signedTransactions"))
            }
        }
    }

    @Test func `a store's response links a transaction to its account token, and counts from then on`() async throws {
        try await withStoreService { world in
            let id = try world.customer([.init(.active)]).subscriptions[0].originalTransactionID
            let asked = #""transactionId": "\#(id)", "appAccountToken": "\#(world.token)""#
            #expect(try await world.sign(as: "app", "once_a_customer", asked).status == 200)
            let other = #""transactionId": "\#(id)", "appAccountToken": "00000000-0000-4000-8000-000000000001""#
            #expect(try await world.sign(as: "app", "once_a_customer", other).problem == "eligibility-undecided")
            let signed = try world.store.signTransaction(id, changing: ["appAccountToken": .null])
            for members in [asked, #""signedTransactions": ["\#(signed)"]"#] {
                let reply = try await world.sign(as: "app", "once_a_customer", members)
                #expect(reply.problem == "not-eligible", "\(reply)")
            }
            let stated = #""customerId": "\#(world.token)", "facts": {"subscribedBefore": true}"#
            #expect(try await world.sign("once_a_customer", stated).problem == "not-eligible")
        }
    }

    /// Holds for every combination and order of evidence, and for every name that the app claims.
    @Test(arguments: UInt64(1)...2)
    func `no proven subject has more than its cap, whatever evidence is shown of it`(seed: UInt64) async throws {
        try await withStoreService(asksStore: false) { world in
            let grants = try await grants(world, seed)
            #expect(!grants.isEmpty && grants.values.allSatisfy { $0 <= 3 }, "\(grants)")
        }
    }

    /// How many grants each subject has in the end.
    private func grants(_ world: StoreService, _ seed: UInt64) async throws -> [String: Int] {
        var random = SplitMix(seed: seed)
        let subscriptions = (0..<6).map { number in
            FakeAppStore.Subscription(.active, productID: "com.example.p\(number)", group: "2000001\(number % 3)")
        }
        let ids = try world.store.setCustomer(FakeAppStore.Customer("eve", subscriptions: subscriptions))
        var grants: [String: Int] = [:]
        for _ in 0..<TestRing.rounds(60, nightly: 600) {
            let shown = Shown(ids.subscriptions.map(\.originalTransactionID), &random)
            let members = try shown.members(world, &random)
            let reply = try await world.sign(as: "app", "thrice", members)
            // More may be refused: a subscription that was shown under two accounts takes its grants from one to the other.
            let mostHad = shown.subjects.map { grants[$0, default: 0] }.max() ?? 0
            #expect(reply.status == 403 || (reply.status == 200 && mostHad < 3), "\(shown) \(grants): \(reply)")
            if reply.status == 200 { for subject in shown.subjects { grants[subject, default: 0] += 1 } }
        }
        return grants
    }

    /// What one request shows: transactions of one account, which may be named or not.
    private struct Shown {
        let originals: [String]
        let account: String?
        let token: String?

        init(_ all: [String], _ random: inout SplitMix) {
            originals = Array(all.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)))
            account = random.pick([nil, nil, "704000000000000001", "704000000000000002"])
            token = random.pick([
                nil, nil, "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002",
            ])
        }

        var subjects: [String] { originals + [account, token].compactMap(\.self) }

        func members(_ world: StoreService, _ random: inout SplitMix) throws -> String {
            let signed = try originals.map { id in
                let transaction = try world.store.signTransaction(
                    id,
                    changing: [
                        "appTransactionId": account.map(FakeAppStore.Value.text) ?? .null,
                        "appAccountToken": token.map(FakeAppStore.Value.text) ?? .null,
                    ]
                )
                return "\"\(transaction)\""
            }
            let claimed = "00000000-0000-4000-8000-00000000001\(Int.random(in: 0...9, using: &random))"
            return """
                "signedTransactions": [\(signed.joined(separator: ", "))], "appAccountToken": "\(token ?? claimed)",
                "anonymousId": "device-\(random.next())", "formats": ["\(random.pick(["v1", "jws"]))"]
                """
        }
    }

    // MARK: - Claimed names

    @Test func `an app that names another customer's id uses up nothing of that customer`() async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try world.store.setCustomer(FakeAppStore.Customer("eve", subscriptions: [Self.otherGroup]))
            let uuid = "5b9d3c1e-7a10-4c55-9d7e-2f6b8f0a4c11"
            for customer in ["bob", uuid] {
                let signed = try world.store.signTransaction(ids.subscriptions[0].originalTransactionID)
                let stranger = try await world.sign(
                    as: "app",
                    "thrice",
                    #""signedTransactions": ["\#(signed)"], "anonymousId": "\#(customer)""#
                )
                #expect(stranger.status == 200, "\(stranger)")
            }
            for customer in ["bob", uuid] {
                let stated = #""customerId": "\#(customer)", "facts": {"subscribedBefore": true}"#
                var statuses: [Int] = []
                for _ in 0..<4 { statuses.append(try await world.sign("thrice", stated).status) }
                #expect(statuses == [200, 200, 200, 403], "\(customer)")
            }
        }
    }

    @Test(arguments: ["eligibility", "signature"])
    func `a known name and an unknown one get the same answer`(call: String) async throws {
        try await withStoreService(asksStore: false) { world in
            let stated = #""facts": {"subscribedBefore": true}"#
            for name in [#""customerId": "bob""#, #""appAccountToken": "\#(world.token)""#] {
                #expect(try await world.sign("once_a_customer", "\(name), \(stated)").status == 200)
            }
            try await world.service.transfer(from: "linked", to: "bob")
            func answer(_ members: String) async throws -> String {
                if call == "signature" {
                    let reply = try await world.sign(as: "app", "once_a_customer", members)
                    return "\(reply.status) \(reply.problem ?? "")"
                }
                var call = world.service.call(as: "app", #"{"bundleId": "com.example.app", \#(members)}"#)
                call.path = "/v1/eligibility"
                let reply = try await world.service.send(call)
                return "\(reply.status) \(reply.body)"
            }
            let known = try await answer(#""anonymousId": "bob""#)
            #expect(try await answer(#""anonymousId": "nobody""#) == known)
            #expect(try await answer(#""anonymousId": "linked""#) == known)
            let token = try await answer(#""appAccountToken": "\#(world.token)""#)
            #expect(try await answer(#""appAccountToken": "00000000-0000-4000-8000-000000000002""#) == token)
            let user = try await answer(#""applicationUsername": "bob""#)
            #expect(try await answer(#""applicationUsername": "nobody""#) == user)
        }
    }

    @Test func `a name that an app claimed is a customer's once a backend says so`() async throws {
        try await withStoreService(asksStore: false) { world in
            let id = try world.store.setCustomer(FakeAppStore.Customer("eve", subscriptions: [Self.otherGroup]))
                .subscriptions[0].originalTransactionID
            let members =
                #""signedTransactions": ["\#(try world.store.signTransaction(id))"], "anonymousId": "device-1""#
            #expect(try await world.sign(as: "app", "once_a_customer", members).status == 200)
            try await world.service.transfer(from: "device-1", to: "ada")
            let stated = #""customerId": "ada", "facts": {"subscribedBefore": true}"#
            #expect(try await world.sign("once_a_customer", stated).problem == "not-eligible")
        }
    }
}
