// SPDX-License-Identifier: Apache-2.0

/// The settings that a new connection makes on its server, and those that it verifies.
struct PostgreSQLSettings {
    let connection: PostgreSQLConnection
    let options: PostgreSQLOptions

    func apply(encoding: String?) throws(StorageError) {
        guard encoding == "UTF8" else { throw .settingRefused(name: "server_encoding", value: encoding ?? "unknown") }
        try makeSettings()
        guard options.access == .readWrite else { return }
        try verify()
        try makeLock()
    }

    /// Makes only the settings that the server knows, so that related database servers work too.
    ///
    /// Only a warning reports a commit that no standby has confirmed. If a writer's machine fails while the server
    /// reads a batch, the session does not count as idle; the server's keepalives detect that.
    private func makeSettings() throws(StorageError) {
        try connection.rows(
            SQL(
                """
                SELECT set_config(name, value, false) FROM (VALUES
                    ('standard_conforming_strings', 'on'), ('client_min_messages', 'warning'), ('lock_timeout', ?),
                    ('tcp_keepalives_idle', '5'), ('tcp_keepalives_interval', '2'), ('tcp_keepalives_count', '3'),
                    ('tcp_user_timeout', '5000'),
                    ('idle_in_transaction_session_timeout', ?), ('client_connection_check_interval', ?),
                    ('statement_timeout', '0'), ('default_transaction_read_only', ?),
                    ('synchronous_commit', CASE WHEN current_setting('synchronous_commit', true) IN ('off', 'local')
                        THEN 'on' ELSE current_setting('synchronous_commit', true) END)
                ) AS wanted (name, value)
                WHERE current_setting(name, true) IS NOT NULL AND value IS NOT NULL
                """,
                .text(String(options.busyTimeoutMilliseconds)),
                .text(String(options.access == .readOnly ? 0 : options.idleTimeoutMilliseconds)),
                .text("1000"),
                options.access == .readOnly ? .text("on") : .null
            )
        ) { _ in }
    }

    /// Reads back what durability rests on; a standby, and a server that only reads, is no place to write.
    private func verify() throws(StorageError) {
        let found = try connection.first(
            SQL(
                """
                SELECT current_setting('transaction_read_only', true), current_setting('fsync', true),
                    current_setting('full_page_writes', true), current_setting('synchronous_commit', true),
                    current_setting('client_min_messages', true)
                """
            )
        ) { row in (0..<5).map { row.optionalText($0) } }
        guard let found else { return }
        if found[0] == "on" { throw .readOnly(EngineReport("the server only reads: it is a standby, or set to")) }
        for (name, value) in zip(["fsync", "full_page_writes"], found[1...]) where value == "off" {
            throw .settingRefused(name: name, value: "off")
        }
        if let value = found[3], ["off", "local"].contains(value) {
            throw .settingRefused(name: "synchronous_commit", value: value)
        }
        if let value = found[4], ["error", "fatal", "panic"].contains(value) {
            throw .settingRefused(name: "client_min_messages", value: value)
        }
    }

    /// Makes the table with the row that the one writer locks; several that come at once stumble, and try again.
    private func makeLock() throws(StorageError) {
        for attempt in 1...5 {
            do {
                return try makeLockOnce()
            } catch {
                guard Self.isStumble(error), attempt < 5 else { throw error }
            }
        }
    }

    /// `IF NOT EXISTS` looks once: what another makes after the look is found as a second row in a catalog (23505), a
    /// table (42P07) or the table's row type (42710) that is there already, whichever comes first.
    private static func isStumble(_ error: StorageError) -> Bool {
        switch error {
        case .constraint: true
        case .misuse(let report): ["42P07", "42710"].contains(report.state)
        default: false
        }
    }

    private func makeLockOnce() throws(StorageError) {
        do {
            let row = SQL("SELECT lock_id FROM writer_lock WHERE lock_id = 1")
            if try connection.first(row, { _ in true }) != nil { return }
        } catch {
            guard case .misuse(let report) = error, report.state == "42P01" else { throw error }
        }
        try connection.run(SQL("CREATE TABLE IF NOT EXISTS writer_lock (lock_id BIGINT PRIMARY KEY)"))
        try connection.run(SQL("INSERT INTO writer_lock (lock_id) VALUES (1) ON CONFLICT DO NOTHING"))
    }
}
