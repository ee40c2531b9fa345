// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
package import OfferDomain

/// Asks Apple's Retention Messaging API what is set up for an app, and for performance tests; each question once.
///
/// Source: Apple, [Retention Messaging API](https://developer.apple.com/documentation/retentionmessaging).
package struct RetentionMessagingAPI: Sendable {
    private let server: AuthorizedServer

    package init(_ server: AuthorizedServer) { self.server = server }

    private static let timeoutMilliseconds = 10_000

    /// The messages that were uploaded, with their states.
    package func messages() async throws(RetentionMessagingError) -> [UploadedMessage] {
        let object = try await answer(.get, ["message", "list"])
        guard let items = object["messageIdentifiers"]?.array else { throw .unreadable }
        var messages: [UploadedMessage] = []
        for item in items {
            guard let message = item.object.flatMap(UploadedMessage.init) else { throw .unreadable }
            messages.append(message)
        }
        return messages
    }

    /// The real-time URL; `nil` if none is configured.
    package func realtimeURL() async throws(RetentionMessagingError) -> String? {
        try await text("realtimeURL", ["realtime", "url"], absent: RetentionMessagingError.noRealtimeURL)
    }

    /// The default message of a product in a locale; `nil` if none is configured.
    package func defaultMessage(
        of productID: String,
        in locale: String
    ) async throws(RetentionMessagingError) -> String? {
        try await text(
            "messageIdentifier",
            ["default", productID, locale],
            absent: RetentionMessagingError.noDefaultMessage
        )
    }

    /// Starts a performance test of the sandbox's real-time URL.
    package func startPerformanceTest(
        of transactionID: TransactionID
    ) async throws(RetentionMessagingError) -> StartedPerformanceTest {
        var body = JSONWriter(reserving: 64)
        body.beginObject()
        body.name("originalTransactionId")
        body.string(transactionID.text)
        body.endObject()
        let object = try await answer(.post, ["performanceTest"], body: body.bytes)
        guard let id = object["requestId"]?.string, !id.isEmpty else { throw .unreadable }
        return StartedPerformanceTest(
            requestID: id,
            load: object["config"]?.object.map(PerformanceTestResult.Load.init)
        )
    }

    /// How far a performance test is.
    package func performanceTest(_ requestID: String) async throws(RetentionMessagingError) -> PerformanceTestResult {
        let object = try await answer(.get, ["performanceTest", "result", requestID])
        guard let result = PerformanceTestResult(object) else { throw .unreadable }
        return result
    }

    // MARK: - Questions

    private func text(
        _ name: String,
        _ path: [String],
        absent code: Int64
    ) async throws(RetentionMessagingError) -> String? {
        do throws(RetentionMessagingError) {
            guard let text = try await answer(.get, path)[name]?.string else { throw .unreadable }
            return text
        } catch {
            if case .code(code, _) = error { return nil }
            throw error
        }
    }

    private func answer(
        _ method: HTTP.Method,
        _ path: [String],
        body: [UInt8] = []
    ) async throws(RetentionMessagingError) -> JSONObject {
        var headers = server.headers
        if !body.isEmpty { headers.append("Content-Type", "application/json") }
        let response: ClientResponse
        do throws(ClientError) {
            var request = try ClientRequest(
                method,
                server.origin,
                path: ["inApps", "v1", "messaging"] + path,
                headers: headers
            )
            request.body = body
            request.timeoutMilliseconds = Self.timeoutMilliseconds
            response = try await server.transport.send(request)
        } catch {
            throw .notReached(error)
        }
        let object = AuthorizedServer.object(in: response)
        if let error = RetentionMessagingError(status: response.status, code: object?["errorCode"]?.integer) {
            throw error
        }
        guard let object else { throw .unreadable }
        return object
    }
}

/// A message as Apple's list has it.
package struct UploadedMessage: Hashable, Sendable {
    /// `messageIdentifier`: the ID that the team gave the message when it uploaded it.
    package let id: UniqueID
    /// `PENDING`, `APPROVED` or `REJECTED`; others may come.
    package let state: String
    /// `nil` if the list does not state it, as in Apple's documentation.
    package let hasImage: Bool?

    package init(id: UniqueID, state: String, hasImage: Bool? = nil) {
        (self.id, self.state, self.hasImage) = (id, state, hasImage)
    }

    init?(_ item: JSONObject) {
        guard let id = item["messageIdentifier"]?.stringSlice.flatMap({ UniqueID(utf8: $0) }),
            let state = item["messageState"]?.string
        else { return nil }
        (self.id, self.state) = (id, state)
        hasImage = item["image"].map { !$0.isNull }
    }
}
