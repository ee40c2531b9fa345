// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Testing

@testable import Configuration
@testable import OfferService
@testable import Stores

/// What a kind of signed data is read by.
enum SignedKind: String, CaseIterable {
    case transaction
    case renewalInfo
    case appTransaction
    case notification
    case summary
    case token
    case appData
    case realtimeRequest

    var payload: PayloadText {
        switch self {
        case .transaction: .transaction
        case .renewalInfo: .renewalInfo
        case .appTransaction: .appTransaction
        case .notification: .data
        case .summary: .summary
        case .token: .externalPurchaseToken
        case .appData: .appData
        case .realtimeRequest: .realtimeRequest
        }
    }

    /// The object in which the claims stand.
    var pointer: String {
        switch self {
        case .transaction, .renewalInfo, .appTransaction, .realtimeRequest: ""
        case .notification: "/data"
        case .summary: "/summary"
        case .token: "/externalPurchaseToken"
        case .appData: "/appData"
        }
    }

    /// Members whose values are read, by the JSON of a wrong type.
    var membersRead: [String] {
        switch self {
        case .transaction:
            payload.names.filter {
                ![
                    "webOrderLineItemId", "quantity", "revocationReason", "revocationPercentage", "offerPeriod",
                    "storefrontId", "currency", "price", "commitmentInfo", "advancedCommerceInfo",
                ].contains($0)
            }
        case .renewalInfo:
            payload.names.filter {
                ![
                    "currency", "renewalPrice", "offerDiscountType", "offerPeriod", "commitmentInfo",
                    "renewalBillingPlanType",
                ].contains($0)
            }
        case .appTransaction:
            [
                "receiptType", "appAppleId", "bundleId", "receiptCreationDate", "originalPurchaseDate",
                "appTransactionId",
            ]
        case .notification:
            [
                "environment", "appAppleId", "bundleId", "signedTransactionInfo", "signedRenewalInfo", "status",
                "consumptionRequestReason",
            ]
        case .summary: payload.names.filter { $0 != "storefrontCountryCodes" }
        case .token, .appData, .realtimeRequest: payload.names
        }
    }

    var membersRequired: [String] {
        switch self {
        case .transaction:
            [
                "transactionId", "originalTransactionId", "bundleId", "productId", "purchaseDate", "signedDate",
                "environment",
            ]
        case .renewalInfo: ["originalTransactionId", "productId", "signedDate", "environment"]
        case .appTransaction: ["receiptType", "appAppleId", "bundleId", "receiptCreationDate"]
        case .notification, .appData: ["environment", "appAppleId", "bundleId"]
        case .summary: ["environment", "appAppleId", "bundleId", "requestIdentifier"]
        case .token: ["externalPurchaseId", "appAppleId", "bundleId"]
        case .realtimeRequest: payload.names
        }
    }

    /// Reads the payload as this kind, at ``PayloadText/now``.
    func read(
        _ payload: PayloadText,
        by reader: AppStoreSignedDataReader,
        at now: Timestamp = PayloadText.now
    ) throws {
        switch self {
        case .transaction: _ = try reader.transaction(payload.jws, at: now)
        case .renewalInfo:
            let transaction = try reader.transaction(PayloadText.transaction.jws, at: PayloadText.now)
            let sandbox = try reader.transaction(
                PayloadText.transaction.with("environment", payload["environment"]).jws,
                at: PayloadText.now
            )
            _ = try reader.renewalInfo(
                payload.jws,
                pairedWith: [sandbox.environment == transaction.environment ? transaction : sandbox],
                .byTransaction,
                at: now
            )
        case .appTransaction: _ = try reader.appTransaction(payload.jws, at: now)
        case .realtimeRequest: _ = try reader.realtimeRequest(payload.jws, at: now)
        case .notification, .summary, .token, .appData:
            let whole = PayloadText.notification(String(pointer.dropFirst()), payload)
            _ = try reader.notification(whole.jws, at: now)
        }
    }

    var environmentMember: String? {
        switch self {
        case .appTransaction: "receiptType"
        case .token: nil
        default: "environment"
        }
    }
}

struct ClaimTests {
    private let reader: AppStoreSignedDataReader

    init() throws { reader = try .example() }

