// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

extension Decision {
    /// The findings that keep the customer from the offer.
    package var reasons: [Finding] { findings.filter { $0.answer != .met } }
}
