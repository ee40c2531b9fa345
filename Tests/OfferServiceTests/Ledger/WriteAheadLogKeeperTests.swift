// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// The write-ahead log stays short, and the thread that commits has little to do with it.
@Suite(.aboutSQLite) struct WriteAheadLogKeeperTests {
    private let place: LogPlace
    private let path: String

    init() throws {
        place = try LogPlace()
        guard case .sqlite(let path) = place.location else { throw CancellationError() }
        self.path = path
    }

    private func committer(_ keeper: WALCheckpointer?) throws -> Committer {
        let committer = Committer(
            clock: place.clock.wallClock,
            observer: Metrics(),
            database: CommitterDatabase(logKeeper: keeper, open: place.ledger.open)
        )
        committer.start(on: try place.ledger.openPatiently())
        return committer
    }

    /// How often the log was restarted: the checkpoint sequence number in its header.
    ///
    /// Source: [SQLite's file format](https://sqlite.org/fileformat2.html#the_write_ahead_log).
    private var beginnings: UInt32 {
        guard let file = FileHandle(forReadingAtPath: path + "-wal"), let header = try? file.read(upToCount: 16) else {
            return 0
        }
        return header.dropFirst(12).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Commits entries one by one until the log restarts `more` times; false if that takes too many entries.
    private func commit(_ committer: Committer, untilBeginnings more: UInt32) async throws -> Bool {
        let before = beginnings
        for _ in 0..<20_000 {
            if beginnings >= before + more { return true }
            try await committer.append([.serviceStopped])
        }
        return false
    }

    @Test func `the log restarts again and again while commits go on`() async throws {
        let committer = try committer(place.ledger.logKeeper(pages: 30))
        #expect(try await commit(committer, untilBeginnings: 3))
        await mayBlock { committer.stop() }
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"), "the connection that commits closes last")
        #expect(try place.entries().count > 3)
    }

    @Test func `the thread that commits checkpoints the log if the keeper can't`() async throws {
        let keeper = WALCheckpointer(pages: 30) { () throws(StorageError) in
            throw .settingRefused(name: "journal_mode", value: "delete")
        }
        let committer = try committer(keeper)
        #expect(try await commit(committer, untilBeginnings: 2))
        await mayBlock { committer.stop() }
    }

    @Test func `nothing is made where the database was moved away`() async throws {
        let committer = try committer(place.ledger.logKeeper(pages: 5))
        try await committer.append([.serviceStopped])
        for suffix in ["", "-wal", "-shm"] {
            try FileManager.default.moveItem(atPath: path + suffix, toPath: path + ".away" + suffix)
        }
        for _ in 0..<50 { try await committer.append([.serviceStopped]) }
        await mayBlock { committer.stop() }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a long read prevents log restarts but does not block commits`() async throws {
        let committer = try committer(place.ledger.logKeeper(pages: 30))
        try await committer.append([.serviceStopped])
        let before = beginnings
        let reader = try place.location.connect(.readOnly)
        try reader.begin()
        let count = SQL("SELECT count(*) FROM audit_entries")
        #expect(try reader.first(count) { $0.integer(0) } == 1)
        for _ in 0..<300 { try await committer.append([.serviceStopped]) }
        #expect(try reader.first(count) { $0.integer(0) } == 1)
        #expect(beginnings <= before + 1)
        reader.rollback()
        #expect(try await commit(committer, untilBeginnings: 1))
        await mayBlock { committer.stop() }
    }
}
