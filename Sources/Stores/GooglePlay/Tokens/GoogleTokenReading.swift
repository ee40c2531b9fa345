// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime

/// Interprets the answers of Google's token server.
///
/// Source: RFC 6749 sections 5.1 and 5.2; Google,
/// [JWT error codes](https://developers.google.com/identity/protocols/oauth2/service-account#error-codes).
struct GoogleTokenReading: Sendable {
    let now: Timestamp
    /// Receives why Google gave no token: the code, and its description.
    let refused: @Sendable (_ code: String, _ description: String) -> Void

    /// Codes after which another attempt may succeed, whatever the status.
    private static let retried: Set<String> = ["internal_failure", "server_error", "temporarily_unavailable"]

    func read(_ response: ClientResponse) -> StoreReading<GrantedToken> {
        guard response.status != 200 else {
            let object = (try? JSONDocument(response.body))?.root.object
            guard let token = object.flatMap(GrantedToken.init) else {
                return .failure(.badAnswer(reason: "no token that can be used"), server: .failed)
            }
            return .answer(token)
        }
        let error = (try? JSONDocument(response.body))?.root.object
        let code = error?["error"]?.string
        if let code, Self.retried.contains(code) { return .retry(.unavailable(retryAfter: nil), server: .failed) }
        switch response.status {
        case 408: return .retry(.unavailable(retryAfter: nil), server: .failed)
        case 429: return response.rateLimit(at: now)
        case 500...:
            return .retry(.unavailable(retryAfter: response.retryAfter(at: now)), server: .failed)
        case 400..<500:
            // Without a code, the refusal does not come from Google.
            guard let code else { return .failure(.badAnswer(reason: "status \(response.status)"), server: .failed) }
            refused(code, error?["error_description"]?.string ?? "")
            return .failure(.credentialsRefused, server: .succeeded)
        default: return .failure(.badAnswer(reason: "status \(response.status)"), server: .failed)
        }
    }
}
