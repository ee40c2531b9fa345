// SPDX-License-Identifier: Apache-2.0

/// What an event can be of; docs/observer-mode.md has a row for each.
package enum EventType: String, CaseIterable, Hashable, Sendable {
    case offerGranted = "offer.granted"
    case offerPending = "offer.pending"
    case offerRedeemed = "offer.redeemed"
    case offerConverted = "offer.converted"
    case offerNotConverted = "offer.not_converted"
    case offerUndone = "offer.undone"
    case offerRefunded = "offer.refunded"
    case grantNeverRedeemed = "grant.never_redeemed"
    case redemptionUnmatched = "redemption.unmatched"
    case keyDisabled = "key.disabled"
    case serviceSealed = "service.sealed"
    case serviceUnsealed = "service.unsealed"
    case logContradicted = "log.contradicted"

    /// Whether it is about the whole service, and only callers who may ask about every app receive it.
    package var isOfService: Bool {
        switch self {
        case .offerGranted, .offerPending, .offerRedeemed, .offerConverted, .offerNotConverted, .offerUndone,
            .offerRefunded, .grantNeverRedeemed, .redemptionUnmatched:
            false
        case .keyDisabled, .serviceSealed, .serviceUnsealed, .logContradicted: true
        }
    }

    /// The event that a use of an offer makes in that state, as entries of the log name it.
    package init?(useState state: String) {
        switch state {
        case "pending": self = .offerPending
        case "redeemed": self = .offerRedeemed
        case "converted": self = .offerConverted
        case "notConverted": self = .offerNotConverted
        case "undone": self = .offerUndone
        default: return nil
        }
    }
}
