// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import OfferDomain

extension KeyRingFile {
    /// Reads the identity providers; each issuer has one entry at most.
    func readIdentityProviders(_ root: inout ObjectReader, _ mismatches: Mismatches) -> IdentityProviders {
        var (issuers, names): (Set<String>, Set<String>) = ([], [])
        let providers = root.elements("identityProviders", atMost: Self.mostProviders) { value -> IdentityProvider? in
            guard let provider = IdentityProviderReader.read(value, mismatches, of: self) else { return nil }
            if !issuers.insert(provider.policy.issuer).inserted {
                return mismatches.none(value, "has the issuer of another entry; each issuer has one entry")
            }
            if !names.insert(provider.name).inserted {
                return mismatches.none(value, "has the name of another entry, \(provider.name); give it a name")
            }
            return provider
        }
        return IdentityProviders(providers)
    }

    private static let mostProviders = 32
}
