// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import TestSupport
import Testing

/// What a wrong `offers` file is refused with.
struct OffersFileTests {
    /// A good file; each row changes one thing.
    private static let good = """
        {
          apps: [
            {
              bundleId: "com.example.app",
              appAppleId: 1234567890,
              plans: [
                {
                  id: "monthly",
                  appStore: {productId: "pro.monthly", subscriptionGroupId: "21234567"},
                  offers: [
                    {id: "one", appStore: {offerId: "store_one"}},
                    {id: "two", appStore: {offerId: "store_two"}, eligibility: {grants: {atMost: 1}}},
                  ],
                },
              ],
            },
          ],
        }
        """

    private static let plan = """
        id: "monthly",
                  
        """
    private static let offers = """
        offers: [
                    {id: "one", appStore: {offerId: "store_one"}},
                    {id: "two", appStore: {offerId: "store_two"}, eligibility: {grants: {atMost: 1}}},
                  ]
        """

    private static let ruleNames = " (known: \(Rule.names.sorted().joined(separator: ", ")))"

    private static let floor =
        "asks for customers who never subscribed, and the offer is only for customers who have subscribed before; one at Google "
        + "Play alone may have admitsNewCustomers"

    static let rows = [
        IssueRow("all is well", "pro.monthly", "pro.yearly"),
        IssueRow(
            "null for a rule, which would admit everybody",
            "eligibility: {grants: {atMost: 1}}",
            "eligibility: null",
            "error: offers:12:72 /apps/0/plans/0/offers/1/eligibility: is null; leave the member out instead"
        ),
        IssueRow(
            "a misspelt member",
            "bundleId",
            "bundelId",
            "error: offers:3:5 /apps/0/bundleId: is missing, and so is packageName; an app is in one store at least",
            "error: offers:4:17 /apps/0/bundelId: is not a known member; did you mean “bundleId”? "
                + "(known: appAppleId, appAttest, bundleId, customers, environments, googlePlay, packageName, plans, "
                + "playIntegrity, retention)"
        ),
        IssueRow(
            "a misspelt member further in",
            "productId",
            "product",
            "error: offers:9:21 /apps/0/plans/0/appStore/productId: is missing; expected a string",
            "error: offers:9:31 /apps/0/plans/0/appStore/product: is not a known member; did you "
                + "mean “productId”? (known: productId, subscriptionGroupId)"
        ),
        IssueRow(
            "an Apple id that is none",
            "1234567890",
            "-1",
            "error: offers:5:19 /apps/0/appAppleId: expected a whole number above 0, found -1"
        ),
        IssueRow(
            "plans that are no list",
            "plans: [",
            "plans: {}, plan: [",
            "error: offers:6:14 /apps/0/plans: expected an array, found an object",
            "error: offers:6:24 /apps/0/plan: is not a known member; did you mean “plans”? (known: "
                + "appAppleId, appAttest, bundleId, customers, environments, googlePlay, packageName, plans, playIntegrity, "
                + "retention)"
        ),
        IssueRow(
            "no offers",
            "offers: [",
            "offers: [], offer: [",
            "error: offers:10:30 /apps/0/plans/0/offer: is not a known member; did you mean "
                + "“offers”? (known: appStore, googlePlay, id, introductoryOffer, offers, retention)"
        ),
        IssueRow(
            "no apps",
            "apps: [",
            "apps: [], app: [",
            "error: offers:2:9 /apps: names no offer; nothing could be signed",
            "error: offers:2:18 /app: is not a known member; did you mean “apps”? (known: apps)"
        ),
        IssueRow("nothing at all", good, "{}", "error: offers:1:1 /apps: names no offer; nothing could be signed"),
        IssueRow("a list", good, "[]", "error: offers:1:1: expected an object, found an array"),
        IssueRow(
            "an offer without a store id",
            #"{offerId: "store_one"}"#,
            "{}",
            "error: offers:11:35 /apps/0/plans/0/offers/0/appStore/offerId: is missing; expected a " + "string"
        ),
        IssueRow(
            "an offer without a store",
            #", appStore: {offerId: "store_one"}"#,
            "",
            "error: offers:11:13 /apps/0/plans/0/offers/0/appStore: is missing, and so is googlePlay; an offer is in one store at least"
        ),
        IssueRow(
            "an offer that is a text",
            #"{id: "one", appStore: {offerId: "store_one"}}"#,
            #""one""#,
            "error: offers:11:13 /apps/0/plans/0/offers/0: expected an object, found a string"
        ),
        IssueRow(
            "an id with the separator in it",
            "store_one",
            #"store\u2063one"#,
            "error: offers:11:45 /apps/0/plans/0/offers/0/appStore/offerId: holds the character "
                + "U+2063 at byte 5, which is not allowed"
        ),
        IssueRow(
            "an id with two spaces",
            "store_one",
            "store  one",
            "error: offers:11:45 /apps/0/plans/0/offers/0/appStore/offerId: holds a space at byte 6; "
                + "a space is allowed only alone and between two other characters"
        ),
        IssueRow("an introductory offer", plan, plan + #"introductoryOffer: {id: "trial"}, "#),
        IssueRow(
            "an introductory offer alone, with a rule that no other offer may have",
            offers,
            #"introductoryOffer: {id: "trial", eligibility: {subscribedBefore: false}}"#
        ),
        IssueRow(
            "an introductory offer of no known group",
            plan + #"appStore: {productId: "pro.monthly", subscriptionGroupId: "21234567"}"#,
            plan + #"introductoryOffer: {id: "trial"}, appStore: {productId: "pro.monthly"}"#,
            "error: offers:9:30 /apps/0/plans/0/introductoryOffer: needs the plan's appStore.subscriptionGroupId: a "
                + "customer has one introductory offer in each group"
        ),
        IssueRow(
            "an introductory offer of a group that is none",
            plan + #"appStore: {productId: "pro.monthly", subscriptionGroupId: "21234567"}"#,
            plan + #"introductoryOffer: {id: "trial"}, appStore: {productId: "pro.monthly", subscriptionGroupId: 7}"#,
            "error: offers:9:103 /apps/0/plans/0/appStore/subscriptionGroupId: expected a string, found 7"
        ),
        IssueRow(
            "an introductory offer, and others, in a store that is none",
            plan + #"appStore: {productId: "pro.monthly", subscriptionGroupId: "21234567"}"#,
            plan + #"introductoryOffer: {id: "trial"}, appStore: "pro.monthly""#,
            "error: offers:9:55 /apps/0/plans/0/appStore: expected an object, found a string"
        ),
        IssueRow(
            "an introductory offer with the id of another",
            plan,
            plan + #"introductoryOffer: {id: "two"}, "#,
            "error: offers:9:35 /apps/0/plans/0/introductoryOffer/id: “two” is the id of another offer of "
                + "this app; caps count by this id"
        ),
        IssueRow(
            "an introductory offer with an id at the store",
            plan,
            plan + #"introductoryOffer: {id: "trial", elegibility: {}, appStore: {offerId: "x"}}, "#,
            "error: offers:9:57 /apps/0/plans/0/introductoryOffer/elegibility: is not a known member; did you mean "
                + "“eligibility”? (known: eligibility, facts, genuineApp, id)",
            "error: offers:9:71 /apps/0/plans/0/introductoryOffer/appStore: is not a known member "
                + "(known: eligibility, facts, genuineApp, id)"
        ),
        IssueRow(
            "a group that is none",
            "{grants: {atMost: 1}}",
            #"{usedOffers: {atMost: 1, subscriptionGroupId: ""}}"#,
            "error: offers:12:118 /apps/0/plans/0/offers/1/eligibility/usedOffers/subscriptionGroupId: must not be empty"
        ),
        IssueRow(
            "the same id twice",
            #"id: "two""#,
            #"id: "one""#,
            "error: offers:12:18 /apps/0/plans/0/offers/1/id: “one” is the id of another offer of "
                + "this app; caps count by this id"
        ),
        IssueRow(
            "one store id for two offers",
            "store_two",
            "store_one",
            "error: offers:10:19 /apps/0/plans/0/offers: “store_one” names both one and two"
        ),
        IssueRow(
            "a name that means two offers",
            "store_two",
            "one",
            "error: offers:10:19 /apps/0/plans/0/offers: “one” names both one and two"
        ),
        IssueRow(
            "a product with two plans",
            "      plans: [\n",
            """
                  plans: [
                    {appStore: {productId: "pro.monthly"}, offers: [{id: "three", appStore: {offerId: "three"}}]},

            """,
            "error: offers:10:33 /apps/0/plans/1/appStore/productId: pro.monthly already has a plan; "
                + "put its offers into that one"
        ),
        IssueRow(
            "an app that is listed twice",
            "  apps: [\n",
            """
              apps: [
                {bundleId: "com.example.app", plans: [{appStore: {productId: "pro.monthly"},
                 offers: [{id: "one", appStore: {offerId: "store_one"}, eligibility: {budget: {atMost: 1}}}]}]},

            """,
            "error: offers:6:17 /apps/1/bundleId: com.example.app is listed already; put its plans " + "into that one"
        ),
        IssueRow(
            "a rule that is none",
            "grants",
            "grant",
            "error: offers:12:80 /apps/0/plans/0/offers/1/eligibility/grant: is not a rule; did you " + "mean “grants”?"
                + ruleNames
        ),
        IssueRow(
            "a rule that is far from any",
            "grants",
            "lottery",
            "error: offers:12:82 /apps/0/plans/0/offers/1/eligibility/lottery: is not a rule" + ruleNames
        ),
        IssueRow(
            "two rules in one",
            "{grants: {atMost: 1}}",
            "{grants: {atMost: 1}, budget: {atMost: 1}}",
            "error: offers:12:72 /apps/0/plans/0/offers/1/eligibility: expected an object with one "
                + "member, named as a rule, found one with 2 members; to demand all of them, write { all: [ { … }, { … } ] }"
        ),
        IssueRow(
            "a list of rules",
            "{grants: {atMost: 1}}",
            "[{grants: {atMost: 1}}]",
            "error: offers:12:72 /apps/0/plans/0/offers/1/eligibility: expected an object with one "
                + "member, named as a rule, found an array; to demand all of its rules, write { all: [ … ] }"
        ),
        IssueRow(
            "no rule in the rule",
            "{grants: {atMost: 1}}",
            "{}",
            "error: offers:12:72 /apps/0/plans/0/offers/1/eligibility: expected an object with one "
                + "member, named as a rule, found one with 0 members"
        ),
        IssueRow(
            "a rule that is a text",
            "{grants: {atMost: 1}}",
            #""grants""#,
            "error: offers:12:72 /apps/0/plans/0/offers/1/eligibility: expected an object with one "
                + "member, named as a rule, found “grants”"
        ),
        IssueRow(
            "a cap of none",
            "atMost: 1",
            "atMost: 0",
            "error: offers:12:90 /apps/0/plans/0/offers/1/eligibility/grants/atMost: must be at " + "least 1"
        ),
        IssueRow(
            "a cap below none",
            "atMost: 1",
            "atMost: -1",
            "error: offers:12:90 /apps/0/plans/0/offers/1/eligibility/grants/atMost: -1 is negative"
        ),
        IssueRow(
            "a cap that is a text",
            "atMost: 1",
            #"atMost: "1""#,
            "error: offers:12:90 /apps/0/plans/0/offers/1/eligibility/grants/atMost: expected a "
                + "whole number, found the text “1”"
        ),
        IssueRow(
            "a cap with a fraction",
            "atMost: 1",
            "atMost: 1.5",
            "error: offers:12:90 /apps/0/plans/0/offers/1/eligibility/grants/atMost: expected a "
                + "whole number, found 1.5"
        ),
        IssueRow(
            "a cap without number",
            "atMost: 1",
            "perDays: 1",
            "error: offers:12:81 /apps/0/plans/0/offers/1/eligibility/grants/atMost: is missing; "
                + "expected a whole number"
        ),
        IssueRow(
            "a misspelt part of a rule",
            "atMost: 1",
            "atMost: 1, perDay: 1",
            "error: offers:12:101 /apps/0/plans/0/offers/1/eligibility/grants/perDay: is not a known "
                + "member; did you mean “perDays”? (known: atMost, counting, per, perDays, stores)"
        ),
        IssueRow(
            "a scope that is none",
            "atMost: 1",
            #"atMost: 1, per: "device""#,
            "error: offers:12:98 /apps/0/plans/0/offers/1/eligibility/grants/per: expected customer "
                + "or originalTransaction, found “device”"
        ),
        IssueRow(
            "a cap that counts what is sold",
            "atMost: 1",
            #"atMost: 1, counting: "sold""#,
            "error: offers:12:103 /apps/0/plans/0/offers/1/eligibility/grants/counting: expected granted "
                + "or redeemed, found “sold”"
        ),
        IssueRow("a cap that counts redemptions", "atMost: 1", #"atMost: 1, counting: "redeemed""#),
        IssueRow(
            "a budget that counts redemptions",
            "grants: {atMost: 1}",
            #"budget: {atMost: 1, counting: "redeemed"}"#,
            "error: offers:12:103 /apps/0/plans/0/offers/1/eligibility/budget/counting: is not a known "
                + "member (known: atMost, perDays, stores)"
        ),
        IssueRow(
            "an introductory offer whose uses are counted",
            plan,
            plan + #"introductoryOffer: {id: "trial", eligibility: {grants: {atMost: 1, counting: "redeemed"}}}, "#,
            "error: offers:9:88 /apps/0/plans/0/introductoryOffer/eligibility/grants/counting: can't be "
                + "“redeemed” of introductory offers: the App Store gives them without a grant too; use usedOffers"
        ),
        IssueRow(
            "a status that is none",
            "{grants: {atMost: 1}}",
            #"{status: {in: ["expird"]}}"#,
            "error: offers:12:87 /apps/0/plans/0/offers/1/eligibility/status/in/0: expected one of "
                + "active, expired, inGracePeriod, inBillingRetry, revoked, paused, found “expird”; did you mean "
                + "“expired”?"
        ),
        IssueRow(
            "an empty list",
            "{grants: {atMost: 1}}",
            "{status: {in: []}}",
            "error: offers:12:86 /apps/0/plans/0/offers/1/eligibility/status/in: must not be empty"
        ),
        IssueRow(
            "a list that is missing",
            "{grants: {atMost: 1}}",
            "{status: {}}",
            "error: offers:12:81 /apps/0/plans/0/offers/1/eligibility/status/in: is missing; " + "expected an array"
        ),
        IssueRow(
            "a country that is none",
            "{grants: {atMost: 1}}",
            #"{storefront: {in: ["US"]}}"#,
            "error: offers:12:91 /apps/0/plans/0/offers/1/eligibility/storefront/in/0: must be a "
                + "country in three capital letters, such as USA"
        ),
        IssueRow(
            "a time that is none",
            "{grants: {atMost: 1}}",
            #"{window: {from: "2026-13-01T00:00:00Z"}}"#,
            "error: offers:12:88 /apps/0/plans/0/offers/1/eligibility/window/from: expected a time "
                + "as RFC 3339 writes it, like 2026-11-21T08:00:00Z, found “2026-13-01T00:00:00Z”"
        ),
        IssueRow(
            "a window that ends before it begins",
            "{grants: {atMost: 1}}",
            #"{window: {from: "2026-02-01T00:00:00Z", until: "2026-01-01T00:00:00Z"}}"#,
            "error: offers:12:81 /apps/0/plans/0/offers/1/eligibility/window: leaves nothing between "
                + "its two bounds"
        ),
        IssueRow(
            "no bound",
            "{grants: {atMost: 1}}",
            "{lapsed: {}}",
            "error: offers:12:81 /apps/0/plans/0/offers/1/eligibility/lapsed: needs at least one of " + "its members"
        ),
        IssueRow(
            "bounds the wrong way round",
            "{grants: {atMost: 1}}",
            "{lapsed: {atLeastDays: 9, atMostDays: 8}}",
            "error: offers:12:81 /apps/0/plans/0/offers/1/eligibility/lapsed: leaves nothing between "
                + "its two bounds"
        ),
        IssueRow(
            "an on-off value that is a boolean",
            "{grants: {atMost: 1}}",
            "{autoRenew: true}",
            "error: offers:12:84 /apps/0/plans/0/offers/1/eligibility/autoRenew: expected “on” or "
                + "“off”, found true"
        ),
        IssueRow(
            "what contradicts the floor",
            "{grants: {atMost: 1}}",
            "{subscribedBefore: false}",
            "error: offers:12:91 /apps/0/plans/0/offers/1/eligibility/subscribedBefore: \(floor)"
        ),
        IssueRow(
            "what contradicts the floor, the other way round",
            "{grants: {atMost: 1}}",
            "{not: {subscribedBefore: true}}",
            "error: offers:12:97 /apps/0/plans/0/offers/1/eligibility/not/subscribedBefore: \(floor)"
        ),
        IssueRow(
            "an attribute without a test",
            "{grants: {atMost: 1}}",
            #"{attribute: {name: "tier"}}"#,
            "error: offers:12:84 /apps/0/plans/0/offers/1/eligibility/attribute: expected one test: "
                + "equals, in, atLeast and atMost, or exists"
        ),
        IssueRow(
            "an attribute with two tests",
            "{grants: {atMost: 1}}",
            #"{attribute: {name: "tier", equals: 1, exists: true}}"#,
            "error: offers:12:84 /apps/0/plans/0/offers/1/eligibility/attribute: expected one test: "
                + "equals, in, atLeast and atMost, or exists"
        ),
        IssueRow(
            "a fault deep inside",
            "{grants: {atMost: 1}}",
            #"{all: [{any: [{not: {cooldown: {days: 0}}}, {regoin: {in: ["US"]}}]}]}"#,
            "error: offers:12:125 /apps/0/plans/0/offers/1/eligibility/all/0/any/1/regoin: is not a "
                + "rule; did you mean “region”?" + ruleNames
        ),
        IssueRow(
            "thirteen levels",
            "{grants: {atMost: 1}}",
            String(repeating: "{not: ", count: 13) + "{grants: {atMost: 1}}" + String(repeating: "}", count: 13),
            "error: offers:12:144 "
                + "/apps/0/plans/0/offers/1/eligibility/not/not/not/not/not/not/not/not/not/not/not/not: "
                + "is nested more than 12 deep"
        ),
        IssueRow(
            "a missing comma",
            #""one", "#,
            #""one" "#,
            "error: offers:11:24 /apps/0/plans/0/offers/0: A comma or the closing bracket is "
                + "expected (at /apps/0/plans/0/offers/0, byte 257)."
        ),
        IssueRow(
            "everything at once",
            good,
            """
            {apps: [{bundleId: 1, plans: [{appStore: {productId: " "}, offers: [{id: "", appStore: {offerId: "\\n"},
              eligibility: {all: [{lapsd: {}}, {grants: {atMost: "many"}}]}}]}]}, 7]}
            """,
            "error: offers:1:20 /apps/0/bundleId: expected a string, found 1",
            "error: offers:1:54 /apps/0/plans/0/appStore/productId: holds a space at byte 0; a space "
                + "is allowed only alone and between two other characters",
            "error: offers:1:74 /apps/0/plans/0/offers/0/id: must not be empty",
            "error: offers:1:98 /apps/0/plans/0/offers/0/appStore/offerId: holds the character "
                + "U+000A at byte 0, which is not allowed",
            "error: offers:2:31 /apps/0/plans/0/offers/0/eligibility/all/0/lapsd: is not a rule; did "
                + "you mean “lapsed”?" + ruleNames,
            "error: offers:2:54 /apps/0/plans/0/offers/0/eligibility/all/1/grants/atMost: expected a "
                + "whole number, found “many”",
            "error: offers:2:71 /apps/1: expected an object, found a number"
        ),
    ]

    @Test(arguments: [
        (#"googlePlay: {offerId: "a"}"#, true), (#"googlePlay: {offerId: "a", admitsNewCustomers: false}"#, true),
        (#"googlePlay: {offerId: "a", admitsNewCustomers: true}"#, false), (#"appStore: {offerId: "a"}"#, true),
        (#"appStore: {offerId: "a"}, googlePlay: {offerId: "a", admitsNewCustomers: true}"#, true),
    ])
    func `refuses a rule for new customers only if the offer excludes them`(place: String, isRefused: Bool) throws {
        let directory = try TemporaryDirectory()
        for rule in ["{subscribedBefore: false}", "{not: {subscribedBefore: true}}"] {
            let text = """
                {apps: [{bundleId: "a.b", packageName: "a.b", plans: [{
                  appStore: {productId: "p"}, googlePlay: {productId: "p", basePlanId: "b"},
                  offers: [{id: "new", \(place), eligibility: \(rule)}]}]}]}
                """
            let path = try directory.write(Array(text.utf8), to: "offers")
            let error = Result { () throws(ConfigurationError) in try CatalogFile.read(path) }
            guard case .failure(let refusal) = error else {
                #expect(!isRefused, "\(rule)")
                continue
            }
            #expect(isRefused && refusal.issues.map(\.message) == [Self.floor], "\(refusal.issues)")
        }
    }

    @Test(arguments: rows + retentionRows)
    func `says what is wrong with offers, where, and what was expected`(row: IssueRow) async throws {
        let directory = try TemporaryDirectory()
        let files = TestFiles()
        _ = try TestService.write(files, into: directory)
        let text = Self.good.replacing(row.change.old, with: row.change.new, maxReplacements: 1)
        #expect(text != Self.good)
        try directory.write(Array(text.utf8), to: "offers")
        let settings = try TestService.settings(in: directory, files)
        #expect(issues(directory, settings).errors == row.issues)
    }
}
