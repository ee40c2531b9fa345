// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import Ledger

extension Settings {
    /// How the service listens; `rejected` is called with what the server answers by itself.
    func serverConfiguration(
        under current: CurrentSnapshot,
        rejected: @escaping @Sendable (Problem) -> Void
    ) -> ServerConfiguration {
        var configuration = ServerConfiguration(address: listen.host, port: listen.port)
        if let loops { configuration.loops = loops }
        configuration.limits.bodyBytes = 65_536
        configuration.limits.bodyBytesByPath = [
            Array(OfferRoute.promotionalOfferBatch.rawValue.utf8): SignatureBatch.maximumBytes,
            // Apps of StoreKit 1 send their whole receipt; it is of no use, but the answer has to say so.
            Array(CompatibilityRoute.revenueCatOffers.rawValue.utf8): RevenueCatDialect.maximumBytes,
        ]
        // Balancers ask so by default: HAProxy's option httpchk among them.
        configuration.limits.pathsForHTTP10 = Set([OperationRoute.live, .ready].map { Array($0.rawValue.utf8) })
        configuration.limits.connections = connections
        configuration.limits.connectionsPerAddress = connectionsPerAddress
        configuration.tls = tls
        configuration.asksForCertificates = { current.value.asksForCertificates }
        configuration.rejectionResponse = { rejection in
            let problem = Problem(.request(.rejected(rejection)))
            rejected(problem)
            return problem.response(requestID: nil)
        }
        return configuration
    }
}

extension Settings {
    /// The configuration of the administration listener; `nil` if there is none.
    ///
    /// One event loop and few connections are enough, because only operators can reach it.
    func adminConfiguration(
        under current: CurrentSnapshot,
        rejected: @escaping @Sendable (Problem) -> Void
    ) -> ServerConfiguration? {
        guard let adminListen else { return nil }
        var configuration = serverConfiguration(under: current, rejected: rejected)
        (configuration.address, configuration.port, configuration.loops) = (adminListen.host, adminListen.port, 1)
        (configuration.limits.connections, configuration.limits.connectionsPerAddress) = (64, 64)
        return configuration
    }
}

extension EventLoop: AskingThread {}
