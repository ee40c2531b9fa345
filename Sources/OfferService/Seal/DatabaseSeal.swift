// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Ledger
import OfferDomain
package import ServiceRuntime
import Storage

/// Seals and unseals in the database, beside a running service or without one.
package struct DatabaseSeal {
    private let ledger: LedgerAccess
    private let clock: WallClock

    package init(ledger: LedgerAccess, clock: WallClock) {
        self.ledger = ledger
        self.clock = clock
    }

    /// Records the seal: what is decided after that is not signed, and no start of the service forgets it.
    package func seal(_ cause: SealCause = .administrator, detail: String) throws(DatabaseSealError) {
        let seal = ActiveSeal(
            cause: cause,
            since: clock.now(),
            detail: detail,
            requester: .command,
            isRecorded: true
        )
        try change { connection throws(DatabaseSealError) in
            try database(SealStore(connection: connection).add(seal, acknowledgedAt: nil))
            return [.serviceSealed(seal)]
        }
    }

    /// The causes that are sealed in the database.
    package func causes() throws(DatabaseSealError) -> [SealCause] {
        guard ledger.exists else { throw .ledger(.databaseGone) }
        return try database(SealStore(connection: ledger.open()).stops().seals.map(\.cause))
    }

    /// Lifts every seal of the database and records that; or nothing, if one of them must stay.
    ///
    /// - Returns: The causes that were lifted.
    package func unseal(
        _ reason: SealReason,
        _ settings: SealSettings
    ) throws(DatabaseSealError) -> [SealCause] {
        var lifted: [SealCause] = []
        let now = clock.now()
        try change { connection throws(DatabaseSealError) in
            let store = SealStore(connection: connection)
            lifted = try database(store.stops().seals.map(\.cause))
            let last = try database(AuditReader.newestTime(connection))
            let obstacles = settings.obstacles(to: lifted, at: now, lastRecordedAt: last)
            guard obstacles.isEmpty else { throw .holds(obstacles) }
            for cause in lifted { try database(store.remove(cause)) }
            return lifted.map { .serviceUnsealed($0, by: .command, reason: reason.text) }
        }
        return lifted
    }

    private func change(
        _ body: (any DatabaseConnection) throws(DatabaseSealError) -> [AuditEvent]
    ) throws(DatabaseSealError) {
        // No service would read a database that is created only now.
        guard ledger.exists else { throw .ledger(.databaseGone) }
        do throws(LedgerChangeError<DatabaseSealError>) {
            try ledger.change(body)
        } catch {
            switch error {
            case .refused(let error): throw error
            case .ledger(let error): throw .ledger(error)
            }
        }
    }

    private func database<Value>(
        _ body: @autoclosure () throws(StorageError) -> Value
    ) throws(DatabaseSealError) -> Value {
        do { return try body() } catch { throw .ledger(.database(error)) }
    }
}

/// Why a command sealed or lifted nothing.
package enum DatabaseSealError: Error, Sendable, CustomStringConvertible {
    /// These causes still hold.
    case holds([SealObstacle])
    case ledger(LedgerError)

    /// The reason, as a part of a sentence for the person who ran the command.
    package var description: String {
        switch self {
        case .holds(let obstacles):
            "nothing was lifted, for what sealed the service still holds: "
                + obstacles.map { "\($0.cause.rawValue): \($0.reason); \($0.cause.remedy)" }.joined(separator: "\n  ")
        case .ledger(let error): error.description
        }
    }
}

extension SealSettings {
    /// What a command can see by itself of causes that must stay.
    fileprivate func obstacles(
        to causes: [SealCause],
        at now: Timestamp,
        lastRecordedAt: Timestamp?
    ) -> [SealObstacle] {
        var obstacles: [SealObstacle] = []
        if let presence = fileObstacle { obstacles.append(SealObstacle(cause: .file, reason: presence)) }
        if causes.contains(.clockStepped), let lag = lag(of: now, behind: lastRecordedAt) {
            obstacles.append(SealObstacle(cause: .clockStepped, reason: lag))
        }
        return obstacles
    }
}
