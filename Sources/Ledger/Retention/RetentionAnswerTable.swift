// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
package import Storage

/// The answers that the App Store got to show to subscribers, for 30 days, and whether they canceled.
package struct RetentionAnswerTable {
    private let connection: any DatabaseConnection

    /// The most in one transaction, because requests wait for it.
    private static let mostAtOnce: Int64 = 64
    private static let days = 30
    /// The store's clock and the service's may differ by seconds.
    private static let minutesOfDoubt = 5

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// Stores an answer; a request that is answered again keeps one row.
    func add(_ shown: ShownAnswer, requestID: UniqueID, at now: Timestamp) throws(StorageError) {
        let row: [SQLValue] = [
            .blob(requestID.bytes), .blob(shown.chain.bytes), .text(shown.bundleID.text),
            .text(shown.environment.rawValue), .text(shown.answer), .text(shown.offer), .integer(now.milliseconds),
        ]
        try connection.insert(row, into: Self.insertion)
    }

    private static let insertion = Insertion(
        into: "retention_answers",
        columns: "request_id, chain, bundle_id, environment, answer, offer, answered_at",
        onConflict: .updates(keyColumns: 1, "answer = excluded.answer, offer = excluded.offer")
    )

    /// Notes that a subscriber has canceled, after the answers of the last hours.
    func cancel(_ chain: [UInt8], at instant: Timestamp) throws(StorageError) -> [RetentionOutcome] {
        let found = try open(
            SQL(
                """
                SELECT request_id, environment, answer, offer FROM retention_answers
                WHERE chain = ? AND outcome IS NULL AND answered_at > ? AND answered_at <= ?
                """,
                .blob(chain),
                .integer(instant.adding(hours: -RetentionOutcome.hours).milliseconds),
                .integer(instant.adding(minutes: Self.minutesOfDoubt).milliseconds)
            )
        )
        return try note(.canceled, found)
    }

    /// Settles some expired answers of apps that the store has reported about since; deletes some old ones.
    func settle(at now: Timestamp) throws(StorageError) -> [RetentionOutcome] {
        let kept = try note(.kept, try due(at: now))
        try connection.run(
            SQL(
                """
                DELETE FROM retention_answers WHERE request_id IN (
                    SELECT request_id FROM retention_answers WHERE request_id < ? ORDER BY request_id LIMIT ?
                )
                """,
                Self.oldest(at: now),
                .integer(Self.mostAtOnce)
            )
        )
        return kept
    }

    /// Whether there is something to settle, or to forget.
    package func isDue(at now: Timestamp) throws(StorageError) -> Bool {
        if try !due(at: now).isEmpty { return true }
        let sql = SQL("SELECT 1 FROM retention_answers WHERE request_id < ? LIMIT 1", Self.oldest(at: now))
        return try connection.first(sql) { _ in true } ?? false
    }

    private typealias Open = (requestID: [UInt8], environment: String, answer: String, offer: String)

    /// If the store has reported nothing since, it is not known which subscribers canceled.
    private func due(at now: Timestamp) throws(StorageError) -> [Open] {
        try open(
            SQL(
                """
                SELECT request_id, environment, answer, offer FROM retention_answers
                JOIN notified_apps ON store = 'app-store' AND store_app = bundle_id
                WHERE outcome IS NULL AND answered_at <= ? AND answered_at <= last_report_at - ?
                ORDER BY answered_at LIMIT ?
                """,
                .integer(now.adding(hours: -RetentionOutcome.hours).milliseconds),
                .integer(Int64(RetentionOutcome.hours) * 3_600_000),
                .integer(Self.mostAtOnce)
            )
        )
    }

    private func open(_ sql: SQL) throws(StorageError) -> [Open] {
        try connection.all(sql) { ($0.blob(0), $0.text(1), $0.text(2), $0.text(3)) }
    }

    private func note(
        _ outcome: RetentionOutcome.Outcome,
        _ answers: [Open]
    ) throws(StorageError) -> [RetentionOutcome] {
        for answer in answers {
            try connection.enqueue(
                SQL(
                    "UPDATE retention_answers SET outcome = ? WHERE request_id = ?",
                    .text(outcome.rawValue),
                    .blob(answer.requestID)
                )
            )
        }
        return answers.map {
            RetentionOutcome(environment: $0.environment, answer: $0.answer, offer: $0.offer, outcome: outcome)
        }
    }

    private static func oldest(at now: Timestamp) -> SQLValue {
        .blob(UniqueID.version7(at: now.adding(days: -days), 0, 0).bytes)
    }
}
