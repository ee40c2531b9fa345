// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime

extension RevenueCatDialect {
    /// The codes that the SDK knows, `BackendErrorCode`.
    enum Code: Int64 {
        case invalidReceiptToken = 7103
        case internalServerError = 7110
        case invalidAPIKey = 7225
        case badRequest = 7226
        case userIneligibleForPromoOffer = 7232
        case invalidAppleSubscriptionKey = 7234
        case invalidAppUserID = 7256
    }

    /// The response has no ETag, because the SDK caches responses with an ETag by URL alone, across users.
    static func answer(_ signed: SignedOffer, to request: CompatibleRequest) -> Response {
        answer(to: request, keyID: signed.plan.key.id) { writer in
            writer.name("signature_data")
            writer.beginObject()
            if let signature = signed.signature { writer.member("signature", plain: signature.span) }
            writer.member("nonce", id: signed.grant.terms.nonce)
            writer.member("timestamp", integer: signed.grant.terms.signedAt.milliseconds)
            writer.endObject()
            writer.name("signature_error")
            writer.null()
        }
    }

    static func answer(_ refusal: Refusal, to request: CompatibleRequest, keyID: KeyID?) -> Response? {
        guard let code = code(of: refusal) else { return nil }
        return answer(to: request, keyID: keyID) { writer in
            writer.name("signature_data")
            writer.null()
            writer.name("signature_error")
            writer.beginObject()
            writer.member("code", integer: code.rawValue)
            writer.name("message")
            writer.string(message(of: refusal, to: request))
            writer.endObject()
        }
    }

    static func answer(_ problem: Problem, requestID: UniqueID) -> Response {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("code", integer: code(of: problem).rawValue)
        writer.name("message")
        writer.string(problem.detail)
        writer.endObject()
        var fields = problem.headers
        if problem.status == 503, !fields.contains(where: { $0.name == "Retry-After" }) {
            fields.append(("Retry-After", "60"))
        }
        return .json(writer.bytes, status: problem.status, fields)
    }

    /// Of what concerns the offer; `nil` of everything else.
    private static func code(of refusal: Refusal) -> Code? {
        switch refusal {
        case .decision, .request(.signedDataOfOtherAccount), .request(.transactionNotShown):
            .userIneligibleForPromoOffer
        // Its SDK can't prove that the app is genuine.
        case .caller(.genuineAppRequired): .userIneligibleForPromoOffer
        case .request(.signedDataRefused), .request(.refusedByStore): .invalidReceiptToken
        case .service(.keyUnavailable): .invalidAppleSubscriptionKey
        case .request, .caller, .service: nil
        }
    }

    private static func code(of problem: Problem) -> Code {
        switch problem.status {
        case 401, 403: .invalidAPIKey
        case 429, 500...: .internalServerError
        default: problem.mismatches.contains { $0.pointer == "/app_user_id" } ? .invalidAppUserID : .badRequest
        }
    }

    private static func message(of refusal: Refusal, to request: CompatibleRequest) -> String {
        let detail = Problem(refusal).detail
        switch refusal {
        case .decision(.unknownOffer):
            return "\(detail) Offer \(request.offerID.text) of product \(request.productID.text) was asked for."
        case .decision(.notEligible(.undecided, _, _)) where request.customer.signedData.isEmpty:
            return "Too little is known of this customer: fetch_token is not a transaction that StoreKit 2 signed."
        default: return detail
        }
    }

    private static func answer(
        to request: CompatibleRequest,
        keyID: KeyID?,
        _ write: (inout JSONWriter) -> Void
    ) -> Response {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("offers")
        writer.beginArray()
        writer.beginObject()
        writer.member("offer_id", plain: request.offerID.text)
        writer.member("product_id", plain: request.productID.text)
        writer.member("key_id", plain: keyID?.text ?? "")
        write(&writer)
        writer.endObject()
        writer.endArray()
        writer.endObject()
        return .json(writer.bytes)
    }
}
