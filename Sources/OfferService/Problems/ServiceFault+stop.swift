// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger

extension ServiceFault {
    /// The fault that a caller gets when a key is disabled or the service is sealed.
    init(_ stop: KeyStop, _ purpose: KeyPurpose) {
        switch stop {
        case .sealed(let causes): self = .sealed(causes)
        case .disabled: self = .keyUnavailable(purpose)
        case .cutOff, .outdatedSecret: self = .auditUnavailable
        }
    }
}

extension Grantable {
    /// The purpose of the key that signs it; without a key, the purpose of promotional offers.
    var purpose: KeyPurpose {
        if case .signature(let plan) = self { plan.listing.purpose } else { .promotionalOffer }
    }
}
