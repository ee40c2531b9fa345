// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import OfferDomain
import TestSupport
import Testing
import TransparencyLog

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// What an entry of the audit log holds, and what it never does.
@Suite(.overBothEngines) struct AuditEntryTests {
    @Test func `records the digest that the signature verifies over, and the key that made it`() async throws {
        try await withService { service in
            let key = try #require(service.publicKeys["active.p8"])
            let reply = try await service.sign(offer: "open", #""formats": ["v1", "jws"], "customerId": "ada""#)
            let signed = SignedAnswer(reply)
            let entries = try service.entries("sign.intent")
            let v1 = try #require(entries.first { $0["fmt"] == .text("v1") })
            #expect(v1["digest"] == .text(SHA256.digest(of: signed.payload).hex))
            let jws = try #require(entries.first { $0["fmt"] == .text("jws") })
            #expect(jws["digest"].text == signed.jwsDigest?.hex && jws["digest"] != v1["digest"])
            for entry in entries {
                #expect(entry["bundle"] == .text("com.example.app") && entry["product"] == .text("pro.monthly"))
                #expect(entry["offer"] == .text("store_open") && entry["rule"] == .text("open"))
                #expect(entry["caller"] == .text("backend") && entry["kid"] == .text("ACTIVE0001"))
                #expect(entry["spki"] == .text(key.spkiSHA256.hex))
                #expect(entry["nonce"] == reply.json["nonce"] && entry["grant"] == reply.json["grantId"])
                #expect(entry["ts"] == reply.json["timestamp"])
                #expect(entry["rules"] == reply.json["decision"]["policy"])
                #expect(entry["users"].elements.count == 1)
                #expect(entry["users"][0].text?.hasPrefix("hmac:1:") == true)
            }
        }
    }

    @Test func `writes canonical JSON, as Python's writer has it`() async throws {
        try await withService { service in
            let client = #""client": {"version": "1 \"\\\" 2", "storeKit": 1, "os": "iOS", "library": "x"}"#
            _ = try await service.sign(offer: "open", #""formats": ["v1", "jws"], "customerId": "ada", \#(client)"#)
            for offer in ["gold", "once"] { _ = try await service.sign(offer: offer) }
            for name in service.credentials.keys { _ = try await service.sign(as: name, offer: "open") }
            try await service.transfer(from: "device-1", to: "ada")
            try await service.store(#"{"tier": "gold"}"#, of: "ada")
            #expect(try await service.sign(offer: "gold", #""customerId": "ada""#).status == 200)
            let now = service.clock.now
            let samples = try Self.events()
            let decisions: Set<AuditEventName> = [.signIntent, .signDeny, .authorizeIntent, .authorizeDeny]
            // Of these there are entries of the service's own, below and in AppAccountTokenTests.
            let others: Set<AuditEventName> = [
                .customerTransferred, .customerAttributes, .storeNotification, .accountIntent, .accountOutcome,
            ]
            #expect(Set(samples.map(\.name)).union(decisions).union(others) == Set(AuditEventName.allCases))
            let events = samples.map {
                String(decoding: AuditEntry.bytes(of: $0, recordedAt: now), as: UTF8.self)
            }
            let bare = try Tree(String(decoding: AuditEntry.bytes(of: .serviceStopped, recordedAt: now), as: UTF8.self))
            let withoutDetails = try zip(samples, events).filter { try Tree($1).names.count == bare.names.count }
            #expect(Set(withoutDetails.map(\.0.name)) == [.serviceStop, .ledgerLeft])
            let entries = try service.entries() + events
            #expect(entries.count > 20)
            let rewritten = try await Python.canonicalJSON(of: entries)
            #expect(rewritten == entries)
            for entry in try entries.map(Tree.init) {
                #expect(entry.names.isSuperset(of: ["ev", "t", "v"]), "\(entry)")
            }
        }
    }

    /// One event of each kind that is no decision, with texts that want escaping.
    static func events() throws -> [AuditEvent] {
        let keyID = try KeyID("ACTIVE0001")
        let caller = try #require(CallerID("backend"))
        let grantID = UniqueID.version4(1, 2)
        let account = GoogleAccountName(
            email: try #require(GoogleEmail("signer@example.iam.gserviceaccount.com")),
            keyID: try #require(GoogleKeyID("0123456789abcdef"))
        )
        let time = Timestamp(milliseconds: 1_782_907_200_123)
        return try [
            .key(
                .signatureFailed(
                    grantID: grantID,
                    keyID: keyID,
                    form: .v1,
                    reason: "a \"quote\", a \\, a\ttab\u{1F}\u{7F} é"
                )
            ),
            .serviceStarted(version: "0.1.0"), .serviceStopped, .records(.resumed(since: time)),
            .key(.loaded(keyID: keyID, publicKeyDigest: "00", status: .retiring)), .key(.disabled(keyID, by: .command)),
            .key(.enabled(keyID, by: .caller(caller))),
            .configurationLoaded(policyName: "sha256:00", keysDigest: "00", settingsDigest: "00"),
            .configurationRefused(issues: 3, parts: [.keys, .customerIDs]),
            .caller(.created(caller, role: .backend, keyID: "0123456789abcdef")),
            .caller(.keyAdded(caller, keyID: "0123456789abcdef")), .caller(.revoked(caller, keyID: nil)),
            .caller(.sessionBegun(caller, role: .auditor, expiresAt: time)), .caller(.sessionEnded(caller)),
            .caller(.sessionEnded(caller, count: .max)),
            .caller(.revoked(caller, keyID: "0123456789abcdef")), .records(.exported(from: 0, count: .max)),
            .subscriptionTransferred(
                SubscriptionTransfer(
                    subscription: [1],
                    from: [2],
                    to: [3],
                    store: .googlePlay(try PackageName("com.a"))
                )
            ),
            .key(.serviceAccountLoaded(account, publicKeyDigest: "00")),
            .key(.googleAssertionSigned(account, digest: "00", expiresAt: time)),
            .signatureDiagnosed(
                DiagnosisRecord(
                    caller: caller,
                    digest: "00",
                    verdict: "payload-differs",
                    findings: ["nonce-case"],
                    app: try BundleID("com.example.app")
                )
            ),
        ] + stopEvents(caller) + readingEvents(caller) + googlePlayEvents() + grantEvents(grantID)
    }

    /// What became of grants, with and without the members that may be missing.
    private static func grantEvents(_ grantID: UniqueID) throws -> [AuditEvent] {
        let time = Timestamp(milliseconds: 1_782_907_200_123)
        let bundleID = try BundleID("com.example.app")
        let unredeemed = [("app-store", nil), ("google-play", "monthly")].map { store, basePlanID in
            UnredeemedGrant(
                grantID: grantID,
                grantedAt: time,
                place: ReconciliationReport.AppInStore(store: store, app: bundleID.text),
                productID: "pro.monthly",
                basePlanID: basePlanID,
                offerID: "store_open",
                rule: "open"
            )
        }
        let missed = [nil, #"quoted "library" \ 1"#].map { client in
            BoughtWithoutOffer(
                grantID: grantID,
                chain: ChainKey([1, 2]),
                bundleID: bundleID,
                productID: "pro.monthly",
                offerID: "store_open",
                rule: "open",
                environment: .sandbox,
                purchasedAt: time,
                client: client
            )
        }
        return unredeemed.map(AuditEvent.grantUnredeemed)
            + missed.map { AuditEvent.boughtWithoutOffer($0, namesGrant: $0.client != nil) }
    }

    private static func stopEvents(_ caller: CallerID) throws -> [AuditEvent] {
        let time = Timestamp(milliseconds: 1_782_907_200_123)
        let seal = ActiveSeal(
            cause: .administrator,
            since: time,
            detail: "a \"quote\" and a \\",
            requester: .caller(caller),
            isRecorded: false
        )
        return [
            .serviceSealed(seal), .serviceSealed(seal, isAwaited: true), .sealAcknowledged(.clockStepped),
            .key(.acknowledged(try KeyID("ABC123DEFG"))),
            .key(.disabled(try KeyID("ABC123DEFG"), by: .caller(caller), isAwaited: true)),
            .serviceUnsealed(.file, by: .file, reason: "the cause is gone"),
            .clockStepped(from: time, to: time.adding(hours: -1)),
        ]
    }

    private static func readingEvents(_ caller: CallerID) throws -> [AuditEvent] {
        let (from, until) = (Timestamp(milliseconds: 1_782_907_200_123), Timestamp(milliseconds: 1_782_907_260_456))
        let conditions = [AuditCondition("event", "sign.intent"), AuditCondition("product", "a \"product\" é")]
        try startSecureMemory()
        let secret = try SecureBytes(copying: [UInt8](repeating: 7, count: 32))
        let pseudonyms = Pseudonyms(SecretVersion(name: "1", key: try HMACKey(secret)))
        let user = pseudonyms.pseudonym(of: .anonymous(try AnonymousID(utf8: [0x61])), in: try AppName("com.a"))
        return [
            .key(.logKeyLoaded(origin: "example.com/offer-signer", publicKeyDigest: "00")),
            .records(.ledgerMoved(entries: .max)),
            .records(
                .logRestarted(
                    previous: try Checkpoint(
                        parsing: Array("example.com/old\n3\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n".utf8)
                    )
                )
            ),
            .records(.read(RecordedRead(caller: nil, call: .queryCommand, conditions: [], count: 0))),
            .records(.read(RecordedRead(caller: caller, call: .entries, conditions: conditions, count: 7))),
            .records(
                .fetched(
                    Counted(
                        from: from,
                        until: until,
                        counts: [
                            AuditFetch(caller: caller, call: .tile): 9, AuditFetch(caller: nil, call: .checkpoint): 3,
                        ]
                    )
                )
            ),
            .noise(
                Counted(
                    from: from,
                    until: until,
                    counts: [
                        UnauthenticatedTraffic(route: .unknown, problem: "not-found"): 2,
                        UnauthenticatedTraffic(route: nil, problem: "malformed-json"): 1,
                    ],
                    others: 5
                )
            ),
            .refusalsCounted(Counted(from: from, until: until, counts: [:], others: 3)), .ledgerLeft,
            .secretVersionBegun("1"), .secretVersionDestroyed("1"),
            .customerLookedUp(try AppName("com.a"), users: [user, user]),
        ]
    }

    private static func googlePlayEvents() throws -> [AuditEvent] {
        let time = Timestamp(milliseconds: 1_782_907_200_123)
        let app = GooglePlayApp(packageName: try PackageName("com.a"), name: try AppName("com.a"), hideTags: [])
        var item = GooglePlayPurchase.LineItem(productID: "an \"id\" é")
        (item.basePlanID, item.offerID, item.phase) = ("monthly", "winback", .known(.basePrice))
        let purchase = GooglePlayPurchase(state: .known(.active), lineItems: [item])
        let record = GooglePlayPurchaseRecord(purchase, observedAt: time, mark: nil, keys: PlainKeys())
        let entries = record.redemptions(PurchaseKey([1])).map { redemption in
            MatchedRedemption(
                StoreRedemption(redemption, of: app.packageName),
                offerKey: 1,
                .granted,
                grant: (UniqueID.version4(1, 2), .mark)
            )
        }
        let message = NotificationReceipt(id: "\"1\"", type: "TEST", sentAt: time, environment: .sandbox)
        return [.notificationReceived(message, .googlePlay(app.packageName), app.name)]
            + entries.map { .redemption($0, app.name) }
    }

    @Test func `has room for the longest names that there can be`() async throws {
        let longest = String(repeating: "x", count: 255)
        let names = (0..<4).map { String(repeating: #"\""#, count: 127) + "\($0)" }
        let rules =
            Array(repeating: #"{grants: {atMost: 1, per: "originalTransaction"}}"#, count: 40)
            + names.map { #"{attribute: {name: "\#($0)", exists: true}}"# }
        var files = TestFiles()
        for name in ["com.example.app", "pro.monthly", "store_open"] {
            files.offers = files.offers.replacing(name, with: longest)
            files.keys = files.keys.replacing(name, with: longest)
        }
        files.offers = files.offers.replacing(
            #"{id: "open","#,
            with: #"{id: "\#(longest)y","#.replacing("xy", with: "y")
        )
        .replacing(
            #"appStore: {offerId: "\#(longest)"}}"#,
            with: #"appStore: {offerId: "\#(longest)"}, eligibility: {all: [\#(rules.joined(separator: ","))]}}"#
        )
        try await withService(.inProcess, files) { service in
            let quoted = String(repeating: #"\""#, count: 64)
            let client = #""client": {"library": "\#(quoted)", "version": "\#(quoted)", "os": "\#(quoted)"}"#
            let body = { (transaction: String) in
                """
                {"bundleId": "\(longest)", "productId": "\(longest)", "offerId": "\(longest)",
                 "customerId": "\(String(repeating: "c", count: 64))", "applicationUsername": "\(longest)",
                 "anonymousId": "\(String(repeating: "a", count: 64))", \(client),
                 "formats": ["v1", "jws"], "facts": {"subscribedBefore": true\(transaction)}}
                """
            }
            let attributes = names.map { #""\#($0)": true"# }.joined(separator: ", ")
            let stored = try await service.send(
                service.attributesCall(
                    "PUT",
                    of: String(repeating: "c", count: 64),
                    app: "bundleId=\(longest)",
                    #"{"attributes": {\#(attributes)}, "expiresInSeconds": 60}"#
                )
            )
            #expect(stored.status == 200, "\(stored)")
            let granted = try await service.send(
                service.call(body(#", "originalTransactionId": "12345678901234567890""#))
            )
            #expect(granted.status == 200, "\(granted)")
            #expect(try await service.send(service.call(body(""))).problem == "eligibility-undecided")
            let entries = try service.entries()
            #expect(entries.count == 4)
            #expect(entries.allSatisfy { $0.utf8.count <= AuditEntry.maximumBytes }, "\(entries.map(\.utf8.count))")
            #expect(entries.allSatisfy { $0.contains(longest) }, "the names were really that long")
        }
    }

    @Test(arguments: Wire.allCases)
    func `holds nothing personal and nothing secret, nor do log, metrics and database`(wire: Wire) async throws {
        try await withService(wire) { service in
            let needles = [
                "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60", "customer-needle", "Username+Needle", "2000000123456789",
                "1000000987654321", "attribute-needle", "idempotency-needle", "anonymous-needle",
            ]
            let facts = offerBody("gold").replacing("true}", with: #"true, "originalTransactionId": "\#(needles[3])"}"#)
            for (binding, tier) in [("appAccountToken", "gold"), ("applicationUsername", needles[5])] {
                let value = binding == "appAccountToken" ? needles[0].uppercased() : needles[2]
                let members = """
                    , "\(binding)": "\(value)", "customerId": "\(needles[1])", "transactionId": "\(needles[4])",
                    "anonymousId": "\(needles[7])",
                    "formats": ["v1", "jws"], "attributes": {"tier": "\(tier)", "other": "\(needles[5])"}}
                    """
                let reply = try await service.send(
                    service.call(facts.dropLast() + members).with("Idempotency-Key", "\(needles[6])-\(binding)")
                )
                #expect(reply.status == (tier == "gold" ? 200 : 403), "\(reply)")
            }
            _ = try await service.send(service.call(#"{"customerId": "customer-needle"#))
            _ = try await service.sign(as: "app", offer: "open", #""customerId": "customer-needle""#)
            let signed = try service.entries("sign.intent")
            #expect(signed.count == 2 && signed.allSatisfy { $0["users"].elements.count == 4 })
            try await service.transfer(from: needles[7], to: needles[1])
            #expect(try service.entries("customer.transferred").count == 1)

            let metrics = try await service.send(.get("/metrics")).body
            var haystacks = try service.entries() + service.log.lines + [metrics]
            let database = String(decoding: try service.directory.contents(ofDatabase: "ledger.db"), as: UTF8.self)
            #expect(database.contains("sign.intent"), "what is there can be found")
            haystacks.append(database)
            #expect(service.log.lines.count >= 5)
            let secrets = service.credentials.values.map { String($0.dropFirst(17)) }
            for haystack in haystacks.map({ $0.lowercased() }) {
                for needle in needles + secrets where haystack.contains(needle.lowercased()) {
                    Issue.record("\(needle) in \(haystack.prefix(200))")
                }
            }
        }
    }

    @Test func `holds no signature`() async throws {
        try await withService { service in
            let reply = try await service.sign(offer: "open", #""formats": ["v1", "jws"]"#)
            let signature = try #require(reply.json["signature"].text)
            let ofJWS = try #require(reply.json["jws"].text?.split(separator: ".").last)
            for entry in try service.entries() {
                #expect(!entry.contains(signature) && !entry.contains(ofJWS))
            }
        }
    }

    @Test func `names a customer differently in each app and under each secret, and alike in each spelling`()
        async throws
    {
        var names: [[Tree]] = []
        for _ in 0..<2 {
            try await withService { service in
                let body = offerBody("open", #""appAccountToken": "7E3FB204-2A6B-4B2F-9A3C-1B2C3D4E5F60""#)
                for body in [body, body.lowercasedToken, body.replacing("com.example.app", with: "com.example.other")] {
                    let reply = try await service.send(service.call(body))
                    #expect(reply.status == 200, "\(reply)")
                }
                names.append(try service.entries("sign.intent").map { $0["users"][0] })
            }
        }
        for (one, other) in names.map({ ($0[0], $0[1]) }) { #expect(one == other) }
        #expect(Set(names.joined()).count == 4)
        #expect(names.joined().allSatisfy { $0.text?.wholeMatch(of: #/hmac:1:[A-Za-z0-9_-]{43}/#) != nil })
    }
}

extension String {
    fileprivate var lowercasedToken: String {
        replacing("7E3FB204-2A6B-4B2F-9A3C-1B2C3D4E5F60", with: "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60")
    }
}
