// SPDX-License-Identifier: Apache-2.0
import CLibPQ

/// One answer of a server, with all of its rows, in PostgreSQL's binary form.
@safe
final class PostgreSQLResult {
    private let handle: OpaquePointer
    private let call: UnsafePointer<shim_libpq>
    private var row: Int32 = 0
    let columnCount: Int32
    private(set) var rejectedColumn: Int?
    let status: ExecStatusType

    init(_ handle: OpaquePointer, _ call: UnsafePointer<shim_libpq>) {
        unsafe self.handle = handle
        unsafe self.call = call
        status = unsafe call.pointee.PQresultStatus(handle)
        columnCount = unsafe call.pointee.PQnfields(handle)
    }

    deinit {
        unsafe call.pointee.PQclear(handle)
    }

    /// What the server carried out, as `COMMIT` or `INSERT 0 1`.
    var command: String { unsafe Self.text(call.pointee.PQcmdStatus(handle)) }

    private static func text(_ start: UnsafePointer<CChar>?) -> String {
        unsafe start.map { unsafe String(cString: $0) } ?? ""
    }

    /// How many rows were inserted, updated or deleted.
    var changes: Int {
        guard status == PGRES_COMMAND_OK || !command.hasPrefix("SELECT") else { return 0 }
        return Int(unsafe Self.text(call.pointee.PQcmdTuples(handle))) ?? 0
    }

    var rowCount: Int { Int(unsafe call.pointee.PQntuples(handle)) }

    /// Calls `body` with the rows, one by one.
    func forEachRow(_ body: (borrowing Row) -> Void) {
        let current = Row(source: self)
        for index in 0..<rowCount {
            row = Int32(index)
            body(current)
        }
    }

    /// What went wrong.
    var report: EngineReport { unsafe Self.report(of: handle, call) }

    /// The state and the primary message, and nothing else: the details quote whole rows.
    static func report(of handle: OpaquePointer, _ call: UnsafePointer<shim_libpq>) -> EngineReport {
        // PG_DIAG_SQLSTATE, PG_DIAG_MESSAGE_PRIMARY
        let state = unsafe field(UInt8(ascii: "C"), of: handle, call)
        let message = unsafe field(UInt8(ascii: "M"), of: handle, call)
        if let message { return EngineReport(state: state ?? "", words: message) }
        // What libpq notices by itself has no fields, and no values.
        let words = unsafe text(call.pointee.PQresultErrorMessage(handle))
        return EngineReport(words.split { $0.isNewline }.first.map { String($0) } ?? "the connection is lost")
    }

    static func field(_ code: UInt8, of handle: OpaquePointer, _ call: UnsafePointer<shim_libpq>) -> String? {
        unsafe call.pointee.PQresultErrorField(handle, Int32(code)).map { unsafe String(cString: $0) }
    }
}

extension PostgreSQLResult: ColumnSource {
    func type(at column: Int) -> ColumnType? {
        guard 0..<columnCount ~= Int32(clamping: column) else { return nil }
        if unsafe call.pointee.PQgetisnull(handle, row, Int32(column)) == 1 { return .null }
        return PostgreSQLType(rawValue: unsafe call.pointee.PQftype(handle, Int32(column)))?.columnType ?? .other
    }

    func integer(at column: Int) -> Int64 {
        let bytes = blob(at: column)
        let isNegative = bytes.count > 1 && bytes[0] >= 0x80
        return bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
    }

    func real(at column: Int) -> Double {
        let bits = blob(at: column)
        if bits.count == 4 { return Double(Float(bitPattern: bits.reduce(0) { $0 << 8 | UInt32($1) })) }
        return Double(bitPattern: bits.reduce(0) { $0 << 8 | UInt64($1) })
    }

    func text(at column: Int) -> String? {
        unsafe withBytes(at: column) { unsafe String(validating: $0, as: UTF8.self) }
    }

    func blob(at column: Int) -> [UInt8] {
        unsafe withBytes(at: column) { unsafe Array($0) }
    }

    func reject(_ column: Int) { rejectedColumn = rejectedColumn ?? column }

    private func withBytes<Value>(at column: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        let start = unsafe UnsafeRawPointer(call.pointee.PQgetvalue(handle, row, Int32(column)))
        let count = Int(unsafe call.pointee.PQgetlength(handle, row, Int32(column)))
        let bytes = unsafe start?.assumingMemoryBound(to: UInt8.self)
        return unsafe body(UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
    }
}

/// The types of PostgreSQL that are read or written, by their numbers in `pg_type`.
enum PostgreSQLType: UInt32 {
    case bool = 16
    case bytea = 17
    case int8 = 20
    case int2 = 21
    case int4 = 23
    case text = 25
    case float4 = 700
    case float8 = 701
    case varchar = 1043

    var columnType: ColumnType {
        switch self {
        case .bool, .int2, .int4, .int8: .integer
        case .float4, .float8: .real
        case .text, .varchar: .text
        case .bytea: .blob
        }
    }
}
