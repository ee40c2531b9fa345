// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

// MARK: - Between two batches

extension Committer {
    /// No request waits for this: every grant counts before it is compacted too.
    func compactGrants(of writer: inout LedgerWriter?) {
        do throws(LedgerError) {
            try writer?.compactGrants()
        } catch {
            if error.needsNewConnection { writer = nil }
            observer.failed(error)
        }
    }

    /// No request waits for this either, and nothing that was to be written fails with it.
    ///
    /// If a page cannot be read, only requests that need that page are refused. So it is not tried again, nor on the next
    /// connection.
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
