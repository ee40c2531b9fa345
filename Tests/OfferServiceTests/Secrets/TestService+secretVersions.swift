// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Storage

@testable import Configuration
@testable import Ledger
@testable import OfferService

extension TestService {
    /// Puts a new secret of customers' ids into force, as a reload does.
    func beginSecretVersion(_ name: String) throws {
        clock.advance(seconds: 1)
        var bytes: [UInt8] = []
        let random = try SystemRandom()
        for _ in 0..<2 { bytes += UniqueID.version4(random.next(), random.next()).bytes }
        let secretVersion = SecretVersion(name: name, key: try HMACKey(try SecureBytes(copying: bytes)))
        let next = Pseudonyms(secretVersion, earlier: current.value.pseudonyms.versions)
        try SecretVersionRegister(ledger: ledger).adopt(next)
        use(next)
    }

    /// Leaves the newest secret alone in force, as if there had never been another.
    func forgetEarlierVersions() throws {
        use(Pseudonyms(current.value.pseudonyms.versions[0]))
    }

    /// Ends a secret version that another took over from, as the command does, and lets go of its secret.
    func destroySecretVersion(_ name: String) throws {
        try ledger.change { connection throws(Never) in
            let table = SecretVersionTable(connection: connection)
            guard let known = try? table.all(), let secretVersion = known.first(where: { $0.name == name }),
                let next = known.first(where: { $0.ordinal > secretVersion.ordinal }),
                (try? table.destroy(secretVersion, before: next, at: clock.now)) != nil
            else { return [] }
            return [.secretVersionDestroyed(name)]
        }
        use(current.value.pseudonyms.without([name]))
    }

    /// Moves the start of the later secret versions by that many days, as if they had always begun then.
    func moveVersions(days: Int64) throws {
        try ledger.openPatiently().run(
            SQL(
                "UPDATE secret_versions SET begun_at = begun_at + ? WHERE ordinal > 0",
                .integer(days * 86_400_000)
            )
        )
    }

    /// The rows, but for those of the log, that have one of these somewhere in them: bytes as they are, or as records write
    /// them.
    func rows(with remnants: Set<[UInt8]>) throws -> [String] {
        let texts = remnants.flatMap { bytes in
            [
                // What the texts of a whole key and of its first 16 bytes have in common.
                String(decoding: Base64.encodeURL(bytes).prefix(21), as: UTF8.self),
                bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined(),
            ]
        }
        let connection = try ledger.openForReading()
        var found: [String] = []
        for table in LedgerMove.tables where !["audit_", "log_"].contains(where: table.description.hasPrefix) {
            let copy = try TableCopy(table, from: connection, to: nil)
            try connection.rows(copy.select) { row in
                for column in 0..<copy.columnCount {
                    let isRemnant =
                        switch row.value(column) {
                        case .blob(let bytes) where table.description == "grant_offsets":
                            GrantOffsetBlock(firstPrefix: 0, bytes: bytes).offsets.contains { offset in
                                remnants.contains {
                                    $0.count == LedgerKey.byteCount && GrantOffset.prefix(of: $0) == offset.prefix
                                }
                            }
                        case .blob(let bytes): remnants.contains(bytes)
                        case .text(let text): texts.contains(where: text.contains)
                        case .null, .integer, .real: false
                        }
                    if isRemnant { found.append("\(table) \(column)") }
                }
            }
        }
        return found
    }

    private func use(_ pseudonyms: Pseudonyms) {
        let now = current.value
        current.swap(
            Snapshot(catalog: now.catalog, keyRing: now.keyRing, pseudonyms: pseudonyms, callers: now.callers)
        )
    }
}
