// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Counts on many threads.
final class Recorder: Sendable {
    private let counted = Mutex(0)

    var count: Int { counted.withLock { $0 } }

    func add() {
        counted.withLock { $0 += 1 }
    }
}
