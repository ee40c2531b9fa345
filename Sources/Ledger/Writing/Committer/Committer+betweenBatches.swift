// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

// MARK: - Between batches

extension Committer {
    /// Compacts some grants; no request waits for it, because a grant counts before it is compacted too.
    func compactGrants(of writer: inout LedgerWriter?) {
        do throws(LedgerError) {
            try writer?.compactGrants()
        } catch {
            if error.needsNewConnection { writer = nil }
            observer.failed(error)
        }
    }

    /// Reads some of the grant filter; no request waits for it, and no write fails with it.
    ///
    /// If a page cannot be read, only requests that need that page are refused. So the filter is not tried again, not
    /// even on the next connection.
    func fillFilter(of writer: inout LedgerWriter?) {
        do throws(LedgerError) {
            try writer?.fillFilter()
        } catch {
            if error.needsNewConnection { writer = nil }
            looksForAll.withLock { $0 = true }
            observer.looksForAll(because: error)
        }
    }
}
