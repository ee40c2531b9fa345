// SPDX-License-Identifier: Apache-2.0

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
    /// Of what can't be read, only those are refused who are there, once they ask. So it is not tried again, on the next
    /// connection neither.
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
