// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime

/// Interprets Google Play's answers, by status and reason.
///
/// A status alone decides little: 401 means an expired token or an account without rights, 403 means no rights or too
/// many requests, and a proxy may send any of them without Google. A definite answer (not found, gone, no rights)
/// counts only with a body of Google's.
struct GooglePlayReading: Sendable {
    let now: Timestamp

    private static let rateLimits: Set<String> = [
        "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded", "RESOURCE_EXHAUSTED",
    ]
    private static let lacksRights: Set<String> = ["permissionDenied", "PERMISSION_DENIED", "insufficientPermissions"]
    /// Google's reasons for a token that is invalid or belongs to another app.
    private static let foreignToken: Set<String> = ["invalid", "purchaseTokenDoesNotMatchPackageName"]

    /// A page of a list; `nil` for an empty answer: 204, or an object without members.
    func page(_ response: ClientResponse, of endpoint: GooglePlayEndpoint) -> StoreReading<JSONDocument?> {
        switch response.status {
        case 204: return .answer(nil)
        case 200: break
        default: return failure(response)
        }
        do throws(JSONError) {
            let document = try JSONDocument(response.body, limits: Self.limits(of: endpoint))
            guard let object = document.root.object else {
                return .failure(.badAnswer(reason: "the page is not an object"), server: .failed)
            }
            return .answer(object.isEmpty ? nil : document)
        } catch {
            return .failure(.badAnswer(reason: error.kind.sentence), server: .failed)
        }
    }

    func purchase(_ response: ClientResponse) -> StoreReading<GooglePlayLookup> {
        switch response.status {
        case 200: return found(response.body)
        case 400, 404, 410: break
        default: return failure(response)
        }
        let error = GoogleErrorBody(response.body, status: response.status)
        switch (response.status, error?.reason) {
        case (400, let reason?) where Self.foreignToken.contains(reason):
            return .answer(.notFound, outcome: "not-found")
        case (404, "purchaseTokenNotFound"), (404, "notFound"), (404, "NOT_FOUND"):
            return .answer(.notFound, outcome: "not-found")
        case (410, "subscriptionPurchaseNoLongerAvailable"): return .answer(.gone(.endedLongAgo), outcome: "gone")
        case (410, "purchaseTokenNoLongerValid"): return .answer(.gone(.superseded), outcome: "gone")
        case (410, .some): return .answer(.gone(.other), outcome: "gone")
        default: return failure(response)
        }
    }

    private func found(_ body: [UInt8]) -> StoreReading<GooglePlayLookup> {
        do throws(JSONError) {
            let document = try JSONDocument(body, limits: Self.limits(of: .subscriptionPurchase))
            guard document.root.object?.isEmpty == false else {
                return .failure(.badAnswer(reason: "the purchase is not an object, or an empty one"), server: .failed)
            }
        } catch {
            return .failure(.badAnswer(reason: error.kind.sentence), server: .failed)
        }
        return .answer(.found(GooglePlayAnswer(json: body, answeredAt: now)))
    }

    // MARK: - Errors

    func failure<Answer>(_ response: ClientResponse) -> StoreReading<Answer> {
        let status = response.status
        let error = GoogleErrorBody(response.body, status: status)
        let reason = error?.reason ?? ""
        switch status {
        case 429: return response.rateLimit(at: now)
        case 403 where Self.rateLimits.contains(reason): return response.rateLimit(at: now)
        case 401 where !Self.lacksRights.contains(reason): return .failure(.credentialsRefused, server: .succeeded)
        case 408, 500..<600:
            return .retry(.unavailable(retryAfter: response.retryAfter(at: now)), server: .failed)
        default: break
        }
        guard error != nil else { return .failure(.badAnswer(reason: "status \(status)"), server: .failed) }
        switch status {
        case 401, 403: return .failure(.notPermitted(reason: reason), server: .succeeded)
        case 404 where reason == "applicationNotFound": return .failure(.appUnknown(code: 404), server: .succeeded)
        case 404: return .failure(.notFound(code: 404), server: .succeeded)
        case 409: return .retry(.unavailable(retryAfter: nil), server: .succeeded)
        case 400..<500: return .failure(.requestRefused(status: status, code: 0), server: .succeeded)
        default: return .failure(.badAnswer(reason: "status \(status)"), server: .failed)
        }
    }

    /// Half a million nodes for a page: an offer in all regions has some 4500.
    private static func limits(of endpoint: GooglePlayEndpoint) -> JSONLimits {
        let isList = endpoint != .subscriptionPurchase
        return JSONLimits(
            maximumBytes: endpoint.maximumBytes,
            maximumDepth: 16,
            maximumNodes: isList ? 1_000_000 : 8192,
            maximumStringBytes: 64 * 1024
        )
    }
}
