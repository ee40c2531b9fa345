// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
package import Storage

/// What is sealed or disabled in the database: it counts for every process that uses it, and survives restarts.
package struct SigningStops: Hashable, Sendable {
    /// A seal that lasts until it is lifted.
    package struct StoredSeal: Hashable, Sendable {
        /// Why the service is sealed; a cause that this version does not know counts as `administrator`.
        package let cause: SealCause
        /// When the service was sealed.
        package let since: Timestamp
        /// A sentence, or the administrator's reason.
        package let detail: String
        /// Whether the service has recorded that it no longer signs.
        package var isAcknowledged: Bool
    }

    /// In the order of ``SealCause``.
    package var seals: [StoredSeal] = []
    /// The disabled keys, and whether the service has recorded that it no longer uses them.
    package var keys: [KeyID: Bool] = [:]

    /// Nothing is sealed or disabled.
    package init() {}

    /// The stop that blocks this key, or, without a key, all grants; `nil` if there is none.
    package func stop(of key: KeyID?) -> KeyStop? {
        if !seals.isEmpty { return .sealed(seals.map(\.cause)) }
        if let key, keys[key] != nil { return .disabled(key) }
        return nil
    }

    /// The stops of these that are missing in `later`.
    func lifted(in later: SigningStops) -> SigningStops {
        var lifted = SigningStops()
        let causes = Set(later.seals.map(\.cause))
        lifted.seals = seals.filter { !causes.contains($0.cause) }
        lifted.keys = keys.filter { later.keys[$0.key] == nil }
        return lifted
    }

    /// Whether the service has yet to acknowledge a seal or a disabled key.
    package var awaitsAcknowledgement: Bool {
        seals.contains { !$0.isAcknowledged } || keys.values.contains(false)
    }
}

/// Why a key may not be used.
package enum KeyStop: Error, Hashable, Sendable {
    /// The whole service is sealed, for these causes.
    case sealed([SealCause])
    /// This key is disabled.
    case disabled(KeyID)
    /// This instance has been out of contact with the others for too long to know what is sealed or disabled.
    case cutOff
    /// Another instance keeps customers under a newer secret, which this one has not read yet.
    case outdatedSecret

    /// For records and logs.
    package var reason: String {
        switch self {
        case .sealed(let causes): "the service is sealed: \(causes.map(\.rawValue).joined(separator: ", "))"
        case .disabled: "the key is disabled"
        case .cutOff: "the database that other instances share has not answered for too long"
        case .outdatedSecret: "customers are kept under a newer secret, which this instance has not read yet"
        }
    }
}

/// The seals as rows of the database.
package struct SealStore {
    private let connection: any DatabaseConnection

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    private static let seals = SQL("SELECT cause, since, detail, acknowledged_at FROM seals")
    private static let keyStates = SQL("SELECT key_id, acknowledged_at FROM key_states")

    /// Asks ahead what ``stops()`` reads.
    func ask() throws(StorageError) {
        try connection.ask(Self.seals)
        try connection.ask(Self.keyStates)
    }

    /// All seals and disabled keys.
    package func stops() throws(StorageError) -> SigningStops {
        var stops = SigningStops()
        try connection.rows(Self.seals) { row in
            // A cause that this program does not know seals too.
            let cause = SealCause(rawValue: row.text(0)) ?? .administrator
            stops.seals.append(
                SigningStops.StoredSeal(
                    cause: cause,
                    since: Timestamp(milliseconds: row.integer(1)),
                    detail: row.text(2),
                    isAcknowledged: row.optionalInteger(3) != nil
                )
            )
        }
        let order = SealCause.allCases
        stops.seals.sort { order.firstIndex(of: $0.cause) ?? 0 < order.firstIndex(of: $1.cause) ?? 0 }
        try connection.rows(Self.keyStates) { row in
            if let id = try? KeyID(row.text(0)) { stops.keys[id] = row.optionalInteger(1) != nil }
        }
        return stops
    }

    /// Adds a seal; one of the same cause stays as it is.
    package func add(_ seal: ActiveSeal, acknowledgedAt: Timestamp?) throws(StorageError) {
        try connection.run(
            SQL(
                """
                INSERT INTO seals (cause, since, detail, acknowledged_at) VALUES (?, ?, ?, ?)
                ON CONFLICT (cause) DO NOTHING
                """,
                .text(seal.cause.rawValue),
                .integer(seal.since.milliseconds),
                .text(seal.detail),
                acknowledgedAt.map { .integer($0.milliseconds) } ?? .null
            )
        )
        try InstanceTable(connection: connection).awaitAcknowledgement()
    }

    /// Lifts a seal; an administrator's together with those of unknown causes, which this program reads as the same.
    package func remove(_ cause: SealCause) throws(StorageError) {
        var stored = [cause.rawValue]
        if cause == .administrator {
            try connection.rows(SQL("SELECT cause FROM seals")) { row in
                let other = row.text(0)
                if SealCause(rawValue: other) == nil { stored.append(other) }
            }
        }
        for cause in stored { try connection.run(SQL("DELETE FROM seals WHERE cause = ?", .text(cause))) }
    }

    /// Notes that the service has acknowledged every seal and every disabled key.
    package func acknowledge(at now: Timestamp) throws(StorageError) {
        let instant = SQLValue.integer(now.milliseconds)
        try connection.run(SQL("UPDATE seals SET acknowledged_at = ? WHERE acknowledged_at IS NULL", instant))
        try connection.run(SQL("UPDATE key_states SET acknowledged_at = ? WHERE acknowledged_at IS NULL", instant))
    }
}
