// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// Which entries a receiver gets by which category.
struct AuditCategoryTests {
    private static let rows: [AuditCategory: Set<String>] = [
        .keyUse: ["sign.intent", "authorize.intent", "store.token", "sign.failed"],
        .refusals: ["sign.deny", "authorize.deny", "refusals", "noise"],
        .seals: [
            "service.seal", "service.sealed", "service.unseal", "key.disable", "key.disabled", "key.enable",
        ],
        .reads: ["audit.read", "audit.fetch", "audit.export", "customer.lookup", "signature.diagnosed"],
        .alarms: ["sign.failed", "clock.step", "audit.resume", "log.restarted"],
        .administration: [
            "service.start", "service.stop", "key.load", "config.load", "config.refuse", "caller.create", "caller.key",
            "caller.revoke", "ledger.moved", "ledger.left", "log.restarted", "epoch.begin", "epoch.destroy",
            "session.begin", "session.end",
        ],
        .purchases: [
            "store.notification", "offer.redemption", "grant.unredeemed", "offer.missed", "customer.transferred",
            "customer.attributes", "subscription.transferred", "account.intent", "account.outcome",
        ],
    ]

    @Test(arguments: AuditCategory.allCases)
    func `has the events that its row lists`(category: AuditCategory) {
        let found = AuditEventName.allCases.filter { AuditCategory.categories(of: $0).contains(category) }
        #expect(Set(found.map(\.rawValue)) == Self.rows[category])
    }

    @Test(arguments: AuditEventName.allCases)
    func `each event has a category`(name: AuditEventName) {
        #expect(!AuditCategory.categories(of: name).isEmpty)
    }

    @Test(
        arguments: [
            (#"{"ev":"offer.redemption","match":"grant"}"#, [AuditCategory.purchases]),
            (#"{"ev":"offer.redemption","match":"none"}"#, [.alarms, .purchases]),
            (#"{"ev":"offer.redemption","match":"other-account"}"#, [.alarms, .purchases]),
            (#"{"ev":"sign.failed"}"#, [.alarms, .keyUse]), (#"{"ev":"from.tomorrow"}"#, []),
        ]
    )
    func `looks at an entry, and puts what is most severe first`(entry: String, expected: [AuditCategory]) throws {
        let members = try #require(try JSONDocument(Array(entry.utf8)).root.object)
        #expect(AuditCategory.categories(ofEntry: members) == expected)
    }

    @Test func `what this version does not know goes to those who want everything`() throws {
        let item = try #require(StreamItem(0, Array(#"{"ev":"from.tomorrow","t":1,"v":1}"#.utf8)))
        let all = LogStream(id: "a", target: .file("a"), categories: Set(AuditCategory.allCases))
        let one = LogStream(id: "b", target: .file("b"), categories: [.alarms])
        #expect(all.wants(item.categories) && !one.wants(item.categories))
    }
}
