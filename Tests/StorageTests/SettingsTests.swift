// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Storage
import Testing

/// How a database is opened.
@Suite struct SettingsTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let sql: SQL
        let value: SQLValue

        init(_ sql: SQL, _ value: SQLValue) {
            (self.sql, self.value) = (sql, value)
        }

        var testDescription: String { "\(sql)" }
    }

    static let rows = [
        Row(SQL("PRAGMA journal_mode"), .text("wal")),
        Row(SQL("PRAGMA synchronous"), .integer(2)),
        Row(SQL("PRAGMA foreign_keys"), .integer(1)),
        Row(SQL("PRAGMA trusted_schema"), .integer(0)),
        Row(SQL("PRAGMA cell_size_check"), .integer(1)),
        Row(SQL("PRAGMA wal_autocheckpoint"), .integer(1000)),
        Row(SQL("PRAGMA busy_timeout"), .integer(5000)),
        Row(SQL("PRAGMA page_size"), .integer(4096)),
        Row(SQL("PRAGMA temp_store"), .integer(2)),
    ]

    @Test(arguments: rows)
    func `a connection has the settings that safety asks for`(row: Row) throws {
        let folder = try Folder()
        for _ in 0..<2 {
            let connection = try folder.connect()
            #expect(try connection.first(row.sql) { $0.value(0) } == row.value)
        }
    }

    @Test func `keeps the page size of the first opening`() throws {
        let folder = try Folder()
        for asked: Int32 in [8192, 1024] {
            let connection = try folder.connect(SQLiteOptions(pageSize: asked))
            try connection.run(SQL("CREATE TABLE IF NOT EXISTS t (x)"))
            #expect(try connection.first(SQL("PRAGMA page_size")) { $0.integer(0) } == 8192)
        }
    }

    @Test func `the files are the owner's alone, whatever the mask`() throws {
        let folder = try Folder()
        let connection = try folder.connectWithThings()
        try connection.insertThing(1, "one")
        for file in ["", "-wal", "-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.database + file)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
        }
    }

    @Test(arguments: [":memory:", "file:other.db?mode=memory", "a b?.db"])
    func `a path is nothing but a path`(name: String) async throws {
        let folder = try Folder()
        await #expect(processExitsWith: .success) { [path = folder.path as String, name = name as String] in
            try #require(FileManager.default.changeCurrentDirectoryPath(path))
            let connection = try SQLiteConnection(path: name)
            try connection.run(SQL("CREATE TABLE t (x)"))
        }
        let size = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)[.size] as? Int
        #expect(try #require(size) > 0)
    }

    @Test func `a database that no log can be written beside is refused`() throws {
        let folder = try Folder()
        // With a folder in place of the log's file, SQLite cannot begin write-ahead logging.
        try FileManager.default.createDirectory(atPath: folder.database + "-wal", withIntermediateDirectories: false)
        #expect(storageError { () throws(StorageError) in _ = try folder.connect() } != nil)
    }

    @Test func `a location opens what it names`() throws {
        let folder = try Folder()
        let location = try #require(DatabaseLocation("sqlite:" + folder.database))
        let writer = try location.connect()
        try writer.run(SQL("CREATE TABLE t (x)"))
        let reader = try location.connect(.readOnly)
        #expect(try reader.first(SQL("SELECT count(*) FROM t")) { $0.integer(0) } == 0)
        #expect(storageError { () throws(StorageError) in try reader.run(SQL("DROP TABLE t")) } != nil)
    }

    @Test func `a service keeps others out until it is gone`() throws {
        let folder = try Folder()
        let location = DatabaseLocation.sqlite(path: folder.database)
        var lock = try location.lockInstance()
        #expect(lock != nil)
        let expected = StorageError.inUse(path: folder.database + ".lock", process: getpid())
        #expect(storageError { () throws(StorageError) in _ = try location.lockInstance() } == expected)
        lock = nil
        lock = try location.lockInstance()
        #expect(lock != nil)
    }

    @Test func `a service that released the lock keeps no other out, though its forked child has the file open`() throws
    {
        let folder = try Folder()
        let lock = try InstanceLock(of: folder.database)
        let file = try #require(
            (3..<4096).first { descriptor in
                let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
                return link == folder.database + ".lock"
            }
        )
        // What a fork leaves in the other process, too: the same open file under one more descriptor.
        let inherited = dup(Int32(file))
        defer { close(inherited) }
        lock.release()
        lock.release()
        let next = try InstanceLock(of: folder.database)
        withExtendedLifetime((lock, next)) {}
    }

    @Test func `another name of the same database is no way round the lock`() throws {
        let folder = try Folder()
        _ = try folder.connect()
        let other = folder.path + "/other.db"
        try FileManager.default.createSymbolicLink(atPath: other, withDestinationPath: folder.database)
        let lock = try InstanceLock(of: folder.database)
        let error = storageError { () throws(StorageError) in _ = try InstanceLock(of: other) }
        withExtendedLifetime(lock) {
            guard case .inUse = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func `a service that is killed leaves no lock`() async throws {
        let folder = try Folder()
        let path = folder.database
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let lock = try InstanceLock(of: path)
            withExtendedLifetime(lock) { _ = kill(getpid(), SIGKILL) }
        }
        #expect(FileManager.default.fileExists(atPath: path + ".lock"))
        #expect(storageError { () throws(StorageError) in _ = try InstanceLock(of: path) } == nil)
    }
}
