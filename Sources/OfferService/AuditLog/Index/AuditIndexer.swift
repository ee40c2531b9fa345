// SPDX-License-Identifier: Apache-2.0
import Dispatch
package import Ledger
package import ServiceRuntime
package import Storage
import TransparencyLog

/// Follows the log and keeps the index up with it, on a thread of its own.
///
/// The committer adds new entries to the index once enough of them are recorded. The thread makes runs of them. It
/// reads from the log what the committer does not add, or not within the thread's pause.
///
/// Nothing waits for the thread: searches find unindexed entries without it. It first makes the runs that are missing,
/// because the log is older than the index or because the runs were removed.
package final class AuditIndexer: Sendable {
    private let index: AuditIndex
    private let open: ConnectionOpener
    private let committer: Committer
    private let log: Log
    /// Ends the pause between two looks at the log.
    private let wake = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)
    private let isStopping = Guarded(false)

    /// An indexer that is not yet running; it reads the log on a connection that it opens for itself.
    package init(index: AuditIndex, committer: Committer, log: Log, open: @escaping ConnectionOpener) {
        self.index = index
        self.open = open
        self.committer = committer
        self.log = log
    }

    /// Starts the thread, which yields to those that answer requests.
    package func start() {
        NamedThread.start(named: "audit-index") { [self] in
            NamedThread.yieldToOthers()
            var work: IndexerWork?
            var failures = 0
            while !isStopping.withLock({ $0 }) {
                failures = round(&work) ? 0 : failures + 1
                // After a failure, earlier wake-ups do not cut the pause short; a stop does.
                if failures > 0 { while wake.wait(timeout: .now()) == .success {} }
                if isStopping.withLock({ $0 }) { break }
                _ = wake.wait(timeout: .now() + Self.pause(after: failures))
            }
            committer.newEntryFeed.stopFollowing()
            hasEnded.signal()
        }
    }

    /// The pause before the next look, after `failures` consecutive failures.
    static func pause(after failures: Int) -> DispatchTimeInterval {
        failures == 0 ? .milliseconds(200) : .seconds(min(30, 1 << min(failures - 1, 5)))
    }

    /// Looks once; returns whether that succeeded.
    private func round(_ work: inout IndexerWork?) -> Bool {
        do throws(AuditIndexerError) {
            let current: IndexerWork
            if let work {
                current = work
            } else {
                current = try IndexerWork(index: index, open: open, committer: committer, wake: wake)
            }
            work = current
            try current.catchUp { isStopping.withLock { $0 } }
            return true
        } catch {
            work = nil
            committer.newEntryFeed.stopFollowing()
            if case .isStopping = error { return false }
            log(.warning, "the index over the audit log is not kept up", with: ["reason": .text(error.description)])
            return false
        }
    }

    /// Ends the thread, and returns once it has ended.
    package func stop() {
        isStopping.withLock { $0 = true }
        wake.signal()
        hasEnded.wait()
    }
}

/// Why the index is not kept up; queries are answered all the same.
enum AuditIndexerError: Error, Hashable, Sendable, CustomStringConvertible {
    case log(AuditReadError)
    case ledger(LedgerError)
    /// The index in the database is of another version.
    case otherVersion
    /// Nothing is wrong: the service is to end.
    case isStopping

    var description: String {
        switch self {
        case .log(let error): error.description
        case .ledger(let error): error.description
        case .otherVersion: "The index is of another version; rebuild it with: offer-signer audit index --rebuild"
        case .isStopping: "The service is stopping."
        }
    }
}

/// The indexer's work, of its thread alone.
private final class IndexerWork {
    private let index: AuditIndex
    private let committer: Committer
    private let runs: IndexRunReader
    private let wake: DispatchSemaphore
    private var missing: [Int64]
    /// Whether it was woken and has not looked yet.
    private let isAwaited = Guarded(false)

    init(
        index: AuditIndex,
        open: ConnectionOpener,
        committer: Committer,
        wake: DispatchSemaphore
    ) throws(AuditIndexerError) {
        self.wake = wake
        self.index = index
        self.committer = committer
        do throws(AuditReadError) {
            runs = try IndexRunReader(index.format, open: open)
            missing = try runs.missing { usage in index.noteStored(usage) }
        } catch {
            throw .log(error)
        }
        guard runs.hasKeys else { throw .otherVersion }
        // The log does not have these; they would be taken for true once it has grown.
        guard try reading({ () throws(AuditReadError) in try runs.areTooMany() }) else { return }
        try change { [wholeRuns = runs.wholeRuns] tables throws(StorageError) in try tables.remove(from: wholeRuns) }
    }

    /// Indexes what the log has and the index has not.
    func catchUp(until isStopping: () -> Bool) throws(AuditIndexerError) {
        while let run = missing.first {
            if isStopping() { throw .isStopping }
            guard let built = try reading({ () throws(AuditReadError) in try runs.built(run) }) else { break }
            try store(built)
            missing.removeFirst()
        }
        if index.nextEntry == nil {
            index.setTail(try reading { () throws(AuditReadError) in try runs.begun(runs.wholeRuns) })
        }
        follow()
        while try read() { if isStopping() { throw .isStopping } }
    }

    /// Has new entries added as they come, and is woken when they can't be.
    private func follow() {
        isAwaited.withLock { $0 = false }
        committer.newEntryFeed.follow { [index, wake, isAwaited] entries in
            guard !index.follow(entries) else { return }
            let wasAwaited = isAwaited.withLock { isAwaited in
                defer { isAwaited = true }
                return isAwaited
            }
            if !wasAwaited { wake.signal() }
        }
    }

    /// Reads a page of new entries; false when there are none.
    private func read() throws(AuditIndexerError) -> Bool {
        try storeFullTail()
        guard let next = index.nextEntry else { return false }
        return try reading { () throws(AuditReadError) in
            // The newest entries are borrowed for the adding alone, because a database may let us wait.
            let page = try runs.page(from: next)
            try index.add(page)
            return !page.isEmpty
        }
    }

    private func storeFullTail() throws(AuditIndexerError) {
        guard let full = index.fullTail else { return }
        try store(full)
        index.setTail(try reading { () throws(AuditReadError) in try runs.begun(full.run + 1) })
    }

    private func store(_ builder: IndexRunBuilder) throws(AuditIndexerError) {
        let run = builder.sealed()
        try change { tables throws(StorageError) in try tables.store(run) }
        index.noteStored(builder.usage)
    }

    private func change(
        _ body: @escaping @Sendable (AuditIndexTables) throws(StorageError) -> Void
    ) throws(AuditIndexerError) {
        do {
            try committer.doBlocking { connection throws(StorageError) in
                try body(AuditIndexTables(connection: connection))
            }
        } catch {
            throw .ledger(error)
        }
    }

    private func reading<Value>(_ body: () throws(AuditReadError) -> Value) throws(AuditIndexerError) -> Value {
        do { return try body() } catch { throw .log(error) }
    }
}
