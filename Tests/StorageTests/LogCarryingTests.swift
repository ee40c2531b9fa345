// SPDX-License-Identifier: Apache-2.0
import Foundation
import Storage
import Testing

/// Which connection copies pages from the write-ahead log into the database.
@Suite struct LogCarryingTests {
    private let folder: Folder
    private let connection: SQLiteConnection

    init() throws {
        folder = try Folder()
        connection = try folder.connect(SQLiteOptions(autocheckpointPages: 4))
        try connection.run(SQL("CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB)"))
    }

    /// One commit, of two pages at least.
    private func commit(_ id: Int) throws {
        try connection.run(SQL("INSERT INTO t VALUES (?, zeroblob(8000))", .integer(Int64(id))))
    }

    /// Of the database without its log.
    private var databaseBytes: UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder.database)
        return attributes?[.size] as? UInt64 ?? 0
    }

    private func count(_ connection: SQLiteConnection) throws -> Int64? {
        try connection.first(SQL("SELECT count(*) FROM t")) { $0.integer(0) }
    }

    @Test func `a commit runs a checkpoint, unless checkpoints are left to others`() throws {
        for id in 0..<20 { try commit(id) }
        let before = databaseBytes
        #expect(before > 100_000)
        #expect(connection.pagesInLog == 0, "is counted only for others")
        connection.leaveLogToOthers()
        for id in 20..<60 { try commit(id) }
        #expect(databaseBytes == before)
        #expect(connection.pagesInLog > 80)
        #expect(try count(connection) == 60)
    }

    /// As a transaction sees it.
    private func stamp() throws -> Int64? {
        try connection.begin()
        defer { connection.rollback() }
        return try connection.stampOfOthers()
    }

    @Test func `a connection notices the commits of others, but not its own and not a checkpoint`() throws {
        connection.leaveLogToOthers()
        let other = try folder.connect()
        var seen = [try #require(try stamp())]
        for id in 0..<20 { try commit(id) }
        #expect(try stamp() == seen[0])
        try other.carryOverLog()
        // Restarts the log.
        for id in 20..<30 { try commit(id) }
        #expect(try stamp() == seen[0])
        for id in 30..<33 {
            try other.run(SQL("INSERT INTO t VALUES (?, x'00')", .integer(Int64(id))))
            seen.append(try #require(try stamp()))
            try commit(100 + id)
            #expect(try stamp() == seen.last)
        }
        #expect(Set(seen).count == 4)
    }

    @Test func `another connection runs a checkpoint, and the next commit restarts the log`() throws {
        connection.leaveLogToOthers()
        for id in 0..<20 { try commit(id) }
        let other = try folder.connect()
        try other.carryOverLog()
        #expect(databaseBytes > 100_000)
        #expect(connection.pagesInLog > 40)
        try commit(20)
        #expect(connection.pagesInLog < 10)
        #expect(try count(other) == 21)
    }

    @Test func `keeps what a reader still reads, and the reader sees no change`() throws {
        connection.leaveLogToOthers()
        try commit(0)
        let reader = try folder.connect(SQLiteOptions(access: .readOnly))
        try reader.begin()
        #expect(try count(reader) == 1)
        for id in 1..<30 { try commit(id) }
        try connection.carryOverLog()
        try commit(30)
        #expect(connection.pagesInLog > 60)
        #expect(try count(reader) == 1)
        try reader.commit()
        #expect(try count(reader) == 31)
        try connection.carryOverLog()
        try commit(31)
        #expect(connection.pagesInLog < 10)
    }
}
