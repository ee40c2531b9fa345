// SPDX-License-Identifier: Apache-2.0

/// What came of a use of an offer, in either store.
package enum RedemptionState: Hashable, Sendable {
    /// The offer applies to the next renewal, which is to come; or it isn't paid yet, and may never be.
    case pending
    /// The customer has the discount, or what came after it isn't known.
    case redeemed
    /// The customer went on at full price, first seen at this instant, whatever was paid back of it later.
    case converted(at: Timestamp)
    /// The customer left or took another offer, at this instant, and was never seen to pay the full price.
    case notConverted(at: Timestamp)
    /// The store refunded all of the discounted period, or revoked it, at this instant.
    case undone(at: Timestamp)

    /// As rows, records and metrics name it.
    package var name: String {
        switch self {
        case .pending: "pending"
        case .redeemed: "redeemed"
        case .converted: "converted"
        case .notConverted: "notConverted"
        case .undone: "undone"
        }
    }

    /// When it ended well or badly.
    package var settledAt: Timestamp? {
        switch self {
        case .pending, .redeemed: nil
        case .converted(let instant), .notConverted(let instant), .undone(let instant): instant
        }
    }
}
