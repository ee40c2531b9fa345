// SPDX-License-Identifier: Apache-2.0

extension LedgerSchema {
    /// How far each receiver of events is; the events themselves are derived from the log.
    static let eventDeliveries: [StaticString] = [
        """
        CREATE TABLE event_endpoints (
            -- How far each endpoint of the events file is.
            endpoint TEXT PRIMARY KEY,              -- the name in the events file
            next_position BIGINT NOT NULL,          -- 4 times the entry's index, plus the event's number within the entry:
                                                    -- each earlier event is delivered or in event_deliveries
            rewind_to BIGINT,                       -- events replay: the position to go back to; null once done
            delivered BIGINT NOT NULL,              -- number of events that were delivered
            delivered_at BIGINT,                    -- when the last one was
            disabled_at BIGINT,                     -- null while it gets events
            disabled_reason TEXT                    -- for people
        )
        """,
        """
        CREATE TABLE event_deliveries (
            -- Events that an endpoint has not taken, and those that wait behind them.
            endpoint TEXT NOT NULL,
            position BIGINT NOT NULL,               -- as next_position of event_endpoints
            attempts BIGINT NOT NULL,               -- 0 while it waits behind an earlier event of the same customer
            first_attempt_at BIGINT,                -- null before the first
            next_attempt_at BIGINT NOT NULL,
            given_up_at BIGINT,                     -- null while it is tried
            failure TEXT,                           -- of the last attempt, for people
            PRIMARY KEY (endpoint, position)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE event_lease (
            -- PostgreSQL: the instance that delivers events. One row.
            lease_id BIGINT PRIMARY KEY CHECK (lease_id = 1),
            holder BLOB NOT NULL,                   -- an instance_id; empty before the first
            beats BIGINT NOT NULL                   -- counted up while the holder delivers
        )
        """,
        "INSERT INTO event_lease (lease_id, holder, beats) VALUES (1, x'', 0)",
        """
        CREATE TABLE relayed_notifications (
            -- Bodies of notifications that are still to be relayed.
            entry_index BIGINT PRIMARY KEY,         -- of the store.notification entry
            store TEXT NOT NULL,                    -- app-store or google-play
            body BLOB NOT NULL,                     -- byte for byte as the store sent it
            received_at BIGINT NOT NULL
        )
        """,
    ]
}
