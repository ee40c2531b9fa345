// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Storage
import Testing

/// A temporary directory, removed with all that is in it.
final class Folder: Sendable {
    let path: String

    init() throws {
        let name = "storage-tests-\(UUID().uuidString)"
        path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    var database: String { path + "/test.db" }

    func connect(_ options: SQLiteOptions = .init()) throws(StorageError) -> SQLiteConnection {
        try SQLiteConnection(path: database, options: options)
    }

    /// A connection to a database with one table, `things (id, name)`.
    func connectWithThings() throws(StorageError) -> SQLiteConnection {
        let connection = try connect()
        try connection.run(SQL("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT"))
        return connection
    }
}

/// The error that an action ends with; nil when it succeeds.
func storageError(_ action: () throws(StorageError) -> Void) -> StorageError? {
    do {
        try action()
        return nil
    } catch {
        return error
    }
}

/// Python's own SQLite, which reads what is on the disk without our code.
enum IndependentReader {
    static let isAvailable = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

    /// The answer to a query: rows by lines, columns by bars.
    ///
    /// By `popen`, because `Foundation.Process` leaks, which the leak checker takes for ours.
    static func answer(to query: String, in folder: Folder) throws -> String {
        let script = """
            import sqlite3, sys
            for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print(*row, sep="|")
            """
        try script.write(toFile: folder.path + "/reader.py", atomically: false, encoding: .utf8)
        let command = "cd '\(folder.path)' && python3 -I reader.py test.db '\(query)'"
        let stream = try unsafe #require(popen(command, "r"))
        defer { unsafe pclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe fread(&bytes, 1, bytes.count, stream)
        return String(decoding: bytes[..<count], as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
