// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Storage

/// The SQLSTATE of a server decides whether to try again, to open a new connection, or to report the error.
@Suite struct PostgreSQLErrorTests {
    /// An error without its words.
    enum Kind: Equatable {
        case unique, foreignKey, notNull, check, constraint, readOnly, busy, diskFull, memory, corrupt, lost, closed,
            misuse

        init?(_ error: StorageError) {
            switch error {
            case .constraint(.unique, _): self = .unique
            case .constraint(.foreignKey, _): self = .foreignKey
            case .constraint(.notNull, _): self = .notNull
            case .constraint(.check, _): self = .check
            case .constraint(.other, _): self = .constraint
            case .readOnly: self = .readOnly
            case .busy: self = .busy
            case .diskFull: self = .diskFull
            case .outOfMemory: self = .memory
            case .corrupt: self = .corrupt
            case .ioFailure: self = .lost
            case .cannotOpen: self = .closed
            case .misuse: self = .misuse
            default: return nil
            }
        }
    }

    static let states: [(String, Kind)] = [
        ("23505", .unique), ("23503", .foreignKey), ("23502", .notNull), ("23514", .check), ("23P01", .constraint),
        ("25006", .readOnly), ("55P03", .busy), ("40001", .busy), ("40P01", .busy), ("40003", .lost), ("57014", .busy),
        ("53100", .diskFull), ("53200", .memory), ("53300", .memory), ("XX001", .corrupt), ("XX002", .corrupt),
        ("XX000", .lost), ("08006", .lost), ("57P01", .lost), ("57P03", .lost), ("58030", .lost), ("28P01", .closed),
        ("3D000", .closed), ("42601", .misuse), ("42P01", .misuse), ("22001", .misuse),
    ]

    @Test(arguments: states)
    func `each state is the error that its class calls for`(state: String, kind: Kind) {
        #expect(Kind(.postgreSQL(EngineReport(state: state, words: "no"), isLost: false)) == kind)
    }

    /// A client that loses the connection does not know what became of a commit, whatever the server said last.
    @Test(arguments: states)
    func `a connection that is lost is that, whatever was said`(state: String, kind: Kind) {
        #expect(Kind(.postgreSQL(EngineReport(state: state, words: "no"), isLost: true)) == .lost)
    }
}
