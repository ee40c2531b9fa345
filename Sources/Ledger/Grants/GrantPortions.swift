// SPDX-License-Identifier: Apache-2.0

/// How many grants there may be in the order of time, and how they are carried over.
package struct GrantPortions: Sendable {
    /// So many are carried over together at the least: the more, the fewer pages are written for each.
    package var fewest = 65_536
    /// So many at the most, which bounds the memory.
    package var most = 1 << 20
    /// Between these, one for so many entries of the log: as there come to be more customers, fewer share a page.
    package var entriesForEach: Int64 = 16
    /// So many are carried over in one transaction, to a server; requests that come meanwhile wait for its end.
    package var step = 128
    /// So many places are added to their blocks in one transaction, in SQLite.
    package var placesAtOnce = 1024
    /// So many places are in a block at the most: as many as fit a page of SQLite, which has 4,096 bytes.
    package var mostWords = 500
    /// So many places of one prefix at the most; the grants at more of them are copied to `grants`.
    package var mostOfPrefix = 4
    /// So many places of one subject are known at most; what it is granted then goes to `grants`.
    package var mostPlaces = 8
    /// For so many subjects with grants there is room in memory at first.
    package var room = 65_536
    /// So many of them are read at a time.
    package var rows = 1024

    /// The figures above, which were measured; tests set others.
    package init() {}

    func size(ofLog entries: Int64) -> Int {
        max(fewest, min(most, Int(clamping: entries / entriesForEach)))
    }
}
