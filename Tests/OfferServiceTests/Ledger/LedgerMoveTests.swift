// SPDX-License-Identifier: Apache-2.0
import Glibc
import OfferDomain
import Storage
import TestSupport
import Testing
import TransparencyLog

@testable import Ledger
@testable import OfferService

/// A history that moves arrives whole, and its log goes on.
@Suite(.overBothEngines) struct LedgerMoveTests {
    /// What no move takes along: the list of migrations, and who uses the database.
    private static let left: Set = ["schema_migrations", "instances", "reloads", "event_lease", "writer_lock"]

    /// Each table, and how many columns it has.
    private static var schema: StaticString {
        TestedEngine.isPostgreSQL
            ? """
            SELECT CAST(table_name AS TEXT), count(*) FROM information_schema.columns
            WHERE table_schema = current_schema() GROUP BY table_name
            """
            : """
            SELECT t.name, count(*) FROM sqlite_schema t, pragma_table_info(t.name) c
            WHERE t.type = 'table' GROUP BY t.name
            """
    }

    @Test func `every table and every column of the schema is moved`() throws {
        let place = try LogPlace()
        let connection = try place.ledger.openPatiently()
        let columns = try connection.all(SQL(Self.schema)) { row in (row.text(0), Int(row.integer(1))) }
        let schema = Dictionary(uniqueKeysWithValues: columns.filter { !Self.left.contains($0.0) })
        let moved = try LedgerMove.tables.map { table in
            (table.description, try TableCopy(table, from: connection, to: nil).columnCount)
        }
        #expect(Dictionary(uniqueKeysWithValues: moved) == schema)
    }

    @Test func `moves nothing into tables with other columns`() throws {
        let (source, target) = (try LogPlace(), try LogPlace())
        try source.writer().add(3)
        let connection = try target.ledger.openPatiently()
        try connection.run(SQL("ALTER TABLE seals ADD COLUMN severity BIGINT"))
        let move = LedgerMove(from: source.ledger, to: target.ledger, pause: { _ in })
        for attempt in [move.rehearse, move.run] {
            let error = #expect(throws: LedgerMoveError.self) { try attempt() }
            let isNamed = if case .database(.tableDiffers("seals"))? = error { true } else { false }
            #expect(isNamed, "\(String(describing: error))")
        }
        #expect(try target.entries().isEmpty)
        try connection.run(SQL("ALTER TABLE seals DROP COLUMN severity"))
        #expect(try move.run().entries == 3)
    }

    private static func target() throws -> LogPlace { try LogPlace() }

