// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

@testable import Ledger
@testable import OfferService

/// Notes how many requests each batch had.
final class BatchRecorder: CommitObserver {
    private let sizes = Guarded<[Int]>([])

    /// In their order.
    var batches: [Int] { sizes.withLock { $0 } }

    func committed(requests: Int, microseconds: Int64) { sizes.withLock { $0.append(requests) } }
    func recorded(_ redemption: MatchedRedemption) {}
    func failed(_ error: LedgerError) {}
}
