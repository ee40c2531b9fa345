// SPDX-License-Identifier: Apache-2.0
package import ServiceRuntime

/// How often callers of role `app` may ask; `nil` is as often as they like.
package struct AdmissionLimits: Sendable {
    /// For each caller, over all of its devices, unless the caller was added with a rate of its own.
    package var perApp: RateLimit?
    /// For each caller from one IPv4 address, or one IPv6 network of 64 bits.
    package var perAddress: RateLimit?
    /// For requests about each customer that evidence identifies.
    package var perSubject: RateLimit?

    package init(perApp: RateLimit? = nil, perAddress: RateLimit? = nil, perSubject: RateLimit? = nil) {
        self.perApp = perApp
        self.perAddress = perAddress
        self.perSubject = perSubject
    }

    /// How many requests of apps are under way at most, a quarter of what the ledger holds, and how many of one address.
    package static let (mostUnderWay, mostUnderWayPerAddress) = (1024, 64)
}
