// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferSignerClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers requests from a list, and keeps them.
final class ScriptedTransport: HTTPTransport, @unchecked Sendable {
    /// What happens to one request.
    enum Event: Sendable {
        case answer(Int, String, headers: [String: String] = [:])
        case failure(URLError.Code)
    }

    private let lock = NSLock()
    private var events: [Event]
    private var seen: [URLRequest] = []

    init(_ events: [Event]) { self.events = events }

    var requests: [URLRequest] { lock.withLock { seen } }

    func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let event = lock.withLock {
            seen.append(request)
            return events.isEmpty ? .failure(.unknown) : events.removeFirst()
        }
        switch event {
        case .failure(let code): throw URLError(code)
        case .answer(let status, let body, let headers):
            let type = status == 200 ? "application/json" : "application/problem+json"
            let fields = ["Content-Type": type].merging(headers) { $1 }
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url,
                    statusCode: status,
                    httpVersion: "HTTP/1.1",
                    headerFields: fields
                )
            else { throw URLError(.badURL) }
            return (Data(body.utf8), response)
        }
    }
}

/// Gives tokens one after the other.
actor Tokens {
    private var count = 0

    func next() -> String {
        count += 1
        return "token-\(count)"
    }
}

extension URLRequest {
    /// The body as an object of JSON.
    var members: [String: Any] {
        get throws {
            let object = try JSONSerialization.jsonObject(with: httpBody ?? Data())
            return object as? [String: Any] ?? [:]
        }
    }
}
