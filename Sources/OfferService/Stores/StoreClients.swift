// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
package import HTTP
package import Ledger
import OfferDomain
package import ServiceRuntime
package import Stores

/// The stores, put together: one HTTP client for all of them, and what each is asked with.
package final class StoreClients: Sendable {
    /// Reads what the App Store signed, and asks it about customers.
    package let appStore: AppStore
    /// The API client that ``appStore`` uses, for requests that concern no customer.
    package let appStoreAPI: AppStoreServerAPI
    /// Asks Google Play about purchases, and what it lists.
    package let googlePlayAPI: GooglePlayAPI
    /// What Google Play lists of our apps.
    package let playCatalogs: PlayCatalogs
    /// Authenticates the notifications of Google Play; `nil` accepts none.
    package let googlePush: GooglePushAuthenticator?
    /// Sends all questions to stores: budgets, retries and circuit breakers are here.
    package let gateway: StoreGateway
    /// Where attestations of apps may end.
    let appAttestAnchors: TrustAnchors
    private let client: Client
    private let verifier: SignedDataVerifier
    private let revocation: Revocation?
    private let clock: WallClock

    /// Prepares everything; nothing is asked before ``start()``.
    package init(
        _ settings: Settings,
        current: CurrentSnapshot,
        committer: Committer,
        runtime: Runtime,
        retries: RetryPolicy = RetryPolicy()
    ) throws(ServiceError) {
        clock = runtime.clock
        do throws(ClientError) {
            client = try Client(settings.clientConfiguration)
            revocation = try Revocation(settings.revocationCheck, runtime.stores)
        } catch {
            throw .client(error)
        }
        do throws(ConfigurationError) {
            (verifier, appAttestAnchors) = (try settings.signedDataVerifier(), try settings.appAttestAnchors())
        } catch {
            throw .configuration(error)
        }
        gateway = StoreGateway(transport: client, runtime: runtime.stores, retries: retries)
        appStoreAPI = AppStoreServerAPI(
            gateway: gateway,
            signer: Self.tokenSigner(current, committer),
            runtime: runtime.stores,
            origins: settings.appStoreOrigins
        )
        appStore = AppStore(authenticator: Self.authenticator(verifier, revocation), api: appStoreAPI)
        googlePlayAPI = GooglePlayAPI(
            gateway: gateway,
            signer: Self.assertionSigner(current, committer),
            runtime: runtime.stores,
            origins: settings.googleOrigins
        )
        playCatalogs = PlayCatalogs(listing: googlePlayAPI, metrics: runtime.metrics, log: runtime.log)
        googlePush = settings.pushAuthenticator(through: gateway, runtime: runtime)
    }

    /// Starts the threads that send requests; all of them, or none.
    package func start() throws(ClientError) {
        try client.start()
        do throws(ClientError) {
            try revocation?.start()
        } catch {
            client.stop()
            throw error
        }
    }

    /// Ends what is in flight, and the threads.
    package func stop() {
        revocation?.stop()
        client.stop()
    }

    /// Problems of the stores that the operator should know about.
    package var warnings: [Obstacle] {
        (revocation?.monitor.warnings ?? []) + playCatalogs.warnings
    }

    /// The stores' gauges for the metrics, besides the counters.
    package var gauges: [Gauge] {
        [gateway.breakerGauge] + client.statistics.gauges + verifier.statistics.gauges
            + (revocation?.monitor.gauges ?? []) + playCatalogs.gauges(at: clock.now())
    }

    /// Checks revocation too, unless that is off.
    private static func authenticator(
        _ verifier: SignedDataVerifier,
        _ revocation: Revocation?
    ) -> any SignedDataAuthenticator {
        revocation.map { RevocationAwareAuthenticator(verifier, $0.monitor) } ?? verifier
    }

    /// Signs with the key in force, once its use is on record.
    private static func tokenSigner(_ current: CurrentSnapshot, _ committer: Committer) -> KeyRingTokenSigner {
        KeyRingTokenSigner(keyUseGuard: committer.keyUseGuard) { bundleID in
            current.value.keyRing.activeKey(for: bundleID, purpose: .appStoreServerAPI)
        } record: { key, request, digest throws(StoreError) in
            let event = AuditEvent.key(
                .storeTokenSigned(
                    keyID: key.id,
                    request.bundleID,
                    digest: digest.hex,
                    expiresAt: request.expiresAt
                )
            )
            let stop: KeyStop?
            do throws(LedgerError) {
                stop = try await committer.append([event], using: key.id)
            } catch {
                throw .cannotSign(reason: error.label)
            }
            if let stop { throw .cannotSign(reason: stop.reason) }
        }
    }

    /// Signs with the service account in force, once the use of its key is on record.
    private static func assertionSigner(_ current: CurrentSnapshot, _ committer: Committer) -> KeyRingAssertionSigner {
        KeyRingAssertionSigner(keyUseGuard: committer.keyUseGuard) { packageName in
            current.value.keyRing.serviceAccount(for: packageName)
        } record: { account, expiresAt, digest throws(StoreError) in
            let event = AuditEvent.key(.googleAssertionSigned(account.name, digest: digest.hex, expiresAt: expiresAt))
            let stop: KeyStop?
            do throws(LedgerError) {
                stop = try await committer.append([event], using: nil)
            } catch {
                throw .cannotSign(reason: error.label)
            }
            if let stop { throw .cannotSign(reason: stop.reason) }
        }
    }
}

extension Settings {
    /// How the stores are called.
    var clientConfiguration: ClientConfiguration {
        ClientConfiguration(
            trustedCertificatesFile: trustedCertificatesPath,
            userAgent: Program.userAgent,
            allowsPlainHTTP: ([appStoreOrigins.production, appStoreOrigins.sandbox] + googleOrigins.all)
                .contains { $0.scheme == .http }
        )
    }

    /// Authenticates the notifications of Google Play; `nil` accepts none.
    fileprivate func pushAuthenticator(through gateway: StoreGateway, runtime: Runtime) -> GooglePushAuthenticator? {
        let keys = GoogleSigningKeys(gateway: gateway, origin: googleOrigins.certs, log: runtime.log)
        return googlePush.map { GooglePushAuthenticator(expecting: $0, keys: keys, clock: runtime.clock) }
    }
}
