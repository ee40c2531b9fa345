// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import OfferDomain
import OfferService
import TestSupport
import Testing

@testable import Ledger

/// A service, and a fake Google Play that it asks and that pushes to it.
struct FakePlayWorld {
    let service: TestService
    let play: FakeGooglePlay
    static let appStoreKeys = """
        keys: [{id: "ACTIVE0001", issuerId: "\(TestFiles.issuerID)", file: "active.p8", bundleIds: ["com.example.app"],
          purposes: ["promotional-offer", "introductory-offer-eligibility"]}],
        """

    private var known: PlayService { PlayService(service: service, play: ScriptedPlay()) }

    init(service: TestService, play: FakeGooglePlay) {
        self.service = service
        self.play = play
    }

    func redemptions() throws -> [String] { try known.redemptions() }

    func facts(_ token: String) throws -> CustomerFacts {
        let place = try #require(
            PlayContext(try PackageName(FakeGooglePlay.firstApp), in: service.current.value.evidence)
        )
        let purchases = PurchaseTable(connection: try service.ledger.openForReading())
        let scope = GooglePlayScope(productID: try GooglePlayProductID("premium")) { _ in .promotional }
        let key = place.keys.purchaseKey(of: try PurchaseToken(token))
        return try purchases.history(of: [], purchases: [key]).facts(scope, at: service.clock.now)
    }

    /// Lets time pass for the service, so that what it asks next is newer.
    func tick(seconds: Int = 1) { service.clock.advance(seconds: seconds) }

    func authorize(_ customer: String) async throws -> Tree {
        let body = """
            {"packageName": "\(FakeGooglePlay.firstApp)", "productId": "premium", "basePlanId": "monthly",
             "offerId": "winback-50", "customerId": "\(customer)", "facts": {"subscribedBefore": true}}
            """
        var call = service.call(as: "backend", body)
        call.path = "/v1/google-play/offers/authorizations"
        let reply = try await service.send(call)
        #expect(reply.status == 200, "\(reply)")
        return reply.json
    }

    /// A request for an authorization of the offer `winback-50` of `premium`, with `changes` to its members.
    func authorizationCall(as caller: String = "backend", _ members: String, offer: String = "winback-50") -> Call {
        let body = """
            {"packageName": "\(FakeGooglePlay.firstApp)", "productId": "premium", "basePlanId": "monthly",
             "offerId": "\(offer)", \(members)}
            """
        var call = service.call(as: caller, body)
        call.path = "/v1/google-play/offers/authorizations"
        return call
    }

    /// A request for the eligibility preview of many offers.
    func eligibilityCall(as caller: String = "backend", _ members: String) -> Call {
        var call = service.call(as: caller, "{\(members)}")
        call.path = "/v1/eligibility"
        return call
    }

    func buy(account: String?, profile: String?) throws -> FakeGooglePlay.Outcome {
        tick()
        return try play.buy(
            .init("premium", offer: "winback-50", obfuscatedAccountID: account, obfuscatedProfileID: profile)
        )
    }

    func call(_ messageID: String, changing changes: FakeGooglePlay.MessageChanges = .init()) throws -> Call {
        let message = try play.push(messageID, changing: changes)
        return Call(
            path: "/v1/notifications/google-play",
            fields: [("Content-Type", "application/json"), ("Authorization", message.authorization)],
            body: Array(message.body.utf8)
        )
    }

    func push(_ messageID: String, changing changes: FakeGooglePlay.MessageChanges = .init()) async throws -> Reply {
        try await service.send(try call(messageID, changing: changes))
    }

    func deliver(_ outcome: FakeGooglePlay.Outcome) async throws {
        for id in outcome.messageIDs {
            let reply = try await push(id)
            #expect(reply.status == 204, "\(reply)")
        }
    }

    func happen(_ event: FakeGooglePlay.Event, to token: String) async throws {
        tick()
        try await deliver(try play.happen(event, to: token))
    }
}

/// Runs a service beside a fake Google Play, which has the subscription `premium` and its offer `winback-50`; `offers` is
/// the catalog, one offer without a rule unless it is given.
func withFakePlay(
    _ wire: Wire = .loopback,
    offers: String? = nil,
    appStoreKey: Bool = false,
    disk: DiskReserve.Room? = nil,
    settings: [Setting: String] = [:],
    _ body: (FakePlayWorld) async throws -> Void
) async throws {
    let play = try FakeGooglePlay()
    defer { play.stop() }
    try play.setSubscription(.init("premium", basePlans: [.init("monthly"), .init("yearly")]))
    try play.setOffer(.init("winback-50", of: "premium"))
    let account = try play.addServiceAccount()
    var files = TestFiles()
    files.disk = disk
    files.keys = """
        {\(appStoreKey ? FakePlayWorld.appStoreKeys : "")
          googleServiceAccounts: [{packageNames: ["\(FakeGooglePlay.firstApp)"], file: "\(account.path)"}],
          customerIds: {epoch: "1", file: "customer-ids.key"},
          auditLog: {origin: "example.com/log", file: "audit-log.key"},
        }
        """
    files.offers =
        offers ?? """
            {
              apps: [{
                packageName: "\(FakeGooglePlay.firstApp)",
                plans: [{
                  googlePlay: {productId: "premium", basePlanId: "monthly"},
                  offers: [{id: "back", googlePlay: {offerId: "winback-50"}}],
                }],
              }],
            }
            """
    files.privateKeys = appStoreKey ? ["active.p8"] : []
    files.settings = [
        .googlePlayURL: play.origin(), .googleOAuthURL: play.origin(), .googleCertsURL: play.origin(),
        .playIntegrityURL: play.origin(),
        .trustedCertificates: play.tlsCAPath, .googlePushAudience: FakeGooglePlay.pushIdentity.audience,
        .googlePushEmail: FakeGooglePlay.pushIdentity.email,
    ].merging(settings) { $1 }
    let clock = SettableClock(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    try await withService(wire, files, clock: clock) { service in
        try await body(FakePlayWorld(service: service, play: play))
    }
}
