// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Dispatch
package import HTTP
import JSON
import ServiceRuntime

/// Asks the service of these settings on this machine how it is, as a container's health check does.
package struct OwnHealth {
    /// What is asked.
    package enum Question: String, Sendable {
        case live, ready
    }

    /// What the service answered.
    package struct Answer: Sendable {
        /// Whether the service is ready.
        package let isGood: Bool
        /// Why not, a line each.
        package let reasons: [String]
    }

    private let origin: String
    private let client: Client

    /// - Throws: `ClientError`; never because the service does not answer.
    package init(_ settings: Settings, timeoutMilliseconds: Int) throws(ClientError) {
        let wildcards = ["0.0.0.0": "127.0.0.1", "::": "::1"]
        let host = wildcards[settings.listen.host] ?? settings.listen.host
        let scheme = settings.tls == nil ? "http" : "https"
        origin = "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(settings.listen.port)"
        var configuration = ClientConfiguration(timeoutMilliseconds: timeoutMilliseconds, allowsPlainHTTP: true)
        configuration.connectTimeoutMilliseconds = timeoutMilliseconds
        // Its certificate is for the name that clients know, and not for this address.
        configuration.trustsAnyServer = true
        client = try Client(configuration)
    }

    /// Asks, and blocks the thread meanwhile; that must not be one of Swift's shared pool.
    package func ask(_ question: Question) throws(ClientError) -> Answer {
        let request = try ClientRequest(.get, url: "\(origin)/health/\(question.rawValue)")
        try client.start()
        defer { client.stop() }
        let done = DispatchSemaphore(value: 0)
        let outcome = Guarded<Result<ClientResponse, ClientError>>(.failure(.stopped))
        Task { [client] in
            let answer: Result<ClientResponse, ClientError>
            do throws(ClientError) { answer = .success(try await client.send(request)) } catch {
                answer = .failure(error)
            }
            outcome.withLock { $0 = answer }
            done.signal()
        }
        done.wait()
        let response = try outcome.withLock { $0 }.get()
        return Answer(isGood: response.status == 200, reasons: Self.reasons(response))
    }

    /// The obstacles of an answer, or the detail of a problem.
    private static func reasons(_ response: ClientResponse) -> [String] {
        guard response.status != 200, let answer = (try? JSONDocument(response.body))?.root.object else { return [] }
        if let detail = answer["detail"]?.string { return [detail] }
        guard let obstacles = answer["obstacles"]?.array else { return [] }
        return obstacles.compactMap { obstacle in
            guard let name = obstacle.object?["name"]?.string else { return nil }
            return "\(name): \(obstacle.object?["detail"]?.string ?? "")"
        }
    }
}
