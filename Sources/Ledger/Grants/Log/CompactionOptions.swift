// SPDX-License-Identifier: Apache-2.0

/// When a `GrantLog` sorts its newest offsets into blocks, and how many of what there may be.
package struct CompactionOptions: Sendable {
    /// At least this number of grants is sorted together: the more, the fewer pages are written for each.
    package var fewestGrants = 65_536
    /// At most this number, which bounds the memory.
    package var mostGrants = 1 << 20
    /// Between these, one for this number of entries: with more customers, fewer offsets share a page.
    package var entriesPerGrant: Int64 = 16
    /// This number of offsets is added to their blocks in one transaction; requests that arrive meanwhile wait for it.
    package var offsetsPerTransaction = 1024
    /// At most this number of offsets is in a block: as many as fit a page of SQLite, which has 4,096 bytes.
    package var mostOffsetsOfBlock = 500
    /// At most this number of one prefix; with more, the grants at all of them are copied to `grants`.
    package var mostOffsetsOfPrefix = 4
    /// At most this number of offsets of one subject is looked up; further grants go to `grants`.
    package var mostOffsetsOfSubject = 8
    /// The filter of subjects begins with room for this number; with `nil` there is none, and all are looked up.
    package var filterRoom: Int? = 65_536
    /// This number of rows is read at a time to fill the filter.
    package var rowsAtOnce = 1024

    /// The figures above, which were measured; tests set others.
    package init() {}

    /// With more new grants than this, compaction begins.
    func mostNewGrants(ofLog entries: Int64) -> Int {
        max(fewestGrants, min(mostGrants, Int(clamping: entries / entriesPerGrant)))
    }
}
