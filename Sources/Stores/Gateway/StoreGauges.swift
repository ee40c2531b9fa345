// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import HTTP
package import ServiceRuntime

extension ClientStatistics {
    /// What the client that asks the stores has done so far.
    package var gauges: [Gauge] {
        [
            Gauge(
                "offer_signer_store_client_requests_in_flight",
                help: "Requests to stores that are sent or wait to be sent",
                [.init(Double(inFlight))]
            ),
            Gauge(
                "offer_signer_store_client_requests_total",
                help: "Requests to stores that ended, with an answer or without",
                type: "counter",
                [
                    .init(Double(answered), labels: [("outcome", "answered")]),
                    .init(Double(failed), labels: [("outcome", "failed")]),
                ]
            ),
            Gauge(
                "offer_signer_store_client_connections_opened_total",
                help: "Connections made to stores",
                type: "counter",
                [.init(Double(connectionsOpened))]
            ),
        ]
    }
}

extension SignedDataStatistics {
    /// How signed data was verified so far.
    package var gauges: [Gauge] {
        [
            Gauge(
                "offer_signer_signed_data_verifications_total",
                help: "Signatures of the App Store verified, under a chain that was cached or new",
                type: "counter",
                [
                    .init(Double(hits), labels: [("chain", "remembered")]),
                    .init(Double(misses), labels: [("chain", "new")]),
                ]
            ),
            Gauge(
                "offer_signer_signed_data_remembered_chains",
                help: "Headers of signed data whose chain is remembered",
                [.init(Double(rememberedChains))]
            ),
        ]
    }
}
