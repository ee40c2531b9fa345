// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
package import Ledger
import OfferDomain

/// What came of looking for a proof in a request.
package enum AppProof: Sendable {
    /// None was sent, or none is looked at.
    case absent
    case genuine(GenuineApp)
    /// One was sent, and Google could not say what it proves.
    case unanswered(ServiceFault)
}
