// SPDX-License-Identifier: Apache-2.0
import CSQLite
import Glibc

/// Copies a SQLite database, while others write to it, into a file that needs no other beside it.
///
/// Source: [SQLite, online backup API](https://sqlite.org/backup.html).
package enum SQLiteCopy {
    /// Copies the database as it is at one moment; what is committed meanwhile is not in the copy.
    ///
    /// The copy has a rollback journal and no write-ahead log, belongs to its owner alone, and is on the disk when this
    /// returns. Whatever fails leaves no file.
    ///
    /// - Throws: ``StorageError/cannotOpen(_:)`` also where there is a file of that name.
    package static func make(of source: SQLiteConnection, at path: String) throws(StorageError) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .cannotOpen(EngineReport("\(path): \(systemMessage(errno))")) }
        close(descriptor)
        do throws(StorageError) {
            try fill(path, from: source)
            try FileNames.sync(path)
        } catch {
            unsafe unlink(path)
            unsafe unlink(path + "-journal")
            throw error
        }
    }

    private static func fill(_ path: String, from source: SQLiteConnection) throws(StorageError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(SQLiteFile.plain(path), &opened, flags, nil)
        defer { unsafe sqlite3_close_v2(opened) }
        guard code == SQLITE_OK, let target = unsafe opened else { throw unsafe .sqlite(opened) }
        // A copy that is not finished is removed, and a finished one is synced as a file.
        try unsafe execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF", on: target)
        guard let backup = unsafe sqlite3_backup_init(target, "main", source.handle, "main") else {
            throw unsafe .sqlite(target)
        }
        let step = unsafe sqlite3_backup_step(backup, -1)
        let end = unsafe sqlite3_backup_finish(backup)
        guard step == SQLITE_DONE, end == SQLITE_OK else { throw unsafe .sqlite(target) }
        // The page that says which journal there is was copied too.
        try unsafe execute("PRAGMA journal_mode = DELETE", on: target)
    }

    private static func execute(_ text: String, on connection: OpaquePointer) throws(StorageError) {
        guard unsafe sqlite3_exec(connection, text, nil, nil, nil) == SQLITE_OK else {
            throw unsafe .sqlite(connection)
        }
    }
}

/// Names of files, changed so that a power failure finds the old state or the new one.
package enum FileNames {
    /// Makes the contents durable.
    package static func sync(_ path: String) throws(StorageError) {
        try sync(path, O_RDONLY | O_CLOEXEC)
    }

    /// Makes durable which names the folder of a file has.
    package static func syncFolder(of path: String) throws(StorageError) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        try sync(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }

    private static func sync(_ path: String, _ flags: Int32) throws(StorageError) {
        let descriptor = unsafe open(path, flags)
        guard descriptor >= 0 else { throw .cannotOpen(EngineReport("\(path): \(systemMessage(errno))")) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .ioFailure(EngineReport("\(path): \(systemMessage(errno))")) }
    }

    /// Gives a file a second name, which nothing may have yet.
    package static func link(_ path: String, as name: String) throws(StorageError) {
        guard unsafe Glibc.link(path, name) == 0 else {
            throw .cannotOpen(EngineReport("\(name): \(systemMessage(errno))"))
        }
    }

    /// Gives a file another name, and puts it in the place of what has that.
    package static func rename(_ path: String, as name: String) throws(StorageError) {
        guard unsafe Glibc.rename(path, name) == 0 else {
            throw .cannotOpen(EngineReport("\(name): \(systemMessage(errno))"))
        }
    }

    /// Takes a file away, if it is there.
    package static func remove(_ path: String) { unsafe unlink(path) }

    /// Whether there is something of that name, a symbolic link that leads nowhere included.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// In bytes; 0 of what is not there.
    package static func size(of path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Gives a file to the owner of another file; only root may do this.
    package static func giveAway(_ path: String, like other: String) throws(StorageError) {
        var status = stat()
        guard unsafe stat(other, &status) == 0 else { return }
        if status.st_uid == geteuid() { return }
        guard unsafe chown(path, status.st_uid, status.st_gid) == 0 else {
            throw .cannotOpen(EngineReport("\(path) can't be given to the owner of \(other): \(systemMessage(errno))"))
        }
    }
}
