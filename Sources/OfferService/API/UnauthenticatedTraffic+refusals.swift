// SPDX-License-Identifier: Apache-2.0
import Ledger

extension Refusal {
    /// Whether the audit log only counts it, without an entry of its own.
    var isOnlyCounted: Bool {
        switch self {
        case .request, .caller, .decision(.unknownOffer): true
        case .decision(.notEligible), .decision(.offerNotUsable), .service(.signingFailed): false
        case .service: true
        }
    }
}

extension UnauthenticatedTraffic {
    /// `route` is `nil` of a request that the HTTP server turned away before its call was looked for.
    package init(route: Route?, problem: String) {
        self.init(call: route?.path, problem: problem)
    }
}
