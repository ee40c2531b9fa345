// SPDX-License-Identifier: Apache-2.0

extension FakeGooglePlay {
    /// Where it misbehaves, and what it counts.
    package enum Endpoint: String, Codable, CaseIterable, Sendable {
        case subscriptions, subscription, subscriptionBatch, offers, offer, offerBatch, purchase, integrity
        /// Paths that the API does not have.
        case unknown
        /// Where access tokens are asked for.
        case token
        /// The JWKS.
        case certificates
        /// New connections, before a byte was sent; only hang, close and garbage.
        case connection
        /// All of the API's: neither token nor certificates.
        case any = "*"
    }

    /// A way to be rude.
    package struct Misbehaviour: FakeMisbehaviour {
        package let kind: String
        package let arguments: FakeMembers

        /// Any kind that `Tests/Fakes/GooglePlay/misbehaviour.py` has.
        package init(_ kind: String, _ arguments: FakeMembers) {
            self.kind = kind
            self.arguments = arguments
        }

        /// An error by its reason, with the status and the message that belong to it, or others.
        package static func error(_ reason: Reason, status: Int? = nil, message: String? = nil) -> Self {
            .error(reason.rawValue, status: status, message: message)
        }
        /// An error by any reason.
        package static func error(_ reason: String, status: Int? = nil, message: String? = nil) -> Self {
            var arguments: FakeMembers = ["reason": .text(reason)]
            if let status { arguments["status"] = .integer(status) }
            if let message { arguments["message"] = .text(message) }
            return .init("error", arguments)
        }
        /// An error of the token endpoint.
        package static func oauthError(_ code: String, _ description: String? = nil, status: Int = 400) -> Self {
            var arguments: FakeMembers = ["code": .text(code), "status": .integer(status)]
            if let description { arguments["description"] = .text(description) }
            return .init("oauthError", arguments)
        }
        /// 429 without Retry-After.
        package static let rateLimit = Misbehaviour("rateLimit")
        /// 429 with Retry-After, which is seconds or a date.
        package static func rateLimit(retryAfter: String) -> Self {
            .init("rateLimit", ["retryAfter": .text(retryAfter)])
        }
        /// Good JSON whose members have other types.
        package static let wrongShape = Misbehaviour("wrongShape")
        /// Resources whose members differ: another packageName, another offerId; `.null`: absent.
        package static func otherMembers(_ members: FakeMembers) -> Self {
            .init("otherMembers", ["members": .object(members)])
        }
        /// Answers about another purchase than the one asked for.
        package static func otherPurchase(_ token: String) -> Self {
            .init("otherPurchase", ["token": .text(token)])
        }
        /// The same page again, and always more to come.
        package static let repeatedPage = Misbehaviour("repeatedPage")
        /// New resources on every page, and always more to come.
        package static let endlessPages = Misbehaviour("endlessPages")
        /// A last page without items.
        package static let emptyPage = Misbehaviour("emptyPage")
        /// Targeting as `{}`, whatever it is.
        package static let lostTargeting = Misbehaviour("lostTargeting")
        /// Unknown members in every object.
        package static let unknownMembers = Misbehaviour("unknownMembers")
        /// Unknown values for every enum.
        package static let unknownValues = Misbehaviour("unknownValues")
    }

    /// Reasons of errors of the API.
    package enum Reason: String, CaseIterable, Sendable {
        // 400
        case invalid, badRequest, invalidPageToken, purchaseTokenDoesNotMatchPackageName
        // 401; permissionDenied is about rights in the Play Console and not about the token.
        case required, authError, permissionDenied
        // 403; the first two are about rights, the others about quota.
        case insufficientPermissions, accessNotConfigured, rateLimitExceeded, userRateLimitExceeded
        // 429
        case quotaExceeded
        // 404
        case notFound, applicationNotFound, purchaseTokenNotFound
        // 409, 410, 503
        case concurrentUpdate, subscriptionPurchaseNoLongerAvailable, purchaseTokenNoLongerValid, backendError
    }

    /// Misbehaves for the next `times` requests to the endpoint, or until ``behave(at:)``.
    ///
    /// What was asked for first comes first. With an id (the last one in the path: a purchase token, an offer's, a
    /// subscription's, or for lists the app's or a wildcard) only requests about it are treated so.
    package func misbehave(
        _ misbehaviour: Misbehaviour,
        at endpoint: Endpoint = .any,
        times: Int? = nil,
        onlyFor id: String? = nil
    ) throws {
        var arguments = misbehaviour.arguments
        arguments["kind"] = .text(misbehaviour.kind)
        arguments["endpoint"] = .text(endpoint.rawValue)
        if let id { arguments["onlyFor"] = .text(id) }
        if let times { arguments["times"] = .integer(times) }
        try perform("misbehave", arguments)
    }

    /// Ends all misbehaviour, or that at one endpoint; requests that hang go on hanging.
    package func behave(at endpoint: Endpoint? = nil) throws {
        try perform("behave", endpoint.map { ["endpoint": $0.rawValue] } ?? [:])
    }

    /// Shows another certificate from the next connection on.
    package func setTLS(_ certificate: FakeTLSCertificate) throws {
        try perform("setTLS", ["certificate": certificate.rawValue])
    }

    /// Offers other protocols by ALPN from the next connection on: "h2", "http/1.1".
    package func setTLS(protocols: [String]) throws {
        try perform("setTLS", ["protocols": protocols])
    }

    /// Closes the ports, ending all connections, or opens them again.
    package func listen(_ isOpen: Bool) throws {
        try perform("listen", ["isOpen": isOpen])
    }

    /// Ends all connections.
    package func dropConnections() throws {
        try perform("dropConnections", Nothing())
    }
}
