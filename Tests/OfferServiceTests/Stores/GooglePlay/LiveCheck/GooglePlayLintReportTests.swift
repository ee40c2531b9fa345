// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import OfferDomain
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService
@testable import Stores

/// Lists the same for every app, or fails.
private struct SettledListing: GooglePlayListing {
    let subscriptions: Result<[JSONDocument], StoreError>
    var offers: [JSONDocument] = []

    func subscriptionPages(of packageName: PackageName) async throws(StoreError) -> [JSONDocument] {
        try subscriptions.get()
    }

    func offerPages(of packageName: PackageName) async throws(StoreError) -> [JSONDocument] { offers }
}

@Suite("Google Play: the live check's report")
struct GooglePlayLintReportTests {
    let app: GooglePlayApp
    let clock = SettableClock()

    init() throws {
        app = GooglePlayApp(
            packageName: ListedSample.key.packageName,
            name: AppName(ListedSample.key.packageName),
            hideTags: [try OfferTag("ignore-offer")]
        )
    }

    /// Offers of the team by their own names and the store's.
    private func report(
        _ offers: [(id: String, key: GooglePlayOfferKey)],
        _ listing: SettledListing,
        hasAccount: Bool = true
    ) async throws -> GooglePlayLintReport {
        let catalog = Catalog(
            apps: [],
            googlePlayApps: [app],
            offers: try offers.map {
                CatalogOffer(
                    id: try CatalogOfferID($0.id),
                    in: CatalogPlan(app: app.name),
                    listing: $0.key,
                    terms: OfferTerms(rule: nil)
                )
            },
            digest: SHA256.digest(of: [])
        )
        return await GooglePlayCheck(
            catalog: catalog,
            listing: listing,
            hasAccount: { _ in hasAccount },
            clock: clock.wallClock
        ).report()
    }

    @Test
    func `is as the documentation shows it`() async throws {
        let sample = try ListedSample()
        var subscription = sample.subscription.with(nil, at: "/basePlans/1")
        subscription = subscription.with(
            .text("black-friday"),
            at: "/basePlans/0/autoRenewingBasePlanType/legacyCompatibleSubscriptionOfferId"
        )
        func offer(_ id: String, _ changes: [(pointer: String, json: String)] = []) throws -> Tree {
            try changes.reduce(sample.offer.with(.text(id), at: "/offerId")) { offer, change in
                offer.with(try Tree("[\(change.json)]")[0], at: change.pointer)
            }
        }
        let offers = try [
            offer("winback-50"),
            offer("retention-30", [("/offerTags/0/tag", #""rc-ignore-offer""#)]),
            offer("student", [("/state", #""DRAFT""#)]),
            offer("trial-7d", [("/targeting", #"{"acquisitionRule":{"scope":{"thisSubscription":{}}}}"#)]),
            offer("black-friday"),
            offer("summer", [("/offerTags", "[]")]),
        ]
        let listing = SettledListing(
            subscriptions: .success([try JSONDocument(listing: #"{"subscriptions":[\#(subscription.json)]}"#)]),
            offers: [try JSONDocument(listing: #"{"subscriptionOffers":\#(Tree.array(offers).json)}"#)]
        )
        let report = try await report(
            [
                ("winback", .of("premium", "monthly", "winback-50")),
                ("retention", .of("premium", "monthly", "retention-30")),
                ("student", .of("premium", "monthly", "student")),
                ("loyalty", .of("premium", "monthly", "loyalty-20")),
                ("black-friday", .of("premium", "monthly", "black-friday")),
            ],
            listing
        )
        #expect(report.verdict == .wrong)
        #expect(report.lines.allSatisfy { $0.count <= 115 })
        let text = report.lines.map { "\($0)\n" }.joined()
        #expect(try Repository.text("docs/google-play.md").contains("```text\n\(text)```\n"), "\(text)")
    }

    @Test
    func `is good where there is nothing to fix`() async throws {
        let sample = try ListedSample()
        let listing = SettledListing(
            subscriptions: .success([try JSONDocument(listing: #"{"subscriptions":[\#(sample.subscription.json)]}"#)]),
            offers: [try JSONDocument(listing: #"{"subscriptionOffers":[\#(sample.offer.json)]}"#)]
        )
        let report = try await report([("winback", sample.key)], listing)
        #expect(report.verdict == .good)
        #expect(
            report.lines == [
                "Subscriptions and offers that Google Play lists for each app:", "",
                "com.example.app  1 subscription, 1 offer; 1 of 1 in the offers file can be authorized", "",
                "0 errors, 0 warnings, 0 notes.",
            ]
        )
    }

    @Test(arguments: [
        (StoreError.unavailable(retryAfter: nil), LiveVerdict.unreachable),
        (.rateLimited(retryAfter: nil), .unreachable),
        (.credentialsRefused, .wrong), (.notPermitted(reason: "permissionDenied"), .wrong),
        (.appUnknown(code: 404), .wrong), (.badAnswer(reason: "it is none"), .wrong),
        (.requestRefused(status: 403, code: 0), .wrong), (.cannotSign(reason: "no record"), .unreachable),
    ])
    func `says why an app could not be read`(error: StoreError, verdict: LiveVerdict) async throws {
        let report = try await report([], SettledListing(subscriptions: .failure(error)))
        #expect(report.verdict == verdict)
        #expect(report.lines.contains("com.example.app  not read: \(error.label)"))
        #expect(report.lines.last == "0 errors, 0 warnings, 0 notes; 1 app not read.")
    }

    @Test
    func `says that an app has no account`() async throws {
        let report = try await report([], SettledListing(subscriptions: .success([])), hasAccount: false)
        #expect(report.verdict == .wrong)
        #expect(report.lines.contains("com.example.app  not asked: no service account of the keys file names it"))
    }

    @Test
    func `is as bad as the worse of both stores'`() async throws {
        let wrong = try await report([], SettledListing(subscriptions: .failure(.credentialsRefused)))
        let down = try await report([], SettledListing(subscriptions: .failure(.unavailable(retryAfter: nil))))
        let good = try await report([], SettledListing(subscriptions: .success([])))
        // Nothing to ask is wrong at the App Store, where an app needs a key.
        let keyless = LiveReport(entries: [])
        #expect(LiveReports(appStore: nil, googlePlay: good).verdict == .good)
        #expect(LiveReports(appStore: nil, googlePlay: down).verdict == .unreachable)
        #expect(LiveReports(appStore: nil, googlePlay: wrong).verdict == .wrong)
        #expect(LiveReports(appStore: keyless, googlePlay: good).verdict == .wrong)
        #expect(LiveReports(appStore: keyless, googlePlay: down).verdict == .wrong)
        #expect(LiveReports(appStore: nil, googlePlay: nil).verdict == .good)
        #expect(LiveReports(appStore: keyless, googlePlay: good).lines == keyless.lines + [""] + good.lines)
    }

    @Test
    func `is good of no apps at all`() {
        #expect(GooglePlayLintReport(entries: []).verdict == .good)
    }
}

@Suite("Google Play: the documentation")
struct GooglePlayDocumentationTests {
    @Test
    func `has each reason as a heading, and no other`() throws {
        let text = try Repository.text("docs/google-play.md")
        let headings = text.split(separator: "\n").compactMap { line in
            line.hasPrefix("### `") ? line.dropFirst(5).prefix { $0 != "`" } : nil
        }
        let codes = Set(LadderRow.all.map(\.code)).union(GooglePlayFinding.Code.allCases.map(\.rawValue))
        #expect(headings.count == Set(headings).count)
        #expect(Set(headings.map(String.init)) == codes)
    }
}
