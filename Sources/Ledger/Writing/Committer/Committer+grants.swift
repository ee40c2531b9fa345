// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

// MARK: - Between two batches

extension Committer {
    /// Nobody waits for this; what is not carried over counts all the same.
    func mergeGrants(of writer: inout LedgerWriter?) {
        do throws(LedgerError) {
            try writer?.mergeGrants()
        } catch {
            if error.needsNewConnection { writer = nil }
            observer.failed(error)
        }
    }

    /// Nobody waits for this either, and nothing that was to be written fails with it.
    ///
    /// Only who is on a page that can't be read is refused, once they ask. So it is not tried again, nor on the next
    /// connection.
    func readGranted(of writer: inout LedgerWriter?) {
        do throws(LedgerError) {
            try writer?.readGranted()
        } catch {
            if error.needsNewConnection { writer = nil }
            looksForAll.withLock { $0 = true }
            observer.looksForAll(because: error)
        }
    }
}
