// SPDX-License-Identifier: Apache-2.0
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests, tries again where that is safe and may help, and reads answers.
struct RequestSender: Sendable {
    let url: URL
    let transport: any HTTPTransport
    let retries: RetryPolicy
    let token: OfferSignerClient.TokenSource

    /// Sends the request until it is answered, and returns the answer.
    ///
    /// - Throws: ``OfferSignerError``, or what the token source throws, or `CancellationError`.
    func send<Answer: Decodable>(
        _ request: some Encodable,
        to path: String,
        idempotencyKey: String? = nil
    ) async throws -> Answer {
        var urlRequest = URLRequest(url: url.appendingPathComponent(path))
        urlRequest.httpMethod = "POST"
        urlRequest.httpBody = try JSONCoding.encoder().encode(request)
        urlRequest.setValue("application/json", forHTTPHeaderField: "Content-Type")
        urlRequest.setValue("application/json, application/problem+json", forHTTPHeaderField: "Accept")
        urlRequest.setValue(idempotencyKey, forHTTPHeaderField: "Idempotency-Key")
        let (body, response) = try await answer(to: urlRequest)
        guard response.statusCode == 200 else { throw refusal(body, response) }
        do {
            return try JSONCoding.decoder().decode(Answer.self, from: body)
        } catch {
            throw OfferSignerError.unreadableAnswer(status: 200, reason: "\(error)")
        }
    }

    private func answer(to request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        var (request, tries) = (request, 0)
        while true {
            request.setValue("Bearer \(try await token())", forHTTPHeaderField: "Authorization")
            tries += 1
            do {
                let (body, response) = try await transport.send(request)
                let (status, retryAfter) = (response.statusCode, response.retryAfter)
                guard let wait = retries.wait(after: tries, status: status, retryAfter: retryAfter) else {
                    return (body, response)
                }
                try await sleep(wait)
            } catch let error as URLError where error.code != .cancelled {
                guard let wait = retries.wait(after: tries, status: nil, retryAfter: nil) else {
                    throw OfferSignerError.unreachable(error)
                }
                try await sleep(wait)
            }
        }
    }

    private func sleep(_ seconds: Double) async throws {
        try await Task.sleep(nanoseconds: UInt64(max(0, seconds) * 1_000_000_000))
    }

    private func refusal(_ body: Data, _ response: HTTPURLResponse) -> OfferSignerError {
        let (status, type) = (response.statusCode, response.value(forHTTPHeaderField: "Content-Type"))
        guard type?.hasPrefix("application/problem+json") == true,
            var problem = try? JSONCoding.decoder().decode(Problem.self, from: body)
        else { return .unreadableAnswer(status: status, reason: "the answer is no problem document") }
        problem.retryAfter = response.retryAfter
        return .refused(problem)
    }
}

extension HTTPURLResponse {
    /// The whole seconds of `Retry-After`; `nil` without it.
    fileprivate var retryAfter: Int? {
        value(forHTTPHeaderField: "Retry-After").flatMap { Int($0.trimmingCharacters(in: .whitespaces)) }
    }
}
