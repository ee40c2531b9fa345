// SPDX-License-Identifier: Apache-2.0
import OfferService
import Synchronization

/// What the newest checkpoint of a log is said to be.
final class NewestCheckpoint: Sendable {
    private let checkpoint = Mutex<PublishedCheckpoint?>(nil)

    var value: PublishedCheckpoint? { checkpoint.withLock { $0 } }

    func set(_ value: PublishedCheckpoint?) { checkpoint.withLock { $0 = value } }
}
