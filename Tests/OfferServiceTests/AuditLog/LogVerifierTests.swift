// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService
@testable import TransparencyLog

/// The whole log, computed again: nothing of it can be another without being named.
struct LogVerifierTests {
    /// 70,000 entries are too many for each row; 66,000 have a full tile of level 1.
    private static func place(_ count: Int) throws -> LogPlace {
        let place = try LogPlace()
        let writer = try place.writer()
        var left = count
        while left > 0 {
            try writer.add(min(left, 700))
            left -= 700
        }
        return place
    }

    private static func verify(
        _ place: LogPlace,
        _ promises: [LogVerifier.Promise] = []
    ) throws(LogDamage) -> LogVerifier.Report {
        let connection: any DatabaseConnection
        do { connection = try place.ledger.openForReading() } catch { throw .unreadable(error.description) }
        return try LogVerifier(DatabaseLog(connection: connection), promises: promises).run()
    }

    @Test(arguments: [(0, 0), (1, 0), (255, 0), (256, 2), (257, 2), (1000, 4), (66_000, 260)])
    func `finds a whole log whole`(count: Int, tiles: Int) throws {
        let place = try Self.place(count)
        let report = try Self.verify(place)
        #expect(report.head == (try place.reader().head()))
        #expect(report.head.size == Int64(count) && report.tiles == tiles)
    }

