// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// Receives the outcome of each commit, and counts for the metrics.
package protocol CommitObserver: Sendable {
    /// A batch is durable.
    func committed(requests: Int, microseconds: Int64)
    /// Store evidence showed that an offer was used, or what became of such a use.
    func recorded(_ redemption: MatchedRedemption)
    /// A customer bought right after a grant and without its offer.
    func recorded(_ purchase: BoughtWithoutOffer)
    /// A customer redeemed an offer that this client had asked for.
    func recorded(_ redemption: ClientRedemption)
    /// The service now knows the result of a retention answer.
    func recorded(_ outcome: RetentionOutcome)
    /// A batch could not be written; nothing of it is on disk.
    func failed(_ error: LedgerError)
    /// Since when records can't be written, until an entry says that they can be again; `nil` if none is needed.
    var failingSince: Timestamp? { get }
    /// An entry says that records can be written again.
    func resumed()
    /// The grant filter could not be read, so every customer is looked up until the service restarts.
    func looksForAll(because error: LedgerError)
    /// The service is about to acknowledge what another process has sealed or disabled.
    func acknowledges(_ stops: SigningStops)
    /// Another process has lifted these stops.
    func lifted(_ stops: SigningStops)
}

extension CommitObserver {
    package var failingSince: Timestamp? { nil }
    package func resumed() {}
    package func recorded(_ purchase: BoughtWithoutOffer) {}
    package func recorded(_ redemption: ClientRedemption) {}
    package func recorded(_ outcome: RetentionOutcome) {}
    package func looksForAll(because error: LedgerError) {}
    package func acknowledges(_ stops: SigningStops) {}
    package func lifted(_ stops: SigningStops) {}
}
