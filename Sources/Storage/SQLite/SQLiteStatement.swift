// SPDX-License-Identifier: Apache-2.0
import CSQLite

/// A prepared statement, owned by its connection and used again and again.
///
/// It has a buffer of its own, into which the texts and blobs of a use are copied one after another. SQLite reads
/// them there without copying them once more; they stay until the use is over, even if its rows are still being read
/// while other statements run.
@safe
final class SQLiteStatement {
    private let handle: OpaquePointer
    private let columnCount: Int32
    private let parameterCount: Int
    private var buffer: UnsafeMutableRawBufferPointer
    private(set) var isInUse = false
    /// The words of a question, among which are the tables that it reads; `nil` of every other statement.
    private let words: Set<String>?
    /// What ``mayRead(from:)`` has found: few, so a list is quicker than a table.
    private var reads: [(insertion: ObjectIdentifier, isRead: Bool)] = []
    private(set) var rejectedColumn: Int?

    /// Prepares the one statement of a text in UTF-8.
    init(_ text: UnsafeBufferPointer<UInt8>, connection: OpaquePointer) throws(StorageError) {
        var statement: OpaquePointer?
        var tail: UnsafePointer<CChar>?
        let start = unsafe UnsafeRawPointer(text.baseAddress)?.assumingMemoryBound(to: CChar.self)
        let count = Int32(text.count)
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        guard unsafe sqlite3_prepare_v3(connection, start, count, flags, &statement, &tail) == SQLITE_OK else {
            throw unsafe .sqlite(connection)
        }
        guard let statement = unsafe statement else { throw .misuse(EngineReport("the statement is empty")) }
        unsafe handle = statement
        columnCount = unsafe sqlite3_column_count(statement)
        parameterCount = Int(unsafe sqlite3_bind_parameter_count(statement))
        unsafe buffer = .allocate(byteCount: 256, alignment: 1)
        let isQuestion = unsafe sqlite3_stmt_readonly(statement) != 0
        let words = unsafe String(decoding: text, as: UTF8.self).split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        self.words = isQuestion && words.first == "SELECT" ? Set(words.map { $0.lowercased() }) : nil
        let consumed = if let tail = unsafe tail, let start = unsafe start { unsafe tail - start } else { Int(count) }
        guard consumed == Int(count) else { throw .misuse(EngineReport("there is more than one statement")) }
    }

    deinit {
        unsafe sqlite3_finalize(handle)
        unsafe buffer.deallocate()
    }

    /// Starts a use with the values of one row behind those of the other; ``finish()`` must follow, whether this throws or
    /// not.
    func start(_ rows: some Collection<[SQLValue]>) throws(StorageError) {
        isInUse = true
        rejectedColumn = nil
        let count = rows.reduce(0) { $0 + $1.count }
        guard count == parameterCount else {
            throw .misuse(EngineReport("\(count) values for \(parameterCount) placeholders"))
        }
        reserve(rows.reduce(0) { bytes, row in row.reduce(bytes) { $0 + $1.byteCount } })
        var (used, place) = (0, Int32(0))
        for row in rows {
            for value in row {
                place += 1
                guard bind(value, at: place, &used) == SQLITE_OK else {
                    throw unsafe .sqlite(sqlite3_db_handle(handle))
                }
            }
        }
    }

    /// Whether it may depend on the rows of an insertion: it names their table, or is not a query.
    ///
    /// No view gives a table another name.
    func mayRead(from insertion: Insertion) -> Bool {
        guard let words else { return true }
        let identifier = ObjectIdentifier(insertion)
        if let known = reads.first(where: { $0.insertion == identifier }) { return known.isRead }
        let isRead = words.contains(insertion.table.lowercased())
        reads.append((identifier, isRead))
        return isRead
    }

    /// Moves to the next row; false if there is none.
    func step() throws(StorageError) -> Bool {
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        default: throw unsafe .sqlite(sqlite3_db_handle(handle))
        }
    }

    /// Ends a use: the statement holds no lock and no value any more.
    func finish() {
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
        isInUse = false
    }
}

extension SQLiteStatement {
    /// Makes room before anything is bound, because bound bytes must not move.
    private func reserve(_ byteCount: Int) {
        guard unsafe buffer.count < byteCount else { return }
        unsafe buffer.deallocate()
        unsafe buffer = .allocate(byteCount: max(byteCount, 2 * buffer.count), alignment: 1)
    }

    private func bind(_ value: SQLValue, at index: Int32, _ used: inout Int) -> Int32 {
        switch value {
        case .null:
            return unsafe sqlite3_bind_null(handle, index)
        case .integer(let integer):
            return unsafe sqlite3_bind_int64(handle, index, integer)
        case .real(let real):
            return unsafe sqlite3_bind_double(handle, index, real)
        case .text(var text):
            let (start, count) = text.withUTF8 { unsafe copy(UnsafeRawBufferPointer($0), &used) }
            return unsafe shim_sqlite3_bind_static_text(handle, index, start, count)
        case .blob(let blob):
            let (start, count) = unsafe blob.withUnsafeBytes { unsafe copy($0, &used) }
            return unsafe shim_sqlite3_bind_static_blob(handle, index, start, count)
        }
    }

    /// Puts bytes after those already in the buffer.
    ///
    /// Their address is never null, which SQLite would take for NULL.
    private func copy(_ bytes: UnsafeRawBufferPointer, _ used: inout Int) -> (UnsafePointer<CChar>?, UInt64) {
        let place = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[used..<used + bytes.count])
        unsafe place.copyMemory(from: bytes)
        let start = unsafe buffer.baseAddress.map { unsafe UnsafeRawPointer($0 + used) }
        used += bytes.count
        return unsafe (start?.assumingMemoryBound(to: CChar.self), UInt64(bytes.count))
    }
}

extension SQLiteStatement: ColumnSource {
    func type(at column: Int) -> ColumnType? {
        guard 0..<columnCount ~= Int32(clamping: column) else { return nil }
        return switch unsafe sqlite3_column_type(handle, Int32(column)) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE3_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    func integer(at column: Int) -> Int64 { unsafe sqlite3_column_int64(handle, Int32(column)) }

    func real(at column: Int) -> Double { unsafe sqlite3_column_double(handle, Int32(column)) }

    func text(at column: Int) -> String? {
        // The text is asked for first: asking for it can change its length.
        guard let start = unsafe sqlite3_column_text(handle, Int32(column)) else { return nil }
        let count = Int(unsafe sqlite3_column_bytes(handle, Int32(column)))
        return unsafe String(validating: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func blob(at column: Int) -> [UInt8] { unsafe Array(bytes(at: column)) }

    /// They stay in place until the next step.
    private func bytes(at column: Int) -> UnsafeRawBufferPointer {
        let start = unsafe sqlite3_column_blob(handle, Int32(column))
        let count = Int(unsafe sqlite3_column_bytes(handle, Int32(column)))
        return unsafe UnsafeRawBufferPointer(start: start, count: count)
    }

    func reject(_ column: Int) { rejectedColumn = rejectedColumn ?? column }
}
