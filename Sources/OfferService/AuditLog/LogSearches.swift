// SPDX-License-Identifier: Apache-2.0
import Ledger
import Storage
import TransparencyLog

/// Where the calls that ask what is on record find their answers, and say that they were asked.
struct LogSearches: Sendable {
    let index: AuditIndex
    let readers: LogReaders
    /// Records each query before its answer is sent.
    let note: AuditQueryUse.Note

    /// Reads on a thread that may block.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any DatabaseConnection, AuditIndex) throws(AuditReadError) -> Value
    ) async throws(Refusal) -> Value {
        do throws(LogReadersError) {
            return try await readers.read { [index] connection throws(AuditReadError) in try body(connection, index) }
        } catch {
            throw Refusal(error)
        }
    }

    /// Searches on a thread that may block.
    func search<Value: Sendable>(
        _ body: @escaping @Sendable (AuditSearch) throws(AuditReadError) -> Value
    ) async throws(Refusal) -> Value {
        try await read { connection, index throws(AuditReadError) in
            try body(try AuditSearch(connection: connection, format: index.format, tail: index.tail))
        }
    }
}
