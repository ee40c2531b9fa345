// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger

extension ServiceFault {
    /// What whoever asks is told when a key, or everything, is switched off.
    init(_ stop: KeyStop, _ purpose: KeyPurpose) {
        switch stop {
        case .sealed(let causes): self = .sealed(causes)
        case .disabled: self = .keyUnavailable(purpose)
        case .cutOff, .outdatedSecret: self = .auditUnavailable
        }
    }
}

extension Grantable {
    /// What the key is for that signs it; what needs none is as good as a promotional offer.
    var purpose: KeyPurpose {
        if case .signature(let plan) = self { plan.listing.purpose } else { .promotionalOffer }
    }
}
