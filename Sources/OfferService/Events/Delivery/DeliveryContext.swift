// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import Ledger
import OfferDomain
import ServiceRuntime
import Storage

/// What all endpoints have in common.
struct DeliveryContext: Sendable {
    let transport: any Transport
    let runtime: Runtime
    let committer: Committer
    let open: ConnectionOpener
    let catalog: @Sendable () -> Catalog
    /// How many entries the log has, as far as this instance knows; `nil` where the database has to be asked.
    let logSize: (@Sendable () -> Int64)?
    /// `nil` where no other instance uses the database.
    let lease: EventLease?
    /// The log's name.
    let origin: String

    /// Identifies the uninterrupted time in which this instance delivers; `nil` while another instance does.
    var term: Int? { lease.map(\.term) ?? 0 }

    /// Changes the database between two batches of the committer, so that no request waits for a second writer.
    ///
    /// - Returns: Whether it was done.
    func store(_ body: @escaping Committer.Derivation, of id: String) -> Bool {
        do throws(LedgerError) {
            try committer.doBlocking(body)
            return true
        } catch {
            runtime.log(
                .warning,
                "the position of an endpoint could not be stored",
                with: ["endpoint": .text(id), "reason": .text(error.description)]
            )
            return false
        }
    }
}
