// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import OfferDomain
import OfferService
import Storage
import Testing

@testable import Ledger

extension TestService {
    /// Records that the customer was issued an account ID, as an authorization does, and returns the ID.
    func giveOutAccountID(of customer: CustomerIdentity, in app: AppName) throws -> String {
        let pseudonyms = current.value.pseudonyms
        let account = GooglePlayPseudonyms(pseudonyms, in: app).accountID(of: customer)
        let connection = try ledger.openPatiently()
        try connection.run(
            SQL(
                """
                INSERT INTO google_play_accounts (account, customer, entry_index) VALUES (?, ?, 0)
                ON CONFLICT DO NOTHING
                """,
                .blob(account.key),
                .blob(pseudonyms.pseudonym(of: customer, in: app).ledgerKey)
            )
        )
        return account.text
    }
}

/// A service beside a scripted Google Play.
struct PlayService: Sendable {
    let service: TestService
    let play: ScriptedPlay

    static let packageName = "com.example.android"

    /// The account ID that the customer's purchases carry; this call issues it.
    func accountID(_ customer: String) throws -> String {
        try service.giveOutAccountID(of: Self.identity(customer), in: place.app.name)
    }

    /// Names of devices are anonymous ids.
    private static func identity(_ name: String) throws -> CustomerIdentity {
        name.hasPrefix("device") ? .anonymous(try AnonymousID(name)) : .customer(try CustomerID(name))
    }

    func pseudonym(_ customer: String) throws -> Pseudonym {
        service.current.value.pseudonyms.pseudonym(of: try Self.identity(customer), in: try place.app.name)
    }

    var place: PlayContext {
        get throws {
            try #require(PlayContext(try PackageName(Self.packageName), in: service.current.value.evidence))
        }
    }

    /// The offer of that id of the base plan `monthly` of `premium`.
    func offer(_ id: String = "winback-50") throws -> CatalogOffer {
        let path = GooglePlayOfferPath(productID: "premium", basePlanID: "monthly", offerID: id)
        return try #require(try place.offer(path))
    }

