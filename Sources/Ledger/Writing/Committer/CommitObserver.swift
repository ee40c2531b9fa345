// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// Is told what each commit took; counts for the metrics.
package protocol CommitObserver: Sendable {
    /// A batch is durable.
    func committed(requests: Int, microseconds: Int64)
    /// The evidence of a store showed a use of an offer, or what came of one.
    func recorded(_ redemption: MatchedRedemption)
    /// A customer bought right after a grant and without its offer.
    func recorded(_ purchase: BoughtWithoutOffer)
    /// A customer redeemed an offer, and this client had asked for it.
    func recorded(_ redemption: ClientRedemption)
    /// It is known what a subscriber did who was about to cancel.
    func recorded(_ outcome: RetentionOutcome)
    /// A batch could not be written; nothing of it is on disk.
    func failed(_ error: LedgerError)
    /// Since when records can't be written, until it is on record that they can be again; `nil` where that need not be.
    var failingSince: Timestamp? { get }
    /// It is on record that records can be written again.
    func resumed()
    /// It could not be read who was granted something, so everybody is looked for until the service starts anew.
    func looksForAll(because error: LedgerError)
    /// What another process has switched off is obeyed, and about to be acknowledged.
    func obeys(_ switches: SigningStops)
    /// Another process has lifted these.
    func lifted(_ switches: SigningStops)
}

extension CommitObserver {
    package var failingSince: Timestamp? { nil }
    package func resumed() {}
    package func recorded(_ purchase: BoughtWithoutOffer) {}
    package func recorded(_ redemption: ClientRedemption) {}
    package func recorded(_ outcome: RetentionOutcome) {}
    package func looksForAll(because error: LedgerError) {}
    package func obeys(_ switches: SigningStops) {}
    package func lifted(_ switches: SigningStops) {}
}