    @Test func `moves ledger and log, and says so in the log`() async throws {
        var policy = CompactionOptions()
        // So that there are offsets of grants.
        (policy.fewestGrants, policy.mostGrants) = (1, 1)
        try await withService(compaction: policy) { service async throws in
            for _ in 0..<3 { #expect(try await service.sign(offer: "open").status == 200) }
            // Nothing moves while a service uses it.
            await service.stop()
            let target = try Self.target()
            let before = try LogReader(connection: service.ledger.openForReading()).head()
            let outcome = try LedgerMove(from: service.ledger, to: target.ledger, pause: { _ in }).run()
            #expect(outcome.entries == before.size && outcome.rows > before.size)
            let reader = try target.reader()
            #expect(try reader.rootHash(ofSize: before.size) == before.rootHash)
            #expect(try reader.head() == target.expectedHead())
            let last = try #require(try target.entries().last)
            #expect(String(decoding: last, as: UTF8.self).contains("\"ledger.moved\""))
            let (old, new) = (try service.ledger.openForReading(), try target.ledger.openForReading())
            for table in LedgerMove.tables where !["audit_entries", "log_head", "log_tiles"].contains("\(table)") {
                let copy = try TableCopy(table, from: old, to: new)
                func rows(_ connection: any DatabaseConnection) throws -> [[SQLValue]] {
                    try connection.all(copy.select) { row in
                        var values: [SQLValue] = []
                        for column in 0..<copy.columnCount { values.append(row.value(column)) }
                        return values
                    }
                }
                #expect(try rows(old) == rows(new), "\(table)")
            }
            try target.writer(after: before).add(5)
            #expect(try target.reader().head() == target.expectedHead())
        }
    }

    @Test(.aboutPostgreSQL)
    func `grants with offsets arrive at a server where it looks them up, and go back into a file`()
        throws
    {
        let file = try TemporaryDirectory()
        let location = try #require(DatabaseLocation("sqlite:\(file.path)/ledger.db"))
        let (source, target) = (try LogPlace(), try LogPlace())
        let inFile = LedgerAccess(location: location, clock: source.clock.wallClock)
        let connection = try inFile.openPatiently()
        try LedgerWriter(connection: connection).add(3)
        var policy = CompactionOptions()
        (policy.fewestGrants, policy.mostGrants) = (40, 40)
        let table = GrantTable(connection: connection, compaction: policy)
        let ids = (0..<60).map { UniqueID.version7(at: source.clock.now, 1, UInt64($0)) }
        for (number, id) in ids.enumerated() {
            try connection.begin()
            try table.begun()
            try table.add(id, of: 7, to: id.bytes.reversed() + [0, 1], entry: Int64(number))
            try connection.commit()
            table.committed(nextEntry: Int64(number) + 1)
            try table.compactSome()
        }
        func expectAll(_ connection: any DatabaseConnection) throws {
            let table = GrantTable(connection: connection)
            for id in ids { #expect(try table.grants(of: 7, to: id.bytes.reversed() + [0, 1]) == [id]) }
        }
        let placed = try connection.first(SQL("SELECT before_entry FROM grant_offsets_state")) { $0.integer(0) }
        try #require(placed.map { (1..<60).contains($0) } == true)
        try expectAll(connection)
        _ = try LedgerMove(from: inFile, to: target.ledger, pause: { _ in }).run()
        let server = try target.ledger.openPatiently()
        try expectAll(server)
        #expect(try server.first(SQL("SELECT count(*) FROM grants_by_time")) { $0.integer(0) } == 0)
        #expect(try server.first(SQL("SELECT count(*) FROM grant_offsets")) { $0.integer(0) } == 0)
        #expect(try server.all(SQL("SELECT before_entry FROM grant_offsets_state")) { $0.integer(0) } == [0])
        let back = try #require(DatabaseLocation("sqlite:\(file.path)/back.db"))
        let inBack = LedgerAccess(location: back, clock: source.clock.wallClock)
        _ = try LedgerMove(from: target.ledger, to: inBack, pause: { _ in }).run()
        try expectAll(inBack.openPatiently())
    }

    @Test func `mixes no two histories, and leaves the other as it was`() throws {
        let (source, target) = (try LogPlace(), try LogPlace())
        try source.writer().add(3)
        try target.writer().add(1)
        let before = try target.expectedHead()
        let error = #expect(throws: LedgerMoveError.self) {
            try LedgerMove(from: source.ledger, to: target.ledger, pause: { _ in }).run()
        }
        guard case .targetNotEmpty = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(try target.expectedHead() == before && target.reader().head() == before)
    }

    @Test func `a rehearsal tells what a move would do, and leaves both as they are`() throws {
        let (source, target) = (try LogPlace(), try Self.target())
        try source.writer().add(3)
        let move = LedgerMove(from: source.ledger, to: target.ledger, pause: { _ in })
        let rehearsed = try move.rehearse()
        #expect(try move.rehearse() == rehearsed)
        #expect(rehearsed.entries == 3)
        #expect(try move.run() == rehearsed)
        let error = #expect(throws: LedgerMoveError.self) { try move.rehearse() }
        #expect(error != nil)
    }

    @Test func `a rehearsal refuses what a move would refuse`() throws {
        let (source, target) = (try LogPlace(), try LogPlace())
        try source.writer().add(3)
        try target.writer().add(1)
        let mixed = LedgerMove(from: source.ledger, to: target.ledger, pause: { _ in })
        let error = #expect(throws: LedgerMoveError.self) { try mixed.rehearse() }
        guard case .targetNotEmpty = error else { return #expect(Bool(false), "\(String(describing: error))") }
        let user = try User(of: source)
        let used = LedgerMove(from: source.ledger, to: try Self.target().ledger) { _ in user.live() }
        #expect(throws: LedgerMoveError.self) { try used.rehearse() }
        try user.leave()
        let nothing = LedgerMove(from: try Self.target().ledger, to: target.ledger, pause: { _ in })
        let missing = #expect(throws: LedgerMoveError.self) { try nothing.rehearse() }
        guard case .nothingToMove = missing else { return #expect(Bool(false), "\(String(describing: missing))") }
    }

    /// Does what a service does that uses a database.
    private struct User {
        private let lock: InstanceLock?
        private let table: InstanceTable?
        private let id = UniqueID.version4(1, 2)

        init(of place: LogPlace) throws {
            lock = try place.ledger.lockInstance()
            table = place.location.isShared ? InstanceTable(connection: try place.ledger.openPatiently()) : nil
            try table?.join(Instance(id: id, name: "host:1", version: "1", policyName: "p", keysDigest: "k"))
        }

        func live() { _ = try? table?.beat(id) }

        func leave() throws {
            lock?.release()
            try table?.remove(id)
        }
    }

    @Test func `moves nothing that a service uses`() throws {
        let (source, target) = (try LogPlace(), try Self.target())
        try source.writer().add(3)
        let user = try User(of: source)
        let move = LedgerMove(from: source.ledger, to: target.ledger) { _ in user.live() }
        #expect(throws: LedgerMoveError.self) { try move.run() }
        try user.leave()
        #expect(try move.run().entries == 3)
        let missing = LedgerMove(from: try Self.target().ledger, to: target.ledger, pause: { _ in })
        let error = #expect(throws: LedgerMoveError.self) { try missing.run() }
        guard case .nothingToMove = error else { return #expect(Bool(false), "\(String(describing: error))") }
    }

    @Test(.aboutPostgreSQL)
    func `leftovers of a killed service do not prevent a move`() throws {
        let (source, target) = (try LogPlace(), try Self.target())
        try source.writer().add(3)
        _ = try User(of: source)
        var waited: [Int64] = []
        let move = LedgerMove(from: source.ledger, to: target.ledger) { waited.append($0) }
        #expect(try move.run().entries == 3)
        #expect(waited == [InstanceTable.patienceMilliseconds])
        #expect(try InstanceTable(connection: source.ledger.openPatiently()).all().isEmpty)
    }

    /// What is written comes between the first look at the source and the copy, since that has to wait for the target.
    @Test func `moves nothing while another process writes`() async throws {
        let (source, target) = (try LogPlace(), try Self.target())
        let writer = try source.writer()
        try writer.add(3)
        let holder = try target.ledger.openPatiently()
        try holder.begin()
        let (hasBegun, isOver) = (Recorder(), Recorder())
        async let moving: Result<LedgerMove.Outcome, LedgerMoveError> = mayBlock {
            [source = source.ledger, target = target.ledger] in
            hasBegun.add()
            defer { isOver.add() }
            do throws(LedgerMoveError) {
                return .success(try LedgerMove(from: source, to: target, pause: { _ in }).run())
            } catch {
                return .failure(error)
            }
        }
        #expect(try await eventually { hasBegun.count > 0 })
        // Longer than it takes to come to the copy, and not as long as a lock is waited for.
        let release = ContinuousClock.now.advanced(by: .seconds(2))
        while isOver.count == 0 {
            try writer.add(1)
            if ContinuousClock.now >= release { holder.rollback() }
            // SQLite does not queue for its lock: without a pause, others would get it only by luck.
            try await Task.sleep(for: .milliseconds(10))
        }
        let outcome = await moving
        guard case .failure(.changedMeanwhile) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(try target.entries().isEmpty)
    }

    /// Acts as a service that stalled until others took it for dead; counts each time in `carried`.
    private static func carryBackAndForth(_ ledger: LedgerAccess, until isOver: Recorder, _ carried: Recorder) {
        guard let connection = try? ledger.openPatiently() else { return }
        let ways: [[StaticString]] = [
            [
                "INSERT INTO grants SELECT subject, offer_key, grant_id, place / 256 FROM grants_by_time",
                "DELETE FROM grants_by_time",
            ],
            [
                """
                INSERT INTO grants_by_time
                SELECT row_number() OVER (ORDER BY grant_id), subject, offer_key, grant_id FROM grants
                """,
                "DELETE FROM grants",
            ],
        ]
        while isOver.count == 0 {
            for way in ways {
                let rows: Int? = try? connection.transaction { () throws(StorageError) in
                    try way.map { statement throws(StorageError) in try connection.run(SQL(statement)) }.min() ?? 0
                }
                if let rows, rows > 0 { carried.add() }
                usleep(2_000)
            }
        }
    }

    @Test func `a grant that another program moves meanwhile arrives, and arrives once`() async throws {
        for _ in 0..<6 { try await Self.moveWhileCarrying(400) }
    }

    private static func moveWhileCarrying(_ count: Int) async throws {
        let (source, isOver, carried) = (try LogPlace(), Recorder(), Recorder())
        try source.writer().add(3)
        let connection = try source.ledger.openPatiently()
        try connection.transaction { () throws(StorageError) in
            for number in 0..<count {
                let id = SQLValue.blob(UniqueID.version4(7, UInt64(number)).bytes)
                try connection.run(
                    SQL("INSERT INTO grants_by_time VALUES (?, ?, 7, ?)", .integer(Int64(number)), id, id)
                )
            }
        }
        async let carrying: Void = mayBlock { [ledger = source.ledger] in
            Self.carryBackAndForth(ledger, until: isOver, carried)
        }
        // Whatever fails: the other thread is waited for.
        defer { isOver.add() }
        try #require(await eventually { carried.count > 0 })
        let target = try Self.target()
        _ = try LedgerMove(from: source.ledger, to: target.ledger, pause: { _ in }).run()
        let all = SQL("SELECT grant_id FROM grants UNION ALL SELECT grant_id FROM grants_by_time")
        let arrived = try target.ledger.openForReading().all(all) { $0.blob(0) }
        #expect(arrived.count == count && Set(arrived).count == count)
        isOver.add()
        await carrying
        #expect(carried.count > 1)
    }

    @Test func `what was moved is gone on with in one place alone`() async throws {
        try await withService { service async throws in
            #expect(try await service.sign(offer: "once", #""customerId": "ada""#).status == 200)
            await service.stop()
            let target = try Self.target()
            _ = try LedgerMove(from: service.ledger, to: target.ledger, pause: { _ in }).run()
            #expect(try service.entries("ledger.left").count == 1)
            let left = LedgerError.log(.movedAway)
            #expect(throws: left) { try LedgerWriter(connection: service.ledger.openPatiently()).checkedHead() }
            let change = #expect(throws: LedgerChangeError<Never>.self) {
                try service.ledger.change { _ throws(Never) in [.serviceStopped] }
            }
            let isLeft = if case .ledger(left)? = change { true } else { false }
            #expect(isLeft, "\(String(describing: change))")
            #expect(throws: LedgerMoveError.self) {
                try LedgerMove(from: service.ledger, to: try Self.target().ledger, pause: { _ in }).run()
            }
            #expect(try LedgerWriter(connection: target.ledger.openPatiently()).checkedHead().size > 0)
        }
    }

    @Test(.aboutPostgreSQL)
    func `the target waits as long as the source takes for a table`() async throws {
        let (source, target) = (try LogPlace(), try Self.target())
        try source.writer().add(3)
        async let holding: Void? = mayBlock { [directory = source.directory] in
            try? directory.alter(
                "ledger.db",
                "BEGIN; LOCK TABLE callers IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(3); COMMIT"
            )
        }
        try await Task.sleep(for: .milliseconds(500))
        #expect(try LedgerMove(from: source.ledger, to: target.ledger, pause: { _ in }).run().entries == 3)
        #expect(await holding != nil)
    }

    @Test func `moves no log that is not as it was written`() throws {
        let (source, target) = (try LogPlace(), try Self.target())
        try source.writer().add(600)
        try source.run("UPDATE audit_entries SET entry = x'7b7d' WHERE entry_index = 7")
        let error = #expect(throws: LedgerMoveError.self) {
            try LedgerMove(from: source.ledger, to: target.ledger, pause: { _ in }).run()
        }
        guard case .unverified = error else { return #expect(Bool(false), "\(String(describing: error))") }
    }
}
