// SPDX-License-Identifier: Apache-2.0
package import HTTP
package import OfferDomain

/// Where the App Store Server API is asked, by environment.
package struct AppStoreOrigins: Hashable, Sendable {
    /// For customers of the App Store.
    package let production: Origin
    /// For testers, TestFlight included.
    package let sandbox: Origin

    /// Other servers than Apple's: for tests, by an explicit setting.
    package init(production: Origin, sandbox: Origin) {
        self.production = production
        self.sandbox = sandbox
    }

    /// Apple's own.
    package static let apple = AppStoreOrigins(
        production: Origin(https: "api.storekit.apple.com"),
        sandbox: Origin(https: "api.storekit-sandbox.apple.com")
    )

    /// The origin that is asked about transactions of an environment.
    package subscript(environment: StoreEnvironment) -> Origin {
        switch environment {
        case .production: production
        case .sandbox: sandbox
        }
    }
}
