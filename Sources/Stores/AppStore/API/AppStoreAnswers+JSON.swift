// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// An answer that is read from a JSON object; what it does not know in it, it leaves alone.
protocol AppStoreAnswer: Sendable {
    /// `nil`, or a mismatch noted, if something needed is missing or not as it should be.
    init?(_ reader: inout AnswerReader)

    /// What an answer without a body means; `nil` where there must be one.
    static var withoutBody: Self? { get }
}

extension AppStoreAnswer {
    static var withoutBody: Self? { nil }
}

/// Reads the members of one JSON object of an answer, and notes what does not fit.
///
/// A missing array is a mismatch, never an empty one: the App Store must state “no subscriptions”. An entry of an array
/// that does not fit is left out; the others stay. An empty optional text counts as absent.
struct AnswerReader {
    private(set) var object: ObjectReader
    private let mismatches: Mismatches
    private let leftOut: LeftOut

    /// JSON pointers of the entries that were left out.
    private final class LeftOut {
        var pointers: [String] = []
    }

    init(_ value: JSONValue, into mismatches: Mismatches) {
        self.init(value, into: mismatches, leftOut: LeftOut())
    }

    private init(_ value: JSONValue, into mismatches: Mismatches, leftOut: LeftOut) {
        object = ObjectReader(value, into: mismatches)
        self.mismatches = mismatches
        self.leftOut = leftOut
    }

    /// JSON pointers of the entries that were left out so far.
    var unreadable: [String] { leftOut.pointers }

    mutating func text(_ name: StaticString) -> String? {
        object.optional(name, "a string") { $0.string }.flatMap { $0.isEmpty ? nil : $0 }
    }

    mutating func requiredText(_ name: StaticString) -> String? { object.required(name, "a string") { $0.string } }

    mutating func integer(_ name: StaticString) -> Int64? { object.optional(name, "an integer") { $0.integer } }

    mutating func requiredInteger(_ name: StaticString) -> Int64? { object.required(name, "an integer") { $0.integer } }

    mutating func requiredBoolean(_ name: StaticString) -> Bool? { object.required(name, "true or false") { $0.bool } }

    mutating func jws(_ name: StaticString) -> UnverifiedJWS? {
        object.member(name)?.stringBytes?.isEmpty == true ? nil : object.optional(name, "a JWS", as: Self.jws)
    }

    mutating func requiredJWS(_ name: StaticString) -> UnverifiedJWS? { object.required(name, "a JWS", as: Self.jws) }

    mutating func id<Kind>(_ name: StaticString, as kind: Identifier<Kind>.Type) -> Identifier<Kind>? {
        object.required(name, text: Identifier<Kind>.init)
    }

    /// The strings of an array that must be there.
    mutating func signedTexts(_ name: StaticString) -> [UnverifiedJWS] {
        elements(name) { value, mismatches in Self.jws(value) ?? mismatches.none(value, "expected a JWS") }
    }

    /// The objects of an array that must be there.
    mutating func objects<Value>(_ name: StaticString, _ read: (inout AnswerReader) -> Value?) -> [Value] {
        elements(name) { [leftOut] value, mismatches in
            var reader = AnswerReader(value, into: mismatches, leftOut: leftOut)
            return read(&reader)
        }
    }

    private mutating func elements<Value>(
        _ name: StaticString,
        _ read: (JSONValue, Mismatches) -> Value?
    ) -> [Value] {
        let array = object.required(name, "an array") { $0.array }
        return array?.compactMap { [leftOut] value in
            let own = Mismatches()
            let read = read(value, own)
            if read != nil, own.all.isEmpty { return read }
            leftOut.pointers.append(own.all.first?.pointer ?? value.pointer)
            return nil
        } ?? []
    }

    private static func jws(_ value: JSONValue) -> UnverifiedJWS? {
        value.stringBytes.flatMap { $0.isEmpty ? nil : UnverifiedJWS($0) }
    }

