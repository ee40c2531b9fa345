// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import OfferDomain
import ServiceRuntime
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// For which calls, offers and instances proofs of App Attest hold.
struct GenuineAppReachTests {
    @Test func `an introductory offer can demand a proof of its own`() async throws {
        let device = try TestDevice(at: SettableClock().now)
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        var files = TestFiles.introductory
        files.offers = files.offers
            .replacing(
                "bundleId: \"com.example.app\",",
                with: #"bundleId: "com.example.app", appAttest: {teamId: "ABCDE12345", policy: "off"},"#
            )
            .replacing(#"{id: "trial"},"#, with: #"{id: "trial", genuineApp: "require"},"#)
            .replacing(
                #""com.example.other","#,
                with: #""com.example.other", appAttest: {teamId: "ABCDE12345", policy: "off"},"#
            )
        files.settings[.appStoreRoots] = try directory.write(try device.rootPEM, to: "roots.pem")
        try await withService(.inProcess, files) { service async throws in
            var device = device
            #expect(try await service.register(device).status == 200)
            let token = #""transactionId": "2000000123456789""#
            let call = service.introductoryCall(as: "app", token)
            #expect(try await service.send(call).problem == "genuine-app-required")
            let reply = try await service.send(device.signed(call, try await service.challenge()))
            #expect(reply.problem != "genuine-app-required" && reply.problem != "genuine-app-refused", "\(reply)")
            let free = service.introductoryCall(as: "app", product: "pro.weekly", token)
            #expect(try await service.send(free).problem != "genuine-app-required", "its own policy")
        }
    }

    @Test func `a proof counts for its own app, and for offers of its own store`() async throws {
        try await withService(.inProcess) { service async throws in
            let (app, other) = (AppName(try BundleID("com.example.app")), AppName(try BundleID("com.example.other")))
            let context = RequestContext(
                id: .version7(at: service.clock.now, 1, 2),
                receivedAt: service.clock.now,
                snapshot: service.current.value,
                caller: Caller(id: .service, role: .app, apps: [])
            )
            let rows: [(GenuineApp.Evidence, Store)] = [
                (.appAttest(.production), .appStore), (.playIntegrity(.device, isLicensed: true), .googlePlay),
            ]
            for (evidence, store) in rows {
                let proven = context.with(.genuine(GenuineApp(app: app, evidence: evidence, origin: nil)))
                for asked in [Store.appStore, .googlePlay] {
                    #expect((proven.proof(of: app, at: asked) != nil) == (asked == store), "\(evidence), \(asked)")
                    #expect(proven.proof(of: other, at: asked) == nil, "\(evidence), \(asked)")
                }
            }
        }
    }

    private static let required = #"appAttest: {teamId: "ABCDE12345", policy: "require"},"#

    @Test func `other vendors' calls give an app nothing where a proof is needed`() async throws {
        try await withStoreService(
            asksStore: false,
            changing: { $0.offers = $0.offers.replacing("appAppleId:", with: "\(Self.required) appAppleId:") }
        ) { world async throws in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            try await world.deliver(.init("SUBSCRIBED", transactionID: ids.originalTransactionID))
            let service = world.service
            let apple = """
                {"appBundleID": "com.example.app", "productID": "com.example.monthly", "offerID": "store_open", \
                "applicationUsername": "\(world.token)"}
                """
            let sample = service.call(as: "app", apple).at("/compat/apple-sample/offer")
            #expect(try await service.send(sample).status == 403)
            let backend = service.call(as: "backend", apple).at("/compat/apple-sample/offer")
            #expect(try await service.send(backend).status == 200, "a backend is no app")
            let signed = try world.store.signTransaction(ids.originalTransactionID)
            let cat = RevenueCatTests.call(.init(token: signed), to: service)
            let reply = try await service.send(cat)
            #expect(reply.status == 200 && reply.body.contains("signature_error"), "\(reply)")
            let qonversion = """
                {"product": "com.example.monthly", "app_account_token": "\(world.token)", \
                "app_bundle_id": "com.example.app"}
                """
            let call = service.call(as: "app", qonversion)
                .at("/compat/qonversion/v3/users/QON_0a1b2c3d/offers/store_open/signatures")
            #expect(try await service.send(call).status == 422)
            #expect(try service.entries("sign.intent").count == 1)
        }
    }

    @Test func `a user's token is no proof of the app`() async throws {
        let provider = try FakeIdentityProvider()
        let entry = """
            [{issuer: "\(provider.issuer)", audience: "offer-signer", bundleIds: ["com.example.app"], name: "login"}]
            """
        try await withStoreService(
            asksStore: false,
            identityProviders: entry,
            changing: { $0.offers = $0.offers.replacing("appAppleId:", with: "\(Self.required) appAppleId:") }
        ) { world async throws in
            let token = try UserToken(provider.issuer, of: "anna", at: world.service.clock.now).text(provider)
            let body = """
                {"bundleId": "com.example.app", "productId": "com.example.monthly", "offerId": "open"}
                """
            let call = Call(body: Array(body.utf8)).with("Content-Type", "application/json")
                .with("Authorization", "Bearer \(token)")
            #expect(try await world.service.send(call).problem == "genuine-app-required")
        }
    }

    @Test func `a batch counts at the key's rate by its items`() async throws {
        let device = try TestDevice(at: SettableClock().now)
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        var files = try genuineFiles(device, in: directory)
        files.settings[.appRatePerCustomer] = "1/min:4"
        try await withService(.inProcess, files) { service async throws in
            var device = device
            #expect(try await service.register(device).status == 200)
            let challenge = try await service.challenge()
            let items = Array(repeating: genuineBody(), count: 3).joined(separator: ", ")
            let batch = service.call(as: "app", #"{"requests": [\#(items)]}"#)
                .at("/v1/app-store/promotional-offers/signatures/batch")
            #expect(try await service.send(device.signed(batch, challenge)).status == 200)
            let call = service.call(as: "app", genuineBody())
            #expect(try await service.send(device.signed(call, challenge)).problem == "eligibility-undecided")
            #expect(try await service.send(device.signed(call, challenge)).problem == "rate-limited")
        }
    }

    @Test func `idle keys and spent tokens are deleted where none comes any more`() async throws {
        try await withGenuineApp { service, device async throws in
            #expect(try await service.register(device).status == 200)
            let table = SpentTokenTable(connection: try service.ledger.openPatiently())
            for number in 0..<100 {
                _ = try table.spend(SHA256.digest(of: [UInt8(number)]), at: service.clock.now)
            }
            func look() async throws -> [Int] {
                let recorder = UnredeemedRecorder(
                    ledger: service.ledger,
                    committer: service.committer,
                    clock: service.clock.wallClock,
                    log: Log(level: .debug, clock: service.clock.wallClock, sink: service.log.sink)
                )
                await mayBlock { recorder.look() }
                return try [
                    service.rows(["SELECT hex(key_id) FROM app_attest_keys"]).count,
                    service.rows(["SELECT hex(request_key) FROM spent_integrity_tokens"]).count,
                ]
            }
            #expect(try await look() == [1, 100])
            service.clock.advance(hours: 24 * 400)
            #expect(try await look() == [1, 0])
            service.clock.advance(hours: 24)
            #expect(try await look() == [0, 0])
        }
    }

    @Test(.overBothEngines, .aboutPostgreSQL)
    func `instances that share a database share the counter of a key`() async throws {
        let device = try TestDevice(at: SettableClock().now)
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        var files = try genuineFiles(device, in: directory)
        let place = try RunningPlace(files)
        let asked = try place.app(genuineBody())
        let challenges = try place.app(#"{"bundleId": "com.example.app"}"#).at("/v1/app-attest/challenges")
        files.settings[.checkpointFile] = directory.path(of: "other.checkpoint")
        let settings = try TestService.settings(in: place.directory, files)
        try await place.run { first async throws in
            let second = try Service(
                settings: settings,
                dependencies: Dependencies(
                    clock: place.clock.wallClock,
                    random: try SystemRandom(),
                    log: Log(level: .debug, clock: place.clock.wallClock, sink: place.log.sink)
                )
            )
            try second.start()
            let outcome: Result<Void, any Error>
            do {
                let answer = try await place.send(challenges, to: second)
                let challenge = try #require(answer.json["challenge"].text, "\(answer)")
                let registration = try place.app(device.registration(challenge)).at("/v1/app-attest/keys")
                #expect(try await place.send(registration, to: first).status == 200)
                var taken: [Bool] = []
                for (counter, service) in [(1, second), (1, first), (2, first), (2, second), (3, second), (1, first)] {
                    let call = try device.assertion(for: asked, challenge, counter: UInt32(counter))
                    taken.append(try await place.send(call, to: service).isPastProof)
                }
                #expect(taken == [true, false, true, false, true, false])
                outcome = .success(())
            } catch {
                outcome = .failure(error)
            }
            await mayBlock { second.stop() }
            try outcome.get()
        }
    }

    @Test func `what else the secret makes begins with other bytes than customers' names`() throws {
        let token = UniqueID.version4(1, 2)
        let identities: [CustomerIdentity] = [
            .customer(try CustomerID("1")), .anonymous(try AnonymousID("1")), .appAccountToken(token),
            .claimedAppAccountToken(token), .originalTransaction(try TransactionID("1")),
            .appTransaction(try TransactionID("1")),
        ]
        let names = Set(identities.compactMap(\.capBytes.first))
        #expect(names.count == 4 && names.isDisjoint(with: Pseudonyms.Use.allCases.map(\.rawValue)))
    }
}
