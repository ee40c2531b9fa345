// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import OfferService

/// A log from before there was a tree gets one.
struct LogUpgradeTests {
    @Test(arguments: [0, 1, 255, 256, 257, 70_000])
    func `builds the tree over earlier entries, and goes on from it`(count: Int) throws {
        let place = try LogPlace.beforeTrees(entries: count)
        let writer = try place.writer()
        #expect(try writer.checkedHead() == (try place.expectedHead()))
        try writer.add(2)
        #expect(try place.reader().head() == (try place.expectedHead()))
        #expect(try place.writer().checkedHead().size == Int64(count) + 2)
        let tiles = try place.ledger.openForReading().all(
            SQL("SELECT level, length(hashes) / 32 FROM log_tiles ORDER BY level, tile_index")
        ) { [$0.integer(0), $0.integer(1)] }
        guard count == 70_000 else { return }
        #expect(tiles == Array(repeating: [0, 256], count: 273) + [[1, 256], [1, 17], [2, 1]])
    }

    @Test func `goes on where it was interrupted, and lets nobody write before it is done`() throws {
        let place = try LogPlace.beforeTrees(entries: 5000)
        let faults = Faults()
        let connection = try faults.wrap(try place.ledger.open())
        faults.passCommits(3)
        faults.failCommits(Faults.diskFull)
        let upgrade = LogUpgrade(connection: connection, batch: 300)
        #expect(throws: LedgerError.database(Faults.diskFull)) { try upgrade.finish() }
        #expect(try place.reader().head().size == 900)
        #expect(throws: AuditReadError.noSuchTree(size: 901)) { try place.reader().rootHash(ofSize: 901) }
        try LogUpgrade(connection: try place.ledger.open(), batch: 77).finish()
        #expect(try place.reader().head() == (try place.expectedHead()))
        try place.writer().add(1)
        #expect(try place.reader().head() == (try place.expectedHead()))
    }

    @Test func `builds no tree over entries of which one is missing`() throws {
        let place = try LogPlace.beforeTrees(entries: 1000)
        try place.run("DELETE FROM audit_entries WHERE entry_index = 700")
        #expect(throws: LedgerError.log(.entryDamaged(index: 700))) { try place.writer().checkedHead() }
        #expect(try place.reader().head() == .empty)
    }
}