    /// How often a notification was sent; no attempts if the member is missing.
    mutating func attempts() -> [DeliveryAttempt] {
        guard object.member("sendAttempts") != nil else { return [] }
        return objects("sendAttempts") { reader in
            let time = reader.integer("attemptDate").flatMap(Timestamp.init(exactlyMilliseconds:))
            return reader.requiredText("sendAttemptResult").map { DeliveryAttempt(attemptedAt: time, result: $0) }
        }
    }
}

extension SubscriptionStatuses: AppStoreAnswer {
    init?(_ reader: inout AnswerReader) {
        appAppleID = reader.integer("appAppleId")
        groups = reader.objects("data") { reader in
            let id = reader.id("subscriptionGroupIdentifier", as: SubscriptionGroupID.self)
            let items = reader.objects("lastTransactions", Item.init)
            return id.map { Group(id: $0, lastTransactions: items) }
        }
        unreadable = reader.unreadable
    }
}

extension SubscriptionStatuses.Item {
    fileprivate init?(_ reader: inout AnswerReader) {
        guard let id = reader.id("originalTransactionId", as: TransactionID.self),
            let status = reader.requiredInteger("status"),
            let signedTransaction = reader.requiredJWS("signedTransactionInfo")
        else { return nil }
        self.init(
            originalTransactionID: id,
            status: status,
            signedTransaction: signedTransaction,
            signedRenewalInfo: reader.jws("signedRenewalInfo")
        )
    }
}

/// One page of a ``TransactionHistory``.
struct TransactionHistoryPage: AppStoreAnswer {
    let appAppleID: Int64?
    let signedTransactions: [UnverifiedJWS]
    let revision: String?
    let hasMore: Bool
    let unreadable: [String]

    init?(_ reader: inout AnswerReader) {
        appAppleID = reader.integer("appAppleId")
        signedTransactions = reader.signedTexts("signedTransactions")
        revision = reader.text("revision")
        unreadable = reader.unreadable
        guard let hasMore = reader.requiredBoolean("hasMore") else { return nil }
        self.hasMore = hasMore
    }
}

extension NotificationHistory: AppStoreAnswer {
    init?(_ reader: inout AnswerReader) {
        items = reader.objects("notificationHistory") { reader in
            guard let payload = reader.requiredJWS("signedPayload") else { return nil }
            return Item(signedPayload: payload, attempts: reader.attempts())
        }
        unreadable = reader.unreadable
        let token = reader.text("paginationToken")
        guard let hasMore = reader.requiredBoolean("hasMore") else { return nil }
        guard !hasMore || token != nil else { return nil }
        nextPage = hasMore ? token : nil
    }
}

extension TestNotificationStatus: AppStoreAnswer {
    init?(_ reader: inout AnswerReader) {
        guard let payload = reader.requiredJWS("signedPayload") else { return nil }
        signedPayload = payload
        attempts = reader.attempts()
    }
}

/// `signedTransactionInfo` or `signedAppTransactionInfo` alone.
struct SignedTransactionAnswer: AppStoreAnswer {
    let jws: UnverifiedJWS

    init?(_ reader: inout AnswerReader) {
        guard let jws = reader.requiredJWS("signedTransactionInfo") else { return nil }
        self.jws = jws
    }
}

struct SignedAppTransactionAnswer: AppStoreAnswer {
    let jws: UnverifiedJWS

    init?(_ reader: inout AnswerReader) {
        guard let jws = reader.requiredJWS("signedAppTransactionInfo") else { return nil }
        self.jws = jws
    }
}

struct TestNotificationAnswer: AppStoreAnswer {
    let token: TestNotificationToken

    init?(_ reader: inout AnswerReader) {
        guard let token = reader.requiredText("testNotificationToken").flatMap(TestNotificationToken.init) else {
            return nil
        }
        self.token = token
    }
}
