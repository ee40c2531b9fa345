// SPDX-License-Identifier: Apache-2.0

extension FakeAppStore {
    /// Where it misbehaves, and what it counts.
    package enum Endpoint: String, Codable, CaseIterable, Sendable {
        case statuses, history, transactionInfo, appTransactionInfo, setAppAccountToken
        case notificationHistory, requestTestNotification, testNotificationStatus
        case messageList, realtimeURL, defaultMessage, performanceTest, performanceTestResult
        /// Paths that the API does not have.
        case unknown
        case ocsp
        /// New connections to the API and to the responder, before a byte was sent; only hang, close and garbage.
        case connection, ocspConnection
        /// All of the API's.
        case any = "*"
    }

    /// A way to be rude.
    package struct Misbehaviour: FakeMisbehaviour {
        package let kind: String
        package let arguments: Members

        /// Any kind that `Tests/Fakes/AppStore/misbehaviour.py` has.
        package init(_ kind: String, _ arguments: Members) {
            self.kind = kind
            self.arguments = arguments
        }

        /// An error of the API; its HTTP status is the code's first three digits.
        package static func error(_ code: Int) -> Self { .init("error", ["code": .integer(code)]) }
        /// 4040010: the id is not in this environment.
        package static let notFound = Misbehaviour("notFound")
        /// 401 with an empty body, as for an app that is not approved yet.
        package static let unauthorized = Misbehaviour("unauthorized")
        /// 429 without Retry-After.
        package static let rateLimit = Misbehaviour("rateLimit")
        /// 429 with a time in milliseconds since 1970.
        package static func rateLimit(millisecondsFromNow: Int) -> Self {
            .init("rateLimit", ["retryAfterMilliseconds": .integer(millisecondsFromNow)])
        }
        package static func rateLimit(retryAfter: String) -> Self {
            .init("rateLimit", ["retryAfter": .text(retryAfter)])
        }
        /// Good JSON whose members have other types.
        package static let wrongShape = Misbehaviour("wrongShape")
        /// Signed data that says it was signed that many days ago.
        package static func stale(days: Double) -> Self { .init("stale", ["days": .number(days)]) }
        /// Signed data that is wrong.
        package static func fault(_ fault: Fault) -> Self { .init("fault", ["fault": .text(fault.rawValue)]) }
        /// Answers about another transaction than the one asked for.
        package static func otherCustomer(_ transactionID: String) -> Self {
            .init("otherCustomer", ["transactionId": .text(transactionID)])
        }
        package static let extraMembers = Misbehaviour("extraMembers")
        /// Unknown statuses, types and offers, and extra members.
        package static let unknownValues = Misbehaviour("unknownValues")
        /// The same page again, and always more to come.
        package static let repeatedPage = Misbehaviour("repeatedPage")
        /// New transactions on every page, and always more to come.
        package static let endlessPages = Misbehaviour("endlessPages")
    }

    /// Misbehaves for the next `times` requests to the endpoint, or until ``behave(at:)``.
    ///
    /// What was asked for first comes first. With a transaction's id, only requests about it are treated so.
    package func misbehave(
        _ misbehaviour: Misbehaviour,
        at endpoint: Endpoint = .any,
        in environment: Environment? = nil,
        times: Int? = nil,
        onlyFor transactionID: String? = nil
    ) throws {
        var arguments = misbehaviour.arguments
        arguments["kind"] = .text(misbehaviour.kind)
        arguments["endpoint"] = .text(endpoint.rawValue)
        if let environment { arguments["environment"] = .text(environment.rawValue) }
        if let transactionID { arguments["onlyFor"] = .text(transactionID) }
        if let times { arguments["times"] = .integer(times) }
        try perform("misbehave", arguments)
    }

    /// Ends all misbehaviour, or that at one endpoint; requests that hang go on hanging.
    package func behave(at endpoint: Endpoint? = nil) throws {
        try perform("behave", endpoint.map { ["endpoint": $0.rawValue] } ?? [:])
    }

    /// How the OCSP responder answers.
    package enum OCSPBehaviour: String, CaseIterable, Sendable {
        case good, revoked, unknown, stale, future, withoutEnd, oldWithoutEnd, delegated, delegatedWithoutUsage
        case signedByStranger, otherCertificate, withoutNonce, otherNonce, tryLater, internalError, unauthorized
        case malformed
    }

    package enum ChainCertificate: String, Sendable {
        case leaf, intermediate
        case any = "*"
    }

    /// Sets how the responder answers about a certificate; to be slow or silent, misbehave at ``Endpoint/ocsp``.
    package func setOCSP(_ behaviour: OCSPBehaviour, about certificate: ChainCertificate = .any) throws {
        try perform("setOCSP", ["behaviour": behaviour.rawValue, "certificate": certificate.rawValue])
    }

    package typealias TLSCertificate = FakeTLSCertificate

    /// Shows another certificate from the next connection on.
    package func setTLS(_ certificate: TLSCertificate) throws {
        try perform("setTLS", ["certificate": certificate.rawValue])
    }

    /// Offers other protocols by ALPN from the next connection on: "h2", "http/1.1".
    package func setTLS(protocols: [String]) throws {
        try perform("setTLS", ["protocols": protocols])
    }

    /// Closes the ports, ending all connections, or opens them again.
    package func listen(_ isOpen: Bool, _ environment: Environment? = nil) throws {
        var arguments: Members = ["isOpen": .boolean(isOpen)]
        if let environment { arguments["environment"] = .text(environment.rawValue) }
        try perform("listen", arguments)
    }

    /// Ends all connections.
    package func dropConnections() throws {
        try perform("dropConnections", Nothing())
    }
}
