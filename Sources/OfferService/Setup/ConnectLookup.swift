// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
import Dispatch
import HTTP
package import OfferDomain
package import ServiceRuntime
package import Stores

/// Reads what App Store Connect has of an app, for a person who sets the service up.
///
/// There is no log yet, so this use of the key is not on record. The key signs no offers.
package struct ConnectLookup {
    private let key: AppStoreConnectKey
    private let origin: Origin
    private let client: Client
    private let clock: WallClock

    /// Reads the key's file; nothing is asked before ``app(_:)``.
    package init(
        file: String,
        id: KeyID,
        issuerID: IssuerID,
        settings: Settings,
        clock: WallClock
    ) throws(SetupError) {
        let pem: SecureBytes
        do { pem = try SecretFile.readDownloaded(path: file) } catch { throw SetupError("\(file): \(error)") }
        do {
            key = AppStoreConnectKey(id: id, issuerID: issuerID, privateKey: try PrivateKey(pem: pem))
        } catch {
            throw SetupError("\(file): \(error)")
        }
        do { client = try Client(settings.clientConfiguration) } catch { throw SetupError("\(error)") }
        origin = settings.appStoreConnectOrigin
        self.clock = clock
    }

    /// Asks, and blocks the thread meanwhile; that must not be one of Swift's shared pool.
    ///
    /// - Throws: Why nothing is known, or that the key sees no such app.
    package func app(_ bundleID: BundleID) throws(SetupError) -> ConnectApp {
        let token: String
        do { token = try key.signed(key.unsignedToken(at: clock.now()).token) } catch { throw SetupError("\(error)") }
        do { try client.start() } catch { throw SetupError("\(error)") }
        defer { client.stop() }
        let api = AppStoreConnectAPI(AuthorizedServer(transport: client, origin: origin, token: token))
        let done = DispatchSemaphore(value: 0)
        let outcome = Guarded<Result<ConnectApp?, AppStoreConnectError>>(.success(nil))
        Task {
            let found: Result<ConnectApp?, AppStoreConnectError>
            do throws(AppStoreConnectError) {
                found = .success(try await api.app(bundleID))
            } catch {
                found = .failure(error)
            }
            outcome.withLock { $0 = found }
            done.signal()
        }
        done.wait()
        let app: ConnectApp?
        do { app = try outcome.withLock { $0 }.get() } catch { throw SetupError(error.description) }
        guard let app else {
            throw SetupError(
                "App Store Connect shows the key no app of the bundle ID \(bundleID). Its letter case counts."
            )
        }
        return app
    }
}
