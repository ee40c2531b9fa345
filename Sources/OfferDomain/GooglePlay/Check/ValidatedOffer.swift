// SPDX-License-Identifier: Apache-2.0

/// An offer that passed the check: developer-determined, hidden by its tag, and available.
package struct ValidatedOffer: Hashable, Sendable {
    /// The requested offer; the store's answers name the same four IDs.
    package let key: GooglePlayOfferKey
    /// All tags that a device sees on it.
    package let tags: EffectiveTags
    /// The hide tags that it has, in order, each with its place.
    package let hideTags: [FoundTag]
    /// What a device should find before the base plan's own price, in this order.
    package let phases: [ExpectedPhase]
    /// When the service read the store data that this is based on.
    package let readAt: Timestamp

    /// A phase as it is the same in every region.
    package struct ExpectedPhase: Hashable, Sendable {
        /// Never unknown.
        package let kind: GooglePlayPhaseKind
        /// How long the phase lasts if it comes once.
        package let duration: OfferDuration
        /// How many times the duration, at least 1.
        package let recurrenceCount: Int
    }

    /// A tag with where it is.
    package struct FoundTag: Hashable, Sendable {
        /// One of the app's `hideTags`.
        package let tag: OfferTag
        /// On the offer, on its base plan, or on both.
        package let place: TagPlace
    }
}

/// The tags that a device sees on an offer: its own and those of its base plan.
package struct EffectiveTags: Hashable, Sendable {
    /// Those of the offer itself.
    package let own: Set<OfferTag>
    /// The base plan's, which may be the same ones.
    package let inherited: Set<OfferTag>

    package init(own: Set<OfferTag>, inherited: Set<OfferTag>) {
        self.own = own
        self.inherited = inherited
    }

    /// As a device sees them: each once, in the order of their letters.
    package var all: [OfferTag] { own.union(inherited).sorted { $0.text < $1.text } }

    /// Where a tag is; `nil` if nowhere.
    package func place(of tag: OfferTag) -> TagPlace? {
        switch (own.contains(tag), inherited.contains(tag)) {
        case (true, true): .both
        case (true, false): .offer
        case (false, true): .basePlan
        case (false, false): nil
        }
    }
}

/// Where a tag of an offer was found.
package enum TagPlace: String, Sendable {
    case offer
    case basePlan
    case both
}
