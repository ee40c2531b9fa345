// SPDX-License-Identifier: Apache-2.0
import CSQLite
import Glibc

/// The file of a SQLite database.
enum SQLiteFile {
    /// Configures the library once, before its first use; a later call is refused and changes nothing.
    private static let isPrepared = shim_sqlite3_config_without_memory_status() == SQLITE_OK

    /// Opens a database and returns the handle, which the caller must close.
    static func open(_ path: String, _ options: SQLiteOptions) throws(StorageError) -> OpaquePointer {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .cannotOpen(EngineReport("the path is not a path")) }
        try refuseWithoutItsLog(path)
        _ = isPrepared
        if options.access == .readWrite, options.makesDatabase { try create(path) }
        let flags = (options.access == .readWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX
        var handle: OpaquePointer?
        let code = unsafe sqlite3_open_v2(plain(path), &handle, flags | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK, let handle = unsafe handle else {
            let error = unsafe StorageError.sqlite(handle)
            unsafe sqlite3_close_v2(handle)
            throw error
        }
        return unsafe handle
    }

    /// Refuses where a write-ahead log is left of a database that is gone or empty: SQLite would remove the log, and with it
    /// what was committed last.
    private static func refuseWithoutItsLog(_ path: String) throws(StorageError) {
        guard FileNames.size(of: path) == 0, FileNames.size(of: path + "-wal") > 0 else { return }
        throw .cannotOpen(EngineReport("\(path) is gone or empty, and its log \(path)-wal is not: put it back"))
    }

    /// A path that SQLite takes for nothing else: not for a URI, `:memory:`, or a temporary database.
    static func plain(_ path: String) -> String { path.utf8.first == 0x2F ? path : "./" + path }

    /// Makes an empty file for the owner alone; SQLite gives the files beside it the same mode.
    ///
    /// A file that exists is not opened: closing it would release the locks that this process has on it.
    private static func create(_ path: String) throws(StorageError) {
        let descriptor = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            close(descriptor)
        } else if errno != EEXIST {
            throw .cannotOpen(EngineReport("\(path): \(systemMessage(errno))"))
        }
    }
}

/// The settings of a new connection.
@safe
struct SQLiteSettings {
    let connection: OpaquePointer

    init(connection: OpaquePointer) {
        unsafe self.connection = connection
    }

    func apply(_ options: SQLiteOptions) throws(StorageError) {
        unsafe sqlite3_busy_timeout(connection, options.busyTimeoutMilliseconds)
        unsafe sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0)
        try set(SQLITE_DBCONFIG_DEFENSIVE, to: true, "defensive")
        try set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, to: false, "trusted_schema")
        try set(SQLITE_DBCONFIG_ENABLE_FKEY, to: true, "foreign_keys")
        try set(SQLITE_DBCONFIG_DQS_DML, to: false, "double-quoted strings")
        try set(SQLITE_DBCONFIG_DQS_DDL, to: false, "double-quoted strings")
        try set(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, to: false, "load_extension")
        try execute("PRAGMA cell_size_check = ON")
        try execute("PRAGMA temp_store = MEMORY")
        guard options.access == .readWrite else { return }
        try execute("PRAGMA page_size = \(options.pageSize)")
        try switchToWriteAheadLog(patienceMilliseconds: options.busyTimeoutMilliseconds)
        try execute("PRAGMA synchronous = FULL")
        try execute("PRAGMA wal_autocheckpoint = \(options.autocheckpointPages)")
    }

    private func set(_ option: Int32, to isOn: Bool, _ name: String) throws(StorageError) {
        var result: Int32 = -1
        let code = unsafe shim_sqlite3_db_config_switch(connection, option, isOn ? 1 : 0, &result)
        guard code == SQLITE_OK, result == (isOn ? 1 : 0) else {
            throw .settingRefused(name: name, value: String(result))
        }
    }

    /// Two that make the same database at once stand in each other's way here, and SQLite, which fears a deadlock, does
    /// not wait by itself.
    private func switchToWriteAheadLog(patienceMilliseconds: Int32) throws(StorageError) {
        let pauseMilliseconds: Int32 = 5
        var waited: Int32 = 0
        while true {
            do throws(StorageError) {
                return try execute("PRAGMA journal_mode = WAL")
            } catch {
                guard case .busy = error, waited < patienceMilliseconds else { throw error }
                usleep(UInt32(pauseMilliseconds) * 1000)
                waited += pauseMilliseconds
            }
        }
    }

    /// The text is ours, with numbers in it at most.
    private func execute(_ text: String) throws(StorageError) {
        guard unsafe sqlite3_exec(connection, text, nil, nil, nil) == SQLITE_OK else {
            throw unsafe .sqlite(connection)
        }
    }
}
