// SPDX-License-Identifier: Apache-2.0
import Configuration
import Storage

/// How far the newest offsets have been added to the sorted blocks.
struct Compaction {
    /// The grants that were recorded before this entry.
    let end: Int64
    /// The subjects with a prefix before this are done.
    var prefix = 0

    var hasAll: Bool { prefix == GrantOffset.prefixes.upperBound }
}

extension GrantLog {
    /// Whether there are enough new grants to add some of their offsets to the blocks.
    var isCompactionDue: Bool {
        let most = max(compactsAbove, options.mostNewGrants(ofLog: nextEntry))
        return !isStale && (compaction != nil || memtable.count > most)
    }

    /// Adds some of the new offsets to the blocks, in a separate transaction between two others.
    ///
    /// The memtable keeps all offsets until the last is added: it may stop anywhere, and begins again after a crash.
    func compactSome() throws(StorageError) {
        guard isCompactionDue else { return }
        var current = compaction ?? Compaction(end: nextEntry)
        compaction = nil
        do throws(StorageError) {
            try connection.transaction { () throws(StorageError) in try addSome(&current) }
        } catch {
            // There may be no room on the disk; requests must not wait until there is.
            compactsAbove = memtable.count + options.fewestGrants
            throw error
        }
        guard current.hasAll else {
            compaction = current
            return
        }
        memtable.remove(before: current.end)
        compactsAbove = 0
    }

    /// Adds the offsets of the next subjects.
    ///
    /// Adds none if another connection wrote meanwhile, since it may have removed grants; ``begun()`` sees that too.
    private func addSome(_ current: inout Compaction) throws(StorageError) {
        guard try connection.stampOfOthers() == stampOfOthers else { return }
        let (all, share) = (GrantOffset.prefixes.upperBound, options.offsetsPerTransaction)
        let width = max(1, all * share / max(1, memtable.count))
        let prefixes = current.prefix..<min(all, current.prefix + width)
        try blocks.add(memtable.offsets(in: prefixes, before: current.end), in: prefixes) { subject in
            if subject.count == LedgerKey.byteCount { noteCopies(subject) }
        }
        current.prefix = prefixes.upperBound
        if current.hasAll { try blocks.setEnd(current.end) }
    }
}
