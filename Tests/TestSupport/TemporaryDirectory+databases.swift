// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What tests do with databases behind the back of the service, in whatever engine they are.
extension TemporaryDirectory {
    /// Carries out statements in the words of both engines; PostgreSQL has those of SQLite that tests need.
    package func alter(_ name: String, _ statements: String) throws {
        guard engine == .sqlite else {
            try place(name).query(statements)
            return
        }
        let output = path(of: "sqlite3-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: output) }
        let child = try ChildProcess(
            ["sqlite3", "-bail", "-cmd", ".timeout 5000", path(of: name), statements],
            environment: ownEnvironment(),
            output: output,
            errors: output
        )
        while child.ended == nil { usleep(1000) }
        guard child.ended == .exited(0) else { throw ChildProcess.Failure("\(statements): \(textOfFile(output))") }
    }

    /// Everything that a database holds: the bytes of SQLite's files, or of each value of each table.
    package func contents(ofDatabase name: String) throws -> [UInt8] {
        guard engine == .sqlite else { return try place(name).contents() }
        let files = Self.suffixes.map { path(of: name) + $0 }
        return try files.filter { FileManager.default.fileExists(atPath: $0) }.flatMap(Self.read)
    }

    /// Makes one database a copy of another that has no writers.
    package func copyDatabase(_ source: String, to target: String) throws {
        guard engine == .sqlite else { return try place(target).becomeCopy(of: place(source)) }
        try removeDatabase(target)
        // The third file is about the processes that have the others open.
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path(of: source) + suffix) {
            try FileManager.default.copyItem(atPath: path(of: source) + suffix, toPath: path(of: target) + suffix)
        }
    }

    /// Removes what is in a database: SQLite's files, or all tables.
    package func removeDatabase(_ name: String) throws {
        guard engine == .sqlite else { return try place(name).removeTables() }
        for suffix in Self.suffixes { try? FileManager.default.removeItem(atPath: path(of: name) + suffix) }
    }

    /// Whether there is one of that name: a file, or any table.
    package func hasDatabase(_ name: String) throws -> Bool {
        guard engine == .postgres else { return FileManager.default.fileExists(atPath: path(of: name)) }
        return try !place(name).tables().isEmpty
    }

    /// Makes one that is not a service's: a file that is none of SQLite's, or a table of another program.
    package func makeStrangeDatabase(_ name: String) throws {
        guard engine == .sqlite else {
            try place(name).query("CREATE TABLE audit_entries (name text)")
            return
        }
        try write(Array("not a database at all, but long enough to be taken for one".utf8), to: name)
    }

    /// The address of a database that can be neither opened nor created.
    package var unreachableDatabase: String {
        guard engine == .postgres else { return "sqlite:" + path(of: "nonexistent/x.db") }
        return database("none").replacing("/offers?", with: "/nowhere?")
    }

    private static let suffixes = ["", "-wal", "-shm"]
}
