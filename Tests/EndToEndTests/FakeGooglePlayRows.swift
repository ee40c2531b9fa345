// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// An assertion that gives no access token.
struct BadAssertion: CustomTestStringConvertible {
    /// As `google_assertion.py` takes them.
    let changes: String
    let code: String
    /// Part of the description.
    let description: String

    var testDescription: String { changes }

    private init(_ changes: String, _ code: String, _ description: String) {
        self.changes = changes
        self.code = code
        self.description = description
    }

    static let rows = [
        BadAssertion(#"{"header":{"kid":"0123"}}"#, "invalid_grant", "Invalid JWT Signature."),
        BadAssertion(#"{"header":{"typ":"JWS"}}"#, "invalid_grant", "typ"),
        BadAssertion(#"{"signature":"AAAA"}"#, "invalid_grant", "Invalid JWT Signature."),
        BadAssertion(#"{"claims":{"iss":"nobody@example.com"}}"#, "invalid_grant", "account not found"),
        BadAssertion(#"{"claims":{"iss":null}}"#, "invalid_grant", "account not found"),
        BadAssertion(#"{"claims":{"iss":[1]}}"#, "invalid_grant", "account not found"),
        BadAssertion(#"{"claims":{"aud":"http://127.0.0.1/token"}}"#, "invalid_grant", "audience"),
        BadAssertion(#"{"claims":{"scope":null}}"#, "invalid_scope", "Invalid OAuth scope"),
        BadAssertion(#"{"claims":{"scope":"androidpublisher"}}"#, "invalid_scope", "Invalid OAuth scope"),
        BadAssertion(#"{"claims":{"sub":"somebody@example.com"}}"#, "unauthorized_client", "Client is unauthorized"),
        BadAssertion(#"{"claims":{"iat":null}}"#, "invalid_grant", "short-lived"),
        BadAssertion(#"{"claims":{"exp":null}}"#, "invalid_grant", "short-lived"),
        BadAssertion(#"{"claims":{"exp":3601}}"#, "invalid_grant", "short-lived"),
        BadAssertion(#"{"claims":{"iat":-7200,"exp":-3600}}"#, "invalid_grant", "short-lived"),
        BadAssertion(#"{"claims":{"iat":600,"exp":1200}}"#, "invalid_grant", "short-lived"),
    ]
}

/// What happens to a purchase, and what Google then says of it.
struct LifeRow: CustomTestStringConvertible {
    /// From the purchase on, one after the other.
    let events: [FakeGooglePlay.Event]
    /// The number of the last event's notification; `nil`: there is none.
    let type: Int?
    /// Without "SUBSCRIPTION_STATE_".
    let state: String
    /// By JSON pointer what is to be found; `nil`: nothing.
    let members: [String: String?]

    let testDescription: String

    private init(
        _ name: String,
        _ events: [FakeGooglePlay.Event],
        _ type: Int?,
        _ state: String,
        _ members: [String: String?] = [:]
    ) {
        testDescription = name
        self.events = events
        self.type = type
        self.state = state
        self.members = members
    }

    private static let renews = "/lineItems/0/autoRenewingPlan/autoRenewEnabled"
    private static let phase = "/lineItems/0/offerPhase"
    private static let price = "/lineItems/0/autoRenewingPlan/priceChangeDetails/newPrice/units"
    private static let cancellation = "/canceledStateContext"

    /// The purchase is with an offer: a free week, and then two months at half the price.
    static let rows = [
        LifeRow("renewed once", [.renew], 2, "ACTIVE", [phase: #"{"introductoryPrice":{}}"#, renews: "true"]),
        LifeRow(
            "renewed into the base price",
            [.renew(periods: 3)],
            2,
            "ACTIVE",
            [phase: #"{"basePrice":{}}"#, "/lineItems/0/offerDetails/offerId": "winback"]
        ),
        LifeRow("cancelled by the customer", [.cancel], 3, "CANCELED", [renews: nil, phase: #"{"freeTrial":{}}"#]),
        LifeRow(
            "cancelled by the developer",
            [.cancel(by: .developer)],
            3,
            "CANCELED",
            [cancellation: #"{"developerInitiatedCancellation":{}}"#]
        ),
        LifeRow(
            "cancelled with an answer to the survey",
            [.cancel(by: .user, survey: ["reason": "CANCEL_SURVEY_REASON_COST_RELATED"])],
            3,
            "CANCELED",
            [
                "\(cancellation)/userInitiatedCancellation/cancelSurveyResult/reason":
                    "CANCEL_SURVEY_REASON_COST_RELATED"
            ]
        ),
        LifeRow("restarted", [.cancel, .restart], 7, "ACTIVE", [renews: "true", cancellation: nil]),
        LifeRow("in the grace period", [.grace], 6, "IN_GRACE_PERIOD", [renews: "true"]),
        LifeRow("on hold", [.grace, .hold], 5, "ON_HOLD", [renews: "true", "/inGracePeriodStateContext": nil]),
        LifeRow("recovered", [.hold, .recover], 1, "ACTIVE", ["/onHoldStateContext": nil]),
        LifeRow("pause scheduled", [.schedulePause], 11, "ACTIVE", [renews: "true"]),
        LifeRow("paused", [.schedulePause, .pause], 10, "PAUSED", [renews: "true"]),
        LifeRow("deferred", [.defer(days: 5)], 9, "ACTIVE"),
        LifeRow(
            "expired",
            [.expire],
            13,
            "EXPIRED",
            [renews: nil, cancellation: #"{"systemInitiatedCancellation":{}}"#]
        ),
        LifeRow("revoked", [.revoke], 12, "EXPIRED", [renews: nil]),
        LifeRow("a further line", [.addItem("extra", "monthly")], 17, "ACTIVE", ["/lineItems/1/productId": "extra"]),
        LifeRow("a price announced", [.changePrice], 19, "ACTIVE", [price: "12"]),
        LifeRow("acknowledged", [.acknowledge], nil, "ACTIVE"),
    ]
}

/// How it is rude at a list of offers or a purchase, and what curl sees of it.
struct PlayRudeness: CustomTestStringConvertible {
    let misbehaviour: FakeGooglePlay.Misbehaviour
    let status: Int
    /// By JSON pointer what is to be found; `nil`: nothing.
    let members: [String: String?]
    var head: String?

    let testDescription: String

    private init(
        _ name: String,
        _ misbehaviour: FakeGooglePlay.Misbehaviour,
        _ status: Int,
        _ members: [String: String?] = [:],
        head: String? = nil
    ) {
        testDescription = name
        self.misbehaviour = misbehaviour
        self.status = status
        self.members = members
        self.head = head
    }

    private static let reason = "/error/errors/0/reason"
    private static let offer = "/subscriptionOffers/0"

    static let rows = [
        PlayRudeness("rate limit", .rateLimit, 429, [reason: "rateLimitExceeded"]),
        PlayRudeness("rate limit with a time", .rateLimit(retryAfter: "7"), 429, head: "retry-after: 7"),
        PlayRudeness("quota", .error(.rateLimitExceeded), 403, [reason: "rateLimitExceeded"]),
        PlayRudeness("rights", .error(.permissionDenied), 401, [reason: "permissionDenied"], head: "application/json"),
        PlayRudeness("token", .error(.authError), 401, [reason: "authError"], head: "www-authenticate: Bearer"),
        PlayRudeness("any error", .error("unheardOf", status: 418), 418, [reason: "unheardOf", "/error/code": "418"]),
        PlayRudeness("backend", .error(.backendError, status: 500), 500, [reason: "backendError"]),
        PlayRudeness("HTML", .status(502), 502, head: "text/html"),
        PlayRudeness("redirect", .redirect(to: "http://127.0.0.1:1/"), 302, head: "location: http://127.0.0.1:1/"),
        PlayRudeness(
            "another offer",
            .otherMembers(["offerId": "other", "packageName": "com.example.other", "state": .null]),
            200,
            ["\(offer)/offerId": "other", "\(offer)/packageName": "com.example.other", "\(offer)/state": nil]
        ),
        PlayRudeness("targeting lost", .lostTargeting, 200, ["\(offer)/targeting": "{}"]),
        PlayRudeness("unknown members", .unknownMembers, 200, ["\(offer)/unheardOfFlag": "true"]),
        PlayRudeness("unknown values", .unknownValues, 200, ["\(offer)/state": "UNHEARD_OF"]),
        PlayRudeness("wrong shape", .wrongShape, 200, ["/subscriptionOffers": "none"]),
        PlayRudeness("wrong JSON", .wrongJSON, 200, ["/subscriptionOffers": nil]),
    ]
}
