// SPDX-License-Identifier: Apache-2.0

/// A request that ended without an entry of its own: by the call that was made and the problem that answered it.
///
/// Both are out of closed lists, so strangers can't make up more of them.
package struct Noise: Hashable, Sendable {
    /// `nil` of a request that the HTTP server turned away before anybody looked for its call.
    package let route: Route?
    /// The last part of the problem's `type`; of a sign-in to the console, why it failed.
    package let problem: String

    package init(route: Route?, problem: String) {
        self.route = route
        self.problem = problem
    }
}

extension Refusal {
    /// Whether nothing else in the audit log tells of it.
    var isNoise: Bool {
        switch self {
        case .request, .caller, .decision(.unknownOffer): true
        case .decision(.notEligible), .decision(.offerNotUsable), .service(.signingFailed): false
        case .service: true
        }
    }
}

extension AuditEntry {
    static func details(of noise: Counted<Noise>) -> [Member] {
        details(of: noise) { noise in
            [("problem", .text(noise.problem))] + (noise.route.map { [("call", .text($0.rawValue))] } ?? [])
        }
    }
}
