// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP

/// The revocation monitor with its HTTP client.
///
/// The client is separate because only it may use plain HTTP. So responders can't take connections, time or memory from
/// the stores.
struct Revocation: Sendable {
    let monitor: RevocationMonitor
    private let client: Client

    /// `nil` if revocation checks are off.
    init?(_ check: RevocationCheck, _ runtime: Runtime) throws(ClientError) {
        guard check != .off else { return nil }
        client = try Client(
            ClientConfiguration(
                timeoutMilliseconds: 5000,
                maximumResponseBytes: OCSPRequest.maximumResponseBytes,
                maximumHeadBytes: 8192,
                connectionsPerHost: 2,
                maximumWaiting: 16,
                userAgent: "offer-signer/\(Service.version)",
                allowsPlainHTTP: true
            )
        )
        monitor = RevocationMonitor(check, transport: client, runtime: runtime)
    }

    func start() throws(ClientError) {
        try client.start()
        monitor.start()
    }

    func stop() {
        monitor.stop()
        client.stop()
    }
}
