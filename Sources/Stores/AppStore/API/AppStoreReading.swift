// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime

/// Makes sense of what the App Store answers.
///
/// Sources: Apple, [error codes](https://developer.apple.com/documentation/appstoreserverapi/error-codes) and
/// [Error, errors to retry](https://developer.apple.com/documentation/appstoreserverapi/accountnotfoundretryableerror).
package struct AppStoreReading: Sendable {
    let bundleID: BundleID
    let environment: StoreEnvironment
    let now: Timestamp

    /// The code for “not in this environment”, the only one after which the other environment is asked.
    static let transactionIDNotFound: Int64 = 4_040_010

    /// Codes for an unknown ID: of an account, an original transaction, a transaction or an app transaction.
    private static let notFound: Set<Int64> = [4_040_001, 4_040_005, transactionIDNotFound, 4_040_019]
    /// Codes that allow another try, according to Apple.
    private static let retried: Set<Int64> = [4_040_002, 4_040_004, 4_040_006, 5_000_001]
    /// Codes for a wrong ID of our app.
    package static let appUnknown: Set<Int64> = [4_000_002, 4_040_003]

    func read<Answer: AppStoreAnswer>(_ response: ClientResponse) -> StoreReading<Answer> {
        if let answer = Answer.withoutBody, response.status == 200 || response.status == 204 { return .answer(answer) }
        switch response.status {
        case 200: return readAnswer(response.body)
        case 401: return .failure(.credentialsRefused, server: .succeeded)
        case 429: return .limited(until: retryAfter(response))
        case 400..<600: return readError(response)
        default: return .failure(.badAnswer(reason: "status \(response.status)"), server: .failed)
        }
    }

    // MARK: - Answers

    private func readAnswer<Answer: AppStoreAnswer>(_ body: [UInt8]) -> StoreReading<Answer> {
        let document: JSONDocument
        do {
            document = try JSONDocument(body, limits: Self.limits)
        } catch {
            return .failure(.badAnswer(reason: error.kind.sentence), server: .failed)
        }
        let mismatches = Mismatches()
        var reader = AnswerReader(document.root, into: mismatches)
        // The reason names only where a value is, not the value, which may be customer data.
        if let reason = mismatchOfAppOrEnvironment(&reader) {
            return .failure(.badAnswer(reason: reason), server: .failed)
        }
        let answer = Answer(&reader)
        if let first = mismatches.all.first {
            let place = first.pointer.isEmpty ? "the answer" : first.pointer
            return .failure(.badAnswer(reason: "\(place) is missing or not as expected"), server: .failed)
        }
        guard let answer else { return .failure(.badAnswer(reason: "it contradicts itself"), server: .failed) }
        return .answer(answer)
    }

    /// Why the answer does not fit the question (another app, the other environment); `nil` if it does.
    private func mismatchOfAppOrEnvironment(_ reader: inout AnswerReader) -> String? {
        if let found = reader.text("bundleId"), found != bundleID.text { return "it is about another app" }
        let expected =
            switch environment {
            case .production: "Production"
            case .sandbox: "Sandbox"
            }
        if let found = reader.text("environment"), found != expected { return "it is from another environment" }
        return nil
    }

    /// A page of history holds twenty JWS of some kilobytes each; the client bounds the whole.
    private static let limits = JSONLimits(
        maximumBytes: 4 * 1024 * 1024,
        maximumDepth: 16,
        maximumNodes: 50_000,
        maximumStringBytes: 64 * 1024
    )

    // MARK: - Errors

    private func readError<Answer: AppStoreAnswer>(_ response: ClientResponse) -> StoreReading<Answer> {
        let code = Self.errorCode(response.body)
        let server: CircuitBreaker.Result = response.status >= 500 ? .failed : .succeeded
        if let code {
            if Self.retried.contains(code) { return .retry(.unavailable(retryAfter: nil), server: server) }
            if Self.notFound.contains(code) { return .failure(.notFound(code: code), server: server) }
            if Self.appUnknown.contains(code) { return .failure(.appUnknown(code: code), server: server) }
            if code == 4_290_000 { return .limited(until: retryAfter(response)) }
        }
        switch response.status {
        case 502, 503, 504: return .retry(.unavailable(retryAfter: retryAfter(response)), server: .failed)
        case 500...: return .failure(.unavailable(retryAfter: retryAfter(response)), server: .failed)
        default: return .failure(.requestRefused(status: response.status, code: code ?? 0), server: .succeeded)
        }
    }

    /// `errorCode` of an error's body; `nil` if the body is something else, as a proxy's page.
    private static func errorCode(_ body: [UInt8]) -> Int64? {
        guard let document = try? JSONDocument(body) else { return nil }
        return document.root.object?["errorCode"]?.integer
    }

    /// Reads `Retry-After`, which Apple writes as the UNIX time in milliseconds.
    ///
    /// Also read as RFC 9110 has it, as seconds from now. What is not within the next hour, in which Apple counts, is
    /// ignored.
    private func retryAfter(_ response: ClientResponse) -> Timestamp? {
        guard response.headers.count(of: "retry-after") == 1,
            let text = response.headers.first("retry-after"), (1...15).contains(text.count),
            text.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let number = Int64(String(decoding: text, as: UTF8.self))
        else { return nil }
        let time = number <= 3600 ? now.adding(seconds: Int(number)) : Timestamp(milliseconds: number)
        return time > now && time <= now.adding(hours: 1) ? time : nil
    }
}
