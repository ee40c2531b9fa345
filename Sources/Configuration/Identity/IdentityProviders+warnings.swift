// SPDX-License-Identifier: Apache-2.0

extension IdentityProviders {
    /// Providers whose DPoP proofs are refused from every other machine, because the service can't know the `htu`.
    ///
    /// Only a warning: a service without a proxy that only this machine calls, as in tests, needs no origin.
    package func unknownOrigins(in keysPath: String) -> [ConfigurationIssue] {
        all.enumerated().compactMap { index, provider in
            guard provider.proofs != .off, provider.publicOrigin == nil, !provider.apps.isEmpty else { return nil }
            return ConfigurationIssue(
                .warning,
                place: keysPath,
                pointer: "/identityProviders/\(index)/publicOrigin",
                "is missing, and dpop is “\(provider.proofs.rawValue)”: every DPoP proof is refused, except on loopback; set "
                    + "it to the origin that apps call, as https://offers.example.com"
            )
        }
    }
}
