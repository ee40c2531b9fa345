// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// The result of a ``DecisionRequest``; everything in it is recorded and durable.
package enum Verdict: Sendable {
    /// Granted on the terms of the request, or, with `otherTerms`, on those of an earlier grant or of a denial.
    case granted(Grant.Basis, otherTerms: GrantTerms?)
    case refused(Decision)
    /// The customer might have it, but the offer is set up wrong at the store, or that isn't known; nothing is
    /// granted.
    case obstructed(AuthorizationObstacle)
    /// Nothing is decided yet: the store must be asked for these facts.
    case storeNeeded(FactNeeds)
    /// Nothing could be decided, because the store was asked and did not answer; this is not recorded as a refusal.
    case storeSilent
    /// The idempotency key was used before, with another body.
    case idempotencyKeyReused
    /// The request was granted before and is not signed again: the remaining disk space is for new grants.
    case diskIsFull
    /// Nothing is decided, because the service is sealed or the key is disabled.
    case stopped(KeyStop)
    /// Nothing is decided, because the request waited until its answer could no longer be sent.
    case tooLate
}
