// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService
@testable import TransparencyLog

/// The tree is written with the entries, and nothing is added to a log that does not fit its tree.
@Suite(.overBothEngines) struct LogWritingTests {
    @Test func `has the defined root after every transaction, across the borders of tiles`() throws {
        let place = try LogPlace()
        let writer = try place.writer()
        for count in [1, 2, 252, 1, 0, 1, 255, 700, 1] {
            try writer.add(count)
            let expected = try place.expectedHead()
            #expect(writer.durableHead == expected)
            #expect(try place.reader().head() == expected)
            #expect(try place.writer().checkedHead() == expected, "rebuilt from tiles and entries")
        }
    }

    /// 70,000 entries make 273 full tiles and one of 112 at level 0, one full and one of 17 at level 1, one of 1 at level 2.
    @Test func `stores the tiles that a tree of 70,000 has`() throws {
        let entries = MerkleOracle.entries(70_000)
        let oracle = MerkleOracle(entries)
        var edge = TreeEdge()
        var stored: [[Int64]: [UInt8]] = [:]
        for (index, entry) in entries.enumerated() {
            edge.append(TreeHash.leaf(entry))
            // As often as a service commits under load.
            guard (index + 1).isMultiple(of: 37) || index == entries.count - 1 else { continue }
            for tile in edge.takeChanges() { stored[[Int64(tile.level), tile.index]] = tile.hashes }
        }
        #expect(edge.head == TreeHead(size: 70_000, rootHash: oracle.root(0..<70_000)))
        #expect(edge.takeChanges().isEmpty)
        let widths = Dictionary(grouping: stored, by: { $0.key[0] }).mapValues { $0.map { $1.count / 32 }.sorted() }
        #expect(widths == [0: Array(repeating: 256, count: 273), 1: [17, 256], 2: [1]])
        for (place, hashes) in stored {
            let span = 1 << (8 * Int(place[0]))
            let expected = (0..<hashes.count / 32).map { position in
                let first = (Int(place[1]) * 256 + position) * span
                return oracle.root(first..<first + span)
            }
            #expect(hashes == expected.flatMap(\.bytes))
        }
    }

    @Test func `goes on as if nothing had been after a transaction that was undone`() throws {
        let place = try LogPlace()
        let writer = try place.writer()
        try writer.add(250)
        let before = try #require(writer.durableHead)
        for count in [1, 6, 600] {
            try writer.begin(at: Timestamp(milliseconds: 1))
            for _ in 0..<count { try writer.append(.serviceStopped) }
            writer.rollback()
            #expect(writer.durableHead == before)
            #expect(try place.reader().head() == before)
        }
        try writer.add(300)
        #expect(writer.durableHead == (try place.expectedHead()))
        #expect(try place.writer().checkedHead().size == 550)
    }

    @Test func `changes no tree where a commit fails`() throws {
        let place = try LogPlace()
        let faults = Faults()
        let writer = LedgerWriter(connection: try faults.wrap(try place.ledger.openPatiently()))
        try writer.add(255)
        faults.failCommits(Faults.diskFull)
        #expect(throws: LedgerError.database(Faults.diskFull)) { try writer.add(300) }
        #expect(try place.reader().head().size == 255)
        try writer.add(300)
        #expect(writer.durableHead == (try place.expectedHead()))
        #expect(try place.writer().checkedHead().size == 555)
    }

    @Test func `takes in what another process has added`() throws {
        let place = try LogPlace()
        let (one, other) = (try place.writer(), try place.writer())
        // A few entries are added to the tree in memory. For many, the writer reads the tree's edge again.
        for count in [3, 300, 256, 1, 0, 700, 255] {
            try one.add(count)
            try other.add(count)
            #expect(other.durableHead == (try place.expectedHead()))
        }
        try place.ledger.change { _ throws(Never) in [.serviceStopped] }
        try one.add(1)
        #expect(one.durableHead == (try place.expectedHead()))
        #expect(try place.entries().count == 3032)
    }

    @Test func `goes on from no entry of another process that is not what its head says`() throws {
        let place = try LogPlace()
        let (one, other) = (try place.writer(), try place.writer())
        try one.add(3)
        let known = try #require(one.durableHead)
        try other.add(2)
        try place.run("UPDATE audit_entries SET entry = x'7b7d' WHERE entry_index = 4")
        #expect(throws: LedgerError.log(.notContinued(size: known.size))) { try one.add(1) }
        #expect(try place.entries().count == 5)
    }

