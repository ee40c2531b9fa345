// SPDX-License-Identifier: Apache-2.0

extension FakeAppStore {
    /// A message as Apple's list has it.
    package struct RetentionMessage: Encodable, Sendable {
        let messageIdentifier: String
        let messageState: String
        let image: [String: String]?

        /// Apple's documented list has no images.
        package init(_ id: String, _ state: String = "APPROVED", image: String? = nil) {
            (messageIdentifier, messageState) = (id, state)
            self.image = image.map { ["imageIdentifier": $0] }
        }
    }

    private struct Messaging: Encodable {
        let environment: Environment
        let bundleId: String
        let messages: [RetentionMessage]
        let realtimeURL: String?
        let defaults: [String: String]
    }

    /// Gives the app's team access to Retention Messaging in an environment, with what is set up there.
    ///
    /// Default messages are identifiers by “product/locale”.
    package func setMessaging(
        _ messages: [RetentionMessage],
        realtimeURL: String?,
        defaults: [String: String] = [:],
        in environment: Environment,
        bundleID: String = "com.example.app"
    ) throws {
        try perform(
            "setMessaging",
            Messaging(
                environment: environment,
                bundleId: bundleID,
                messages: messages,
                realtimeURL: realtimeURL,
                defaults: defaults
            )
        )
    }

    /// What each question about a performance test is answered, the last one again and again.
    package func setPerformanceTest(_ results: [Members]) throws {
        try perform("setPerformanceTest", ["results": results])
    }
}
