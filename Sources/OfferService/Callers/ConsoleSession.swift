// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain

/// What a person who signed in to the console may do, and until when.
struct ConsoleSession: Hashable, Sendable {
    /// The person, by the provider's name and a pseudonym.
    let caller: CallerID
    let role: CallerRole
    /// The provider's entry in the keys file, and what that said when the session began.
    let provider: String
    let settings: SHA256Digest
    let expiresAt: Timestamp
}
