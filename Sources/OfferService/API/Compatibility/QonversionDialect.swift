// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime

/// `POST /v3/users/{userId}/offers/{offerId}/signatures` of Qonversion, which its SDK for Apple's platforms calls at the host
/// that `setProxyURL:` names.
///
/// It sends no evidence at all, so of an app's caller only what needs none can be granted.
enum QonversionDialect: CompatibleDialect {
    static func read(
        _ request: Request,
        _ match: RouteMatch,
        receivedAt now: Timestamp
    ) throws(Refusal) -> CompatibleRequest {
        try request.requireJSON()
        let document = try document(request)
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        let bundleID = reader.required("app_bundle_id", text: BundleID.init(utf8:))
        let productID = reader.required("product", text: ProductID.init(utf8:))
        let token = reader.member("app_account_token")
        let username =
            token?.stringSlice?.isEmpty == true
            ? nil : reader.optional("app_account_token", text: ApplicationUsername.init(utf8:))
        guard match.parameters.count == 2, let user = identifier(match.parameters[0]),
            let offer = identifier(match.parameters[1]),
            let anonymousID = try? AnonymousID(utf8: user), let offerID = try? OfferID(utf8: offer)
        else {
            let fault = "takes ids of 1 to 64 letters, digits, points, hyphens and underscores"
            throw .request(.invalidParameters([ParameterFault("The path", fault)]))
        }
        guard mismatches.all.isEmpty, let bundleID, let productID else { throw .invalid(mismatches) }
        var customer = StatedCustomer()
        customer.binding = username.map(PurchaseBinding.applicationUsername) ?? .none
        customer.anonymousID = anonymousID
        return CompatibleRequest(
            bundleID: bundleID,
            productID: productID,
            offerID: offerID,
            customer: customer,
            client: ReportedClient(
                library: "Qonversion",
                version: request.headers.only("Source-Version"),
                os: [request.headers.only("Platform"), request.headers.only("Platform-Version")]
            )
        )
    }

    /// A segment of the path, decoded; the SDK puts ids there as they are.
    private static func identifier(_ segment: ArraySlice<UInt8>) -> [UInt8]? {
        guard let decoded = PercentEncoding.decoded(segment) else { return nil }
        let isPlain = decoded.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isPlain && (1...64).contains(decoded.count) ? decoded : nil
    }

    /// The timestamp is never 0, or the SDK would take the device's clock, in seconds.
    static func answer(_ signed: SignedOffer, to request: CompatibleRequest) -> Response {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("key_identifier", plain: signed.plan.key.id.text)
        writer.member("nonce", id: signed.grant.terms.nonce)
        if let signature = signed.signature { writer.member("signature", plain: signature.span) }
        writer.member("timestamp", integer: signed.grant.terms.signedAt.milliseconds)
        writer.endObject()
        return .json(writer.bytes)
    }

    /// The SDK keeps 401, 402 and 403 in mind and makes no more calls, so these are 422, and so is what it knows no reason for.
    static func answer(_ problem: Problem, requestID: UniqueID) -> Response {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("error")
        writer.beginObject()
        writer.name("message")
        writer.string(problem.detail)
        writer.endObject()
        writer.endObject()
        let isUnprocessable = [401, 402, 403, 404, 409].contains(problem.status)
        let fields = problem.headers.filter { $0.name != "WWW-Authenticate" }
        return .json(writer.bytes, status: isUnprocessable ? 422 : problem.status, fields)
    }
}
