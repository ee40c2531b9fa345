// SPDX-License-Identifier: Apache-2.0
import Ledger
package import OfferDomain
package import Storage

/// How far each endpoint is, as the database has it; used by one thread.
package struct EndpointTable {
    let connection: any DatabaseConnection

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// One endpoint.
    package struct Row: Hashable, Sendable {
        /// The name in the events file.
        package let id: String
        /// The number of the first position that is neither delivered nor held up.
        package var nextPosition: Int64
        /// The position that a command asked to go back to; `nil` once that is done.
        package var rewindTo: Int64?
        /// How many messages the endpoint has taken.
        package var delivered: Int64 = 0
        /// When it took the last one; `nil` before the first.
        package var deliveredAt: Timestamp?
        /// Since when it gets nothing; `nil` while it gets messages.
        package var disabledAt: Timestamp?
        /// Why it is disabled, for people.
        package var disabledReason: String?
    }

    /// A message that an endpoint has not taken.
    package struct HeldUp: Hashable, Sendable {
        /// The position's number.
        package let position: Int64
        /// How many attempts failed; 0 while it waits behind an earlier message of the same customer.
        package var attempts: Int64
        /// When the first attempt began; `nil` before it.
        package var firstAttemptAt: Timestamp?
        /// The earliest time of the next attempt.
        package var nextAttemptAt: Timestamp
        /// When it was given up; `nil` while it is tried.
        package var givenUpAt: Timestamp?
        /// Why the last attempt failed, for people.
        package var failure: String?
    }

    /// All rows by name, also those of endpoints that the events file does not name any more.
    package func all() throws(StorageError) -> [Row] {
        try connection.all(SQL(Self.rows), Self.row)
    }

    /// The row of one endpoint; `nil` of a new one.
    package func row(_ id: String) throws(StorageError) -> Row? {
        try connection.first(SQL(Self.oneRow, .text(id)), Self.row)
    }

    private static let rows: StaticString = """
        SELECT endpoint, next_position, rewind_to, delivered, delivered_at, disabled_at, disabled_reason
        FROM event_endpoints ORDER BY endpoint
        """

    private static let oneRow: StaticString = """
        SELECT endpoint, next_position, rewind_to, delivered, delivered_at, disabled_at, disabled_reason
        FROM event_endpoints WHERE endpoint = ?
        """

    private static func row(_ row: borrowing Storage.Row) -> Row {
        Row(
            id: row.text(0),
            nextPosition: row.integer(1),
            rewindTo: row.optionalInteger(2),
            delivered: row.integer(3),
            deliveredAt: row.optionalInteger(4).map(Timestamp.init(milliseconds:)),
            disabledAt: row.optionalInteger(5).map(Timestamp.init(milliseconds:)),
            disabledReason: row.optionalText(6)
        )
    }

    /// What an endpoint has not taken, those that are given up too, by position.
    package func heldUp(_ id: String) throws(StorageError) -> [HeldUp] {
        try connection.all(
            SQL(
                """
                SELECT position, attempts, first_attempt_at, next_attempt_at, given_up_at, failure
                FROM event_deliveries WHERE endpoint = ? ORDER BY position
                """,
                .text(id)
            ),
            Self.heldUp
        )
    }

    /// Some of what an endpoint has not taken: what is tried again first, then what is given up, the newest first.
    func heldUp(_ id: String, atMost limit: Int) throws(StorageError) -> [HeldUp] {
        try connection.all(
            SQL(
                """
                SELECT position, attempts, first_attempt_at, next_attempt_at, given_up_at, failure
                FROM event_deliveries WHERE endpoint = ?
                ORDER BY given_up_at IS NOT NULL, given_up_at DESC, position LIMIT ?
                """,
                .text(id),
                .integer(Int64(limit))
            ),
            Self.heldUp
        )
    }

    /// How much of what an endpoint has not taken is tried again, and how much is given up.
    func heldUpCounts(_ id: String) throws(StorageError) -> (open: Int64, givenUp: Int64) {
        let counts = try connection.first(
            SQL("SELECT COUNT(*), COUNT(given_up_at) FROM event_deliveries WHERE endpoint = ?", .text(id))
        ) { (all: $0.integer(0), givenUp: $0.integer(1)) }
        return ((counts?.all ?? 0) - (counts?.givenUp ?? 0), counts?.givenUp ?? 0)
    }

    private static func heldUp(_ row: borrowing Storage.Row) -> HeldUp {
        HeldUp(
            position: row.integer(0),
            attempts: row.integer(1),
            firstAttemptAt: row.optionalInteger(2).map(Timestamp.init(milliseconds:)),
            nextAttemptAt: Timestamp(milliseconds: row.integer(3)),
            givenUpAt: row.optionalInteger(4).map(Timestamp.init(milliseconds:)),
            failure: row.optionalText(5)
        )
    }

    /// Makes the row of an endpoint that is new.
    func add(_ row: Row) throws(StorageError) {
        try connection.run(
            SQL(
                """
                INSERT INTO event_endpoints (endpoint, next_position, delivered) VALUES (?, ?, 0) ON CONFLICT DO NOTHING
                """,
                .text(row.id),
                .integer(row.nextPosition)
            )
        )
    }

    /// Stores a row; `rewind_to` is what commands write, and only ``rewound(_:to:asked:)`` takes it back.
    func update(_ row: Row) throws(StorageError) {
        try connection.run(
            SQL(
                """
                UPDATE event_endpoints SET next_position = ?, delivered = ?, delivered_at = ?, disabled_at = ?,
                    disabled_reason = ? WHERE endpoint = ?
                """,
                .integer(row.nextPosition),
                .integer(row.delivered),
                row.deliveredAt.map { .integer($0.milliseconds) } ?? .null,
                row.disabledAt.map { .integer($0.milliseconds) } ?? .null,
                SQLValue(row.disabledReason),
                .text(row.id)
            )
        )
    }

    func put(_ item: HeldUp, of id: String) throws(StorageError) {
        try connection.run(
            SQL(
                """
                INSERT INTO event_deliveries (endpoint, position, attempts, first_attempt_at, next_attempt_at,
                    given_up_at, failure) VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (endpoint, position) DO UPDATE SET attempts = excluded.attempts,
                    first_attempt_at = excluded.first_attempt_at, next_attempt_at = excluded.next_attempt_at,
                    given_up_at = excluded.given_up_at, failure = excluded.failure
                """,
                .text(id),
                .integer(item.position),
                .integer(item.attempts),
                item.firstAttemptAt.map { .integer($0.milliseconds) } ?? .null,
                .integer(item.nextAttemptAt.milliseconds),
                item.givenUpAt.map { .integer($0.milliseconds) } ?? .null,
                SQLValue(item.failure)
            )
        )
    }

    func remove(_ position: Int64, of id: String) throws(StorageError) {
        try connection.run(
            SQL("DELETE FROM event_deliveries WHERE endpoint = ? AND position = ?", .text(id), .integer(position))
        )
    }

    /// Notes that the endpoint goes back to a position, as a command has asked.
    func rewound(_ id: String, to position: Int64, asked: Int64) throws(StorageError) {
        let changed = try connection.run(
            SQL(
                """
                UPDATE event_endpoints SET next_position = ?, rewind_to = NULL WHERE endpoint = ? AND rewind_to = ?
                """,
                .integer(position),
                .text(id),
                .integer(asked)
            )
        )
        // Otherwise another command has asked meanwhile, and the position stays: what is held up behind it must, too.
        guard changed > 0 else { return }
        try connection.run(
            SQL("DELETE FROM event_deliveries WHERE endpoint = ? AND position >= ?", .text(id), .integer(position))
        )
    }

    /// The first entry with a notification that one of these relays has neither received nor given up.
    func firstEntryToRelay(_ relays: [String]) throws(StorageError) -> Int64 {
        var least = Int64.max
        for relay in relays {
            guard let row = try row(relay) else { return 0 }
            let open = try connection.first(
                SQL(
                    "SELECT position FROM event_deliveries WHERE endpoint = ? AND given_up_at IS NULL ORDER BY position LIMIT 1",
                    .text(relay)
                )
            ) { $0.integer(0) }
            least = min(least, row.nextPosition, row.rewindTo ?? .max, open ?? .max)
        }
        return EventPosition(number: least).index
    }

    // MARK: - Commands

    /// Rewinds the endpoint to a position, within a second if the service runs.
    ///
    /// - Returns: False if there is no such endpoint.
    package func askToRewind(_ id: String, to position: Int64) throws(StorageError) -> Bool {
        try connection.run(
            SQL(
                "UPDATE event_endpoints SET rewind_to = ? WHERE endpoint = ?",
                .integer(position),
                .text(id)
            )
        ) > 0
    }

    /// Enables an endpoint that answered 410; one that fails or asked for a pause is tried again now.
    ///
    /// - Returns: False if there is no such endpoint.
    package func enable(_ id: String) throws(StorageError) -> Bool {
        try connection.run(
            SQL(
                """
                UPDATE event_endpoints SET disabled_at = NULL, disabled_reason = NULL,
                    rewind_to = COALESCE(rewind_to, next_position) WHERE endpoint = ?
                """,
                .text(id)
            )
        ) > 0
    }
}