    @Test(arguments: SignedKind.allCases)
    func `refuses a member of the wrong type, and names it`(kind: SignedKind) {
        // Of a list, what is no text is left out.
        for member in kind.membersRead where member != "eligibleWinBackOfferIds" {
            let fault = #expect(throws: SignedDataFault.self) {
                try kind.read(kind.payload.with(member, #"[{"x": 1}]"#), by: reader)
            }
            guard case .unfit(let pointer, _) = fault else {
                Issue.record("\(member): \(String(describing: fault))")
                continue
            }
            #expect(pointer == "\(kind.pointer)/\(member)")
        }
    }

    @Test(arguments: SignedKind.allCases)
    func `refuses a payload without a member that it needs, and names it`(kind: SignedKind) {
        for member in kind.membersRequired {
            #expect(throws: SignedDataFault.missing(pointer: "\(kind.pointer)/\(member)")) {
                try kind.read(kind.payload.with(member, nil), by: reader)
            }
            #expect(throws: SignedDataFault.missing(pointer: "\(kind.pointer)/\(member)")) {
                try kind.read(kind.payload.with(member, "null"), by: reader)
            }
        }
        for member in kind.payload.names where !kind.membersRequired.contains(member) {
            #expect(throws: Never.self) { try kind.read(kind.payload.with(member, nil), by: reader) }
        }
    }

    @Test(arguments: SignedKind.allCases)
    func `takes no data of another app`(kind: SignedKind) {
        if kind.payload["bundleId"] != nil {
            for text in [#""com.example.App""#, #""com.example.app ""#, #""com.example.elsewhere""#, #""é""#] {
                #expect(throws: SignedDataFault.otherApp(pointer: "\(kind.pointer)/bundleId")) {
                    try kind.read(kind.payload.with("bundleId", text), by: reader)
                }
            }
        }
        if kind.payload["appAppleId"] != nil {
            #expect(throws: SignedDataFault.otherAppAppleID(pointer: "\(kind.pointer)/appAppleId")) {
                try kind.read(kind.payload.with("appAppleId", "1234567891"), by: reader)
            }
        }
    }

    @Test
    func `holds the number against the app of the bundle id, not against any`() {
        #expect(throws: SignedDataFault.otherAppAppleID(pointer: "/appAppleId")) {
            try SignedKind.appTransaction.read(PayloadText.appTransaction.with("appAppleId", "99"), by: reader)
        }
        #expect(throws: Never.self) {
            let other = PayloadText.appTransaction.with("appAppleId", "99").with("bundleId", #""com.example.other""#)
            try SignedKind.appTransaction.read(other, by: reader)
        }
    }

    @Test
    func `takes only the app that it is restricted to`() throws {
        let restricted = reader.restricted(to: try BundleID("com.example.other"))
        #expect(throws: SignedDataFault.otherApp(pointer: "/bundleId")) {
            try SignedKind.transaction.read(.transaction, by: restricted)
        }
    }

    @Test(arguments: [SignedKind.appTransaction, .notification, .summary, .token, .appData, .realtimeRequest])
    func `needs the app's number for production data, and not for the sandbox's`(kind: SignedKind) throws {
        let nameless = AppStoreSignedDataReader(
            apps: [
                AppStoreApp(
                    bundleID: try BundleID("com.example.app"),
                    appAppleID: nil,
                    environments: [.production, .sandbox]
                )
            ],
            authenticator: SignedByAnybody()
        )
        #expect(throws: SignedDataFault.appAppleIDNotSet) { try kind.read(kind.payload, by: nameless) }
        var sandbox = kind.payload.with("appAppleId", nil)
        if let member = kind.environmentMember {
            sandbox[member] = #""Sandbox""#
        } else {
            sandbox["externalPurchaseId"] = #""SANDBOX_1""#
        }
        #expect(throws: Never.self) { try kind.read(sandbox, by: nameless) }
    }

    @Test(arguments: SignedKind.allCases)
    func `takes the environments that the settings name, and never local tests`(kind: SignedKind) throws {
        let production = try AppStoreSignedDataReader.example(environments: [.production])
        guard let member = kind.environmentMember else {
            #expect(throws: SignedDataFault.environmentNotTaken(pointer: "\(kind.pointer)/externalPurchaseId")) {
                try kind.read(kind.payload.with("externalPurchaseId", #""SANDBOX_1""#), by: production)
            }
            return
        }
        for local in [#""Xcode""#, #""LocalTesting""#] {
            #expect(throws: SignedDataFault.localTestData) {
                try kind.read(kind.payload.with(member, local), by: reader)
            }
        }
        for text in [#""production""#, #""Moon""#] {
            #expect(throws: SignedDataFault.environmentNotTaken(pointer: "\(kind.pointer)/\(member)")) {
                try kind.read(kind.payload.with(member, text), by: reader)
            }
        }
        #expect(throws: Never.self) { try kind.read(kind.payload.with(member, #""Sandbox""#), by: reader) }
        #expect(throws: SignedDataFault.environmentNotTaken(pointer: "\(kind.pointer)/\(member)")) {
            try kind.read(kind.payload.with(member, #""Sandbox""#), by: production)
        }
    }

    @Test(arguments: SignedKind.allCases)
    func `takes five minutes of skew and no more`(kind: SignedKind) {
        // A notification is signed a hundred seconds after the rest.
        let signedAt = Timestamp(
            milliseconds: kind.pointer.isEmpty ? 1_772_366_000_000 : 1_772_366_100_000
        )
        let earliest = signedAt.adding(minutes: -5)
        #expect(throws: Never.self) {
            try kind.read(kind.payload, by: reader, at: earliest)
        }
        #expect(throws: SignedDataFault.signedInFuture) {
            try kind.read(kind.payload, by: reader, at: earliest.adding(milliseconds: -1))
        }
    }

    @Test func `takes no real-time request that is older than asked for`() {
        let jws = SignedKind.realtimeRequest.payload.jws
        let signedAt = Timestamp(milliseconds: 1_772_366_000_000)
        #expect(throws: Never.self) {
            try reader.realtimeRequest(jws, at: PayloadText.now, notSignedBefore: signedAt)
        }
        #expect(throws: SignedDataFault.tooOld) {
            try reader.realtimeRequest(jws, at: PayloadText.now, notSignedBefore: signedAt.adding(milliseconds: 1))
        }
    }

    @Test
    func `passes on what the verifier says, before anything is read`() {
        #expect(throws: SignedDataFault.notVerified(.wrongSignature)) {
            try reader.transaction(Array(PayloadText.transaction.json.utf8), at: PayloadText.now)
        }
        #expect(throws: SignedDataFault.notVerified(.tooLarge(limit: 16_384))) {
            let padded = PayloadText.transaction.with("padding", "\"\(String(repeating: "x", count: 17_000))\"")
            _ = try reader.transaction(padded.jws, at: PayloadText.now)
        }
    }

    @Test
    func `refuses texts that are no JSON objects`() {
        for (text, label) in [
            ("", "payload-not-json"), ("{", "payload-not-json"), ("[]", "payload-not-object"),
            (#"{"bundleId": "a", "bundleId": "b"}"#, "payload-not-json"), ("7", "payload-not-object"),
        ] {
            let fault = #expect(throws: SignedDataFault.self) {
                try reader.transaction(Array("signed\(text)".utf8), at: PayloadText.now)
            }
            #expect(fault?.label == label)
        }
        #expect(throws: SignedDataFault.noContent) {
            let empty = PayloadText.notification.with("data", nil)
            _ = try reader.notification(empty.jws, at: PayloadText.now)
        }
        #expect(throws: SignedDataFault.notObject(pointer: "/data")) {
            let empty = PayloadText.notification.with("data", "[]")
            _ = try reader.notification(empty.jws, at: PayloadText.now)
        }
    }

    @Test
    func `names every fault in a sentence, with a label for each kind`() {
        let faults: [SignedDataFault] = [
            .notVerified(.wrongSignature), .notJSON(offset: 3), .notObject(pointer: ""), .missing(pointer: "/a"),
            .unfit(pointer: "/a", expected: .uuid), .noContent, .otherApp(pointer: "/a"),
            .otherAppAppleID(pointer: "/a"), .appAppleIDNotSet, .localTestData, .environmentNotTaken(pointer: "/a"),
            .signedInFuture, .tooOld, .renewalWithoutTransaction, .renewalOfOtherTransaction(pointer: "/a"),
        ]
        #expect(Set(faults.map(\.label)).count == faults.count)
        for fault in faults {
            #expect(fault.description.hasSuffix("."))
            #expect(fault.label.allSatisfy { $0.isLowercase || $0 == "-" })
        }
    }
}
