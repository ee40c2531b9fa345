// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import ServiceRuntime

/// Reads the keys of the identity providers in force with an HTTP client of its own.
///
/// A provider that hangs takes no connection and no place in a queue from the stores.
final class ProviderConnection: Sendable {
    private let keys: ProviderKeys
    let client: Client
    private let current: CurrentSnapshot

    /// Prepares everything; no provider is asked before ``start()``.
    init(_ keys: ProviderKeys, of current: CurrentSnapshot, _ settings: Settings) throws(ServiceError) {
        self.keys = keys
        self.current = current
        do throws(ClientError) { client = try Client(settings.providerClientConfiguration) } catch {
            throw .client(error)
        }
    }

    /// Starts the thread that sends requests, and asks the providers.
    func start() throws(ServiceError) {
        do throws(ClientError) { try client.start() } catch { throw .client(error) }
        keys.start(client, current: current)
    }

    /// Ends what is in flight, and the thread.
    func stop() {
        keys.stop()
        client.stop()
    }
}

extension Settings {
    /// How identity providers are called.
    ///
    /// Plain HTTP is for providers on this machine; `ProviderAddress` refuses it for every other address.
    var providerClientConfiguration: ClientConfiguration {
        var configuration = ClientConfiguration(
            maximumResponseBytes: 65_536,
            trustedCertificatesFile: trustedCertificatesPath,
            userAgent: Program.userAgent,
            allowsPlainHTTP: true
        )
        configuration.maximumWaiting = 64
        return configuration
    }
}
