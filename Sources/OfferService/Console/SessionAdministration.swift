// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Ledger
package import OfferDomain
package import ServiceRuntime
package import Storage

/// Lists and ends sessions of people in the console, for the person who administers the service.
package struct SessionAdministration: Sendable {
    private let ledger: LedgerAccess
    private let clock: WallClock

    package init(ledger: LedgerAccess, clock: WallClock) {
        self.ledger = ledger
        self.clock = clock
    }

    /// A session that is neither over nor ended.
    package struct Entry: Hashable, Sendable {
        /// The provider's name and a pseudonym, as the audit log has them.
        package let person: CallerID
        package let role: CallerRole
        package let begunAt: Timestamp
        package let expiresAt: Timestamp
    }

    /// The sessions that are neither over nor ended, in the order in which they began.
    package func live() throws(StorageError) -> [Entry] {
        try ConsoleSessionTable(connection: try ledger.openForReading()).live(at: clock.now())
    }

    /// Ends all sessions of a person, and records it; without one, nothing is recorded.
    ///
    /// Every instance ends them within five seconds.
    /// - Returns: How many there were.
    package func end(_ person: CallerID) throws(LedgerError) -> Int {
        let now = clock.now()
        var count = 0
        do throws(LedgerChangeError<StorageError>) {
            try ledger.change { connection throws(StorageError) in
                count = try ConsoleSessionTable(connection: connection).endAll(of: person, at: now)
                return count > 0 ? [.caller(.sessionEnded(person, count: count))] : []
            }
        } catch {
            switch error {
            case .refused(let error): throw .database(error)
            case .ledger(let error): throw error
            }
        }
        return count
    }
}

extension ConsoleSessionTable {
    /// The sessions that are neither over nor ended.
    fileprivate func live(at now: Timestamp) throws(StorageError) -> [SessionAdministration.Entry] {
        let sql = SQL(
            """
            SELECT caller_id, role, begun_at, expires_at FROM console_sessions
                WHERE ended_at IS NULL AND expires_at > ? ORDER BY begun_at, caller_id
            """,
            .integer(now.milliseconds)
        )
        var found: [SessionAdministration.Entry] = []
        try connection.rows(sql) { row in
            guard let person = CallerID(ofSession: row.text(0)), let role = CallerRole(rawValue: row.text(1)) else {
                return
            }
            found.append(
                SessionAdministration.Entry(
                    person: person,
                    role: role,
                    begunAt: Timestamp(milliseconds: row.integer(2)),
                    expiresAt: Timestamp(milliseconds: row.integer(3))
                )
            )
        }
        return found
    }

    /// Ends the sessions of a person that are not over; answers how many.
    fileprivate func endAll(of person: CallerID, at now: Timestamp) throws(StorageError) -> Int {
        let sql = SQL(
            "UPDATE console_sessions SET ended_at = ? WHERE caller_id = ? AND ended_at IS NULL AND expires_at > ?",
            .integer(now.milliseconds),
            .text(person.text),
            .integer(now.milliseconds)
        )
        return Int(try connection.run(sql))
    }
}