    struct HarmRow: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let statement: StaticString
        let damage: LogDamage
    }

    static let harms = [
        HarmRow(
            testDescription: "an entry changed",
            statement: "UPDATE audit_entries SET entry = x'7b7d' WHERE entry_index = 300",
            damage: .tileDiffers(level: 0, index: 1)
        ),
        HarmRow(
            testDescription: "an entry of the last, partial tile changed",
            statement: "UPDATE audit_entries SET entry = x'7b7d' WHERE entry_index = 999",
            damage: .headDiffers(size: 1000)
        ),
        HarmRow(
            testDescription: "an entry removed",
            statement: "DELETE FROM audit_entries WHERE entry_index = 300",
            damage: .entryMissing(300)
        ),
        HarmRow(
            testDescription: "an entry moved away",
            statement: "UPDATE audit_entries SET entry_index = -6 WHERE entry_index IN (5)",
            damage: .entryMissing(5)
        ),
        HarmRow(
            testDescription: "a tile changed",
            statement:
                "UPDATE log_tiles SET hashes = CAST(x'00' || substr(hashes, 2) AS BLOB) WHERE level = 0 AND tile_index = 2",
            damage: .tileDiffers(level: 0, index: 2)
        ),
        HarmRow(
            testDescription: "a tile cut off",
            statement: "UPDATE log_tiles SET hashes = substr(hashes, 1, 8191) WHERE level = 0 AND tile_index = 2",
            damage: .tileDiffers(level: 0, index: 2)
        ),
        HarmRow(
            testDescription: "a tile removed",
            statement: "DELETE FROM log_tiles WHERE level = 0 AND tile_index = 0",
            damage: .tileDiffers(level: 0, index: 0)
        ),
        HarmRow(
            testDescription: "an upper tile changed",
            statement: "UPDATE log_tiles SET hashes = CAST(substr(hashes, 1, 95) || x'00' AS BLOB) WHERE level = 1",
            damage: .tileDiffers(level: 1, index: 0)
        ),
        HarmRow(
            testDescription: "another hash in the head",
            statement: "UPDATE log_head SET root_hash = zeroblob(32)",
            damage: .headDiffers(size: 1000)
        ),
    ]

    @Test(arguments: harms)
    func `names the first damage`(row: HarmRow) throws {
        let place = try Self.place(1000)
        try place.run(row.statement)
        #expect(throws: row.damage) { try Self.verify(place) }
        #expect(row.damage.description.hasSuffix("."))
    }

    @Test(arguments: ["UPDATE log_head SET size = 999", "DELETE FROM audit_entries WHERE entry_index = 999"])
    func `notices a head that counts other entries than there are`(text: String) throws {
        let place = try Self.place(1000)
        try place.run(
            text.hasPrefix("UPDATE")
                ? "UPDATE log_head SET size = 999" : "DELETE FROM audit_entries WHERE entry_index = 999"
        )
        let damage = try #require(throws: LogDamage.self) { try Self.verify(place) }
        #expect(damage.description.contains("its head counts"), "\(damage)")
    }

    @Test func `finds each single changed byte of every entry`() throws {
        let place = try Self.place(3)
        let entries = try place.entries()
        let connection = try place.location.connect()
        for (index, entry) in entries.enumerated() {
            for offset in entry.indices {
                var changed = entry
                changed[offset] ^= 1
                let put = { (bytes: [UInt8]) in
                    try connection.run(
                        SQL(
                            "UPDATE audit_entries SET entry = ? WHERE entry_index = ?",
                            .blob(bytes),
                            .integer(Int64(index))
                        )
                    )
                }
                _ = try put(changed)
                #expect(throws: LogDamage.headDiffers(size: 3)) { try Self.verify(place) }
                _ = try put(entry)
            }
        }
        #expect(try Self.verify(place).head.size == 3)
    }

    @Test func `holds the log to each head that was promised`() throws {
        let place = try Self.place(1000)
        let reader = try place.reader()
        let sizes: [Int64] = [0, 1, 255, 256, 257, 700, 999, 1000]
        let promises = try sizes.map {
            LogVerifier.Promise("kept", TreeHead(size: $0, rootHash: try reader.rootHash(ofSize: $0)))
        }
        #expect(try Self.verify(place, promises.reversed()).promises == promises)
        for promise in promises {
            let wrong = LogVerifier.Promise(
                "a friend's",
                TreeHead(size: promise.head.size, rootHash: SHA256.digest(of: [9]))
            )
            #expect(throws: LogDamage.promiseBroken("a friend's", size: promise.head.size)) {
                try Self.verify(place, promises + [wrong])
            }
        }
        let beyond = LogVerifier.Promise("a friend's", TreeHead(size: 1001, rootHash: promises[7].head.rootHash))
        #expect(throws: LogDamage.entriesMissing("a friend's", signed: 1001, found: 1000)) {
            try Self.verify(place, [beyond])
        }
    }

    @Test func `reports its progress, and stops when the callback returns false`() throws {
        let place = try Self.place(1000)
        let source = DatabaseLog(connection: try place.ledger.openForReading())
        var steps: [Int64] = []
        #expect(throws: LogDamage.stopped) {
            try LogVerifier(source, promises: []).run { done, total in
                #expect(total == 1000)
                steps.append(done)
                return done < 512
            }
        }
        #expect(steps == [256, 512])
    }

    @Test func `reads an exported folder, and names what was changed in it`() throws {
        let directory = try TemporaryDirectory()
        let place = try Self.place(1000)
        let reader = try place.reader()
        func write(_ path: TilePath, _ bytes: [UInt8]?) throws {
            let name = "tile/\(path.text)"
            let folder = directory.path(of: name).split(separator: "/").dropLast().joined(separator: "/")
            try FileManager.default.createDirectory(atPath: "/\(folder)", withIntermediateDirectories: true)
            try directory.write(try #require(bytes), to: name)
        }
        var paths: [TilePath] = []
        for (level, count, last) in [(0, 4, 232), (1, 1, 3)] {
            for index in 0..<Int64(count) {
                let width = index == count - 1 ? last : 256
                let tile = try #require(TileCoordinate(level: level, index: index, width: width))
                try write(.tile(tile), try reader.tile(tile))
                paths.append(.tile(tile))
                guard level == 0 else { continue }
                try write(.entries(index: index, width: width), try reader.entryBundle(index, width: width))
                paths.append(.entries(index: index, width: width))
            }
        }
        let head = try reader.head()
        let log = LogVerifier(FolderLog(folder: directory.path, upTo: head), promises: [])
        #expect(try log.run().tiles == 5)
        for path in paths {
            let name = "tile/\(path.text)"
            let good = try TemporaryDirectory.read(directory.path(of: name))
            for offset in [0, 1, 2, good.count / 2, good.count - 1] {
                var bad = good
                bad[offset] ^= 0x10
                try directory.write(bad, to: name)
                #expect(throws: LogDamage.self, "\(name) at \(offset)") { try log.run() }
            }
            for bad in [good.dropLast() + [], good + [0], []] {
                try directory.write(bad, to: name)
                #expect(throws: LogDamage.self, "\(name) of \(bad.count) bytes") { try log.run() }
            }
            try directory.write(good, to: name)
        }
        #expect(try log.run().head == head)
    }
}