    @Test func `the committer knows the newest durable tree, and no other`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            #expect(service.committer.treeHead == .empty)
            #expect(try await service.sign(offer: "open").status == 200)
            let first = service.committer.treeHead
            let reader = LogReader(connection: try service.ledger.openForReading())
            #expect(try reader.head() == first && first.size == 1)
            faults.failCommits(Faults.ioFailure)
            #expect(try await service.sign(offer: "open").status == 503)
            #expect(service.committer.treeHead == first)
            #expect(try await service.sign(offer: "open").status == 200)
            #expect(service.committer.treeHead == (try reader.head()))
            #expect(service.committer.treeHead.size == 3, "with audit.resume")
        }
    }

    // MARK: - Logs that were tampered with

    struct Tampering: CustomTestStringConvertible, Sendable {
        let statement: StaticString
        let fault: LogFault

        init(_ statement: StaticString, _ fault: LogFault) {
            self.statement = statement
            self.fault = fault
        }

        var testDescription: String { "\(statement)" }
    }

    /// The log has 600 entries: two full tiles, and 88 entries after them.
    private static let tamperings = [
        Tampering(
            "UPDATE audit_entries SET entry = CAST(replace(entry, '600', '601') AS BLOB) WHERE entry_index = 512",
            .rootDiffers(size: 600)
        ),
        Tampering("DELETE FROM audit_entries WHERE entry_index = 599", .sizeDiffers(head: 600, entries: 599)),
        Tampering("DELETE FROM audit_entries WHERE entry_index = 598", .entryDamaged(index: 598)),
        Tampering(
            "INSERT INTO audit_entries SELECT 600, entry FROM audit_entries WHERE entry_index = 0",
            .sizeDiffers(head: 600, entries: 601)
        ),
        Tampering("DELETE FROM log_tiles WHERE level = 1", .tileDamaged(level: 1, index: 0)),
        Tampering("UPDATE log_tiles SET hashes = zeroblob(64) WHERE level = 1", .rootDiffers(size: 600)),
        Tampering("UPDATE log_tiles SET hashes = zeroblob(63) WHERE level = 1", .tileDamaged(level: 1, index: 0)),
        Tampering("UPDATE log_tiles SET hashes = zeroblob(96) WHERE level = 1", .tileDamaged(level: 1, index: 0)),
        Tampering("UPDATE log_head SET size = 599", .sizeDiffers(head: 599, entries: 600)),
        Tampering("UPDATE log_head SET root_hash = zeroblob(32)", .rootDiffers(size: 600)),
        Tampering("UPDATE log_head SET root_hash = zeroblob(31)", .headMissing),
        Tampering("UPDATE log_head SET size = -1", .headMissing),
        Tampering("DELETE FROM log_head", .headMissing),
    ]

    @Test(arguments: tamperings)
    func `adds nothing to a log that is not as it was written`(tampering: Tampering) throws {
        let place = try LogPlace()
        try place.writer().add(600)
        try place.run(tampering.statement)
        let entries = try place.entries()
        let writer = try place.writer()
        for _ in 0..<2 {
            #expect(throws: LedgerError.log(tampering.fault)) { try writer.checkedHead() }
            #expect(throws: LedgerError.log(tampering.fault)) { try writer.add(1) }
            writer.rollback()
        }
        let error = #expect(throws: LedgerChangeError<Never>.self) {
            try place.ledger.change { _ throws(Never) in [.serviceStopped] }
        }
        guard case .ledger(.log(tampering.fault)) = error else { throw UnexpectedError(error) }
        #expect(try place.entries() == entries)
    }

    struct UnexpectedError: Error {
        let error: (any Error)?
        init(_ error: (any Error)?) { self.error = error }
    }

    @Test func `notices a log that was put back or replaced while it runs`() throws {
        let place = try LogPlace()
        let writer = try place.writer()
        try writer.add(300)
        let known = try #require(writer.durableHead)
        // A whole and consistent log, but not the one that this writer has written.
        let other = try LogPlace()
        try other.writer().add(299)
        try other.writer().add(1)
        try other.writer().add(5)
        for head in [TreeHead(size: 306, rootHash: known.rootHash), known] {
            let fault = LedgerError.log(.notContinued(size: head.size))
            #expect(throws: fault) { try other.writer(after: head).checkedHead() }
        }
        #expect(try place.writer(after: known).checkedHead() == known)
        try place.writer().add(30)
        #expect(try place.writer(after: known).checkedHead().size == 330)
        try writer.add(1)

        try place.run("DELETE FROM audit_entries WHERE entry_index >= 300")
        try place.run("UPDATE log_head SET size = 300")
        let connection = try place.location.connect()
        try connection.run(SQL("UPDATE log_head SET root_hash = ?", .blob(known.rootHash.bytes)))
        #expect(throws: LedgerError.log(.notContinued(size: 331))) { try writer.add(1) }
    }

    @Test func `signs nothing while the log is damaged, and says so`() async throws {
        try await withService { service async throws in
            #expect(try await service.sign(offer: "open").status == 200)
            try service.settings.database.connect().run(SQL("UPDATE log_head SET size = 7"))
            #expect(try await service.sign(offer: "open").problem == "audit-unavailable")
            #expect(service.metrics[.commitFailures(reason: "log-damaged")] == 1)
            #expect(service.health.commitFailure != nil)
            try service.settings.database.connect().run(SQL("UPDATE log_head SET size = 1"))
            #expect(try await service.sign(offer: "open").status == 200)
            #expect(try service.entries("sign.intent").count == 2)
        }
    }

    @Test func `a service does not start on a damaged log, and writes nothing to it`() async throws {
        let place = try RunningPlace()
        try await place.run { service async throws in
            #expect(try await place.sign(service, offer: "open").status == 200)
        }
        let before = try place.entries()
        try place.settings.database.connect().run(SQL("UPDATE log_head SET root_hash = zeroblob(32)"))
        do {
            _ = try place.service()
            Issue.record("a service was made")
        } catch ServiceError.records(.log(.rootDiffers(size: Int64(before.count)))) {
        }
        #expect(try place.entries() == before)
    }
}