    /// Puts a grant on record, as an authorization does, and answers its id.
    @discardableResult
    func grant(to customer: String, offer id: String = "winback-50", daysAgo: Double) throws -> UniqueID {
        let instant = PlaySample.now.adding(milliseconds: Int64(-daysAgo * 86_400_000))
        let grant = UniqueID.version7(at: instant, UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
        let connection = try service.ledger.openPatiently()
        try connection.run(
            SQL(
                "INSERT INTO grants (subject, offer_key, grant_id, entry_index) VALUES (?, ?, ?, 0)",
                .blob(try pseudonym(customer).ledgerKey),
                .integer(try offer(id).ledgerKey),
                .blob(grant.bytes)
            )
        )
        try connection.run(
            SQL(
                """
                INSERT INTO issued_grants (grant_id, offer_key, granted_at, account, entry_index) VALUES (?, ?, ?, ?, 0)
                """,
                .blob(grant.bytes),
                .integer(try offer(id).ledgerKey),
                .integer(instant.milliseconds),
                .blob(try pseudonym(customer).ledgerKey)
            )
        )
        return grant
    }

    func mark(_ grant: UniqueID, offer id: String = "winback-50") throws -> String {
        try place.keys.mark(of: grant, for: try offer(id).ledgerKey).text
    }

    // MARK: - Pushing

    /// A notification that a subscription has changed.
    static func change(_ type: Int, _ token: String, sentDaysAgo: Double = 0, package: String = packageName) -> String {
        notification(
            #""subscriptionNotification":{"version":"1.0","notificationType":\#(type),"purchaseToken":"\#(token)"}"#,
            sentDaysAgo: sentDaysAgo,
            package: package
        )
    }

    static func voided(
        _ token: String,
        productType: Int = 1,
        refundType: Int = 1,
        sentDaysAgo: Double = 0
    ) -> String {
        let members = """
            "purchaseToken":"\(token)","orderId":"GPA.1","productType":\(productType),"refundType":\(refundType)
            """
        return notification(#""voidedPurchaseNotification":{\#(members)}"#, sentDaysAgo: sentDaysAgo)
    }

    static func notification(
        _ body: String,
        sentDaysAgo: Double = 0,
        package: String = packageName
    ) -> String {
        let sentAt = PlaySample.now.milliseconds - Int64(sentDaysAgo * 86_400_000)
        return #"{"version":"1.0","packageName":"\#(package)","eventTimeMillis":"\#(sentAt)",\#(body)}"#
    }

    static func push(_ notification: String, id: String, token: String? = "genuine") -> Call {
        let data = Data(notification.utf8).base64EncodedString()
        let message =
            #"{"data":"\#(data)","messageId":"\#(id)","message_id":"\#(id)","publishTime":"2026-07-01T12:00:00Z","#
            + #""publish_time":"2026-07-01T12:00:00Z","attributes":{}}"#
        return push(body: #"{"message":\#(message),"subscription":"projects/p/subscriptions/s"}"#, token: token)
    }

    static func push(body: String, token: String? = "genuine") -> Call {
        let call = Call(
            path: "/v1/notifications/google-play",
            fields: [("Content-Type", "application/json")],
            body: Array(body.utf8)
        )
        return token.map { call.with("Authorization", "Bearer \($0)") } ?? call
    }

    /// Pushes, and demands that it is acknowledged.
    func deliver(_ notification: String, id: String) async throws {
        let reply = try await service.send(Self.push(notification, id: id))
        #expect(reply.status == 204 && reply.body.isEmpty, "\(reply)")
    }

    // MARK: - What is known

    /// Every row of the tables with Google Play's data, as SQL literals.
    func tables() throws -> [String] { try service.rows(Self.queries) }

    /// The redemptions, each as its offer and its state, and how a grant was found for it.
    func redemptions() throws -> [String] {
        try service.rows([
            """
            SELECT offer_id || ' ' || state || ' ' || coalesce(matched_by, 'without grant')
            FROM redemptions ORDER BY redeemed_at, subscription
            """
        ])
    }

    func forget() throws {
        let connection = try service.ledger.openPatiently()
        for statement: StaticString in [
            "DELETE FROM subscription_records", "DELETE FROM subscription_customers",
            "DELETE FROM store_notifications", "DELETE FROM redemptions",
        ] {
            _ = try connection.run(SQL(statement))
        }
    }

    private static let queries: [StaticString] = [
        """
        SELECT 'purchase ' || quote(subscription) || quote(record) || quote(marked_grant)
        FROM subscription_records ORDER BY subscription
        """,
        """
        SELECT 'customer ' || quote(subject) || quote(store) || quote(subscription)
        FROM subscription_customers ORDER BY subject, subscription
        """,
        """
        SELECT 'message ' || quote(notification_id) || quote(store) || quote(sent_at)
        FROM store_notifications ORDER BY notification_id
        """,
        """
        SELECT 'redemption ' || quote(subscription) || quote(product_id) || quote(base_plan_id) || quote(offer_id)
            || quote(offer_key) || quote(state) || quote(redeemed_at) || quote(settled_at) || quote(grant_id)
            || quote(matched_by) || quote(refunded_at) || quote(refunded_millipercent)
        FROM redemptions ORDER BY subscription, product_id, base_plan_id, offer_id
        """,
    ]
}

/// Runs `body` beside a service and a scripted Google Play.
func withPlayService(
    _ wire: Wire = .inProcess,
    wrap: @escaping TestService.Wrap = { $0 },
    _ body: (PlayService) async throws -> Void
) async throws {
    let play = ScriptedPlay()
    var files = TestFiles()
    files.offers = playOffers
    files.googlePlay = play
    try await withService(wire, files, wrap: wrap) { try await body(PlayService(service: $0, play: play)) }
}

private let playOffers = """
    {
      apps: [{
        bundleId: "com.example.app",
        packageName: "\(PlayService.packageName)",
        plans: [{
          googlePlay: {productId: "premium", basePlanId: "monthly"},
          offers: [
            {id: "back", googlePlay: {offerId: "winback-50"}},
            {id: "stay", googlePlay: {offerId: "stay-20"}},
          ],
        }],
      }],
    }
    """
