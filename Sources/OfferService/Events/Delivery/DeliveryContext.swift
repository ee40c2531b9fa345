// SPDX-License-Identifier: Apache-2.0
import HTTP
import OfferDomain
import Storage

/// What all endpoints have in common.
struct DeliveryContext: Sendable {
    let transport: any Transport
    let runtime: Runtime
    let committer: Committer
    let open: Committer.Opener
    let catalog: @Sendable () -> Catalog
    /// How many entries the log has, as far as this instance knows; `nil` where the database has to be asked.
    let logSize: (@Sendable () -> Int64)?
    /// `nil` where no other instance uses the database.
    let lease: EventLease?
    /// The log's name.
    let origin: String

    /// Changes in the time for which this instance delivers without a gap; `nil` while another one does.
    var term: Int? { lease.map(\.term) ?? 0 }
}
