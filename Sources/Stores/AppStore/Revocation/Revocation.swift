// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
package import HTTP
import ServiceRuntime

/// The revocation monitor with its HTTP client.
///
/// The client is separate because only it may use plain HTTP. So responders can't take connections, time or memory from
/// the stores.
package struct Revocation: Sendable {
    package let monitor: RevocationMonitor
    private let client: Client

    /// `nil` if revocation checks are off.
    package init?(_ check: RevocationCheck, _ runtime: StoreRuntime) throws(ClientError) {
        guard check != .off else { return nil }
        var configuration = ClientConfiguration(
            timeoutMilliseconds: 5000,
            maximumResponseBytes: OCSPRequest.maximumResponseBytes,
            userAgent: Program.userAgent,
            allowsPlainHTTP: true
        )
        configuration.maximumHeadBytes = 8192
        configuration.connectionsPerHost = 2
        configuration.maximumWaiting = 16
        client = try Client(configuration)
        monitor = RevocationMonitor(check, transport: client, runtime: runtime)
    }

    package func start() throws(ClientError) {
        try client.start()
        monitor.start()
    }

    package func stop() {
        monitor.stop()
        client.stop()
    }
}
