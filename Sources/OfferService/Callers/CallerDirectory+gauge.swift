// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import ServiceRuntime

extension CallerDirectory {
    /// When the last live key of each caller expires; callers with a live key that does not expire are left out.
    func expiryGauge(at now: Timestamp) -> Gauge {
        let samples = lastExpiries(at: now).map { caller, expiry in
            Gauge.Sample(Double(expiry.milliseconds) / 1000, labels: [("caller", caller.text)])
        }
        return Gauge(
            "offer_signer_api_key_expiry_timestamp_seconds",
            help:
                "When the last live API key of a caller expires, in seconds since 1970 UTC; absent if one does not expire",
            samples
        )
    }
}
