// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
import Ledger
import OfferDomain

/// What an SDK of another vendor asks for: the original signature of one promotional offer.
struct CompatibleRequest: Sendable {
    let bundleID: BundleID
    let productID: ProductID
    /// The identifier in App Store Connect: what the SDK asks for is what it gives StoreKit.
    let offerID: OfferID
    /// What the SDK attaches to the purchase is its binding.
    var customer = StatedCustomer()
    /// The SDK, as its header fields name it.
    var client: ReportedClient?
}

extension SignatureRequest {
    /// What another vendor's SDK asks for, as a request for an original signature.
    convenience init(_ request: CompatibleRequest) {
        self.init(
            for: request.productID,
            of: request.bundleID,
            .promotionalOffer(request.offerID, forms: [.v1]),
            customer: request.customer,
            client: request.client
        )
    }
}

/// How the SDKs of one vendor ask, and what they read.
protocol CompatibleDialect {
    /// Reads a request after its caller is authenticated; unknown members that the vendor adds later are ignored.
    static func read(
        _ request: Request,
        _ match: RouteMatch,
        receivedAt now: Timestamp
    ) throws(Refusal) -> CompatibleRequest

    /// What is answered to a request that was granted.
    static func answer(_ signed: SignedOffer, to request: CompatibleRequest) -> Response

    /// What is answered with 200 to a request that was refused; `nil` if it is answered as a problem.
    static func answer(_ refusal: Refusal, to request: CompatibleRequest, keyID: KeyID?) -> Response?

    /// What is answered to all others.
    static func answer(_ problem: Problem, requestID: UniqueID) -> Response
}

extension CompatibleDialect {
    static func answer(_ refusal: Refusal, to request: CompatibleRequest, keyID: KeyID?) -> Response? { nil }

    static func answer(_ problem: Problem, requestID: UniqueID) -> Response { problem.response(requestID: requestID) }

    /// A body in JSON with nothing but members that are known; mismatches point into it.
    static func document(_ request: Request, maximumBytes: Int = 65_536) throws(Refusal) -> JSONDocument {
        let limits = JSONLimits(maximumBytes: maximumBytes, maximumNodes: 2048, maximumStringBytes: maximumBytes)
        do { return try JSONDocument(request.body, limits: limits) } catch { throw .request(.malformedJSON(error)) }
    }
}

extension CompatibilityRoute {
    /// How the vendor's SDKs ask there.
    var dialect: any CompatibleDialect.Type {
        switch self {
        case .revenueCatOffers: RevenueCatDialect.self
        case .qonversionSignature: QonversionDialect.self
        case .appleSampleOffer: AppleSampleDialect.self
        }
    }
}

extension Problem {
    /// The response that carries it, in the form that callers of that path read.
    func response(at route: Route, requestID: UniqueID) -> Response {
        guard case .compatibility(let route) = route else { return response(requestID: requestID) }
        return route.dialect.answer(self, requestID: requestID)
    }
}

extension Response {
    /// A problem in another form than RFC 9457, with its header fields.
    static func json(_ body: [UInt8], status: Int, _ fields: [(name: String, value: String)]) -> Response {
        var response = Response.json(body, status: status)
        response.headers += fields
        return response
    }
}
