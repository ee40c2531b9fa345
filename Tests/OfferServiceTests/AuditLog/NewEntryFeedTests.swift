// SPDX-License-Identifier: Apache-2.0
import Dispatch
import OfferDomain
import ServiceRuntime
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// The index gets new entries from the committer, and is what it would be if it had read them.
@Suite(.overBothEngines) struct NewEntryFeedTests {
    /// What a follower was handed.
    private final class Follower: Sendable {
        private let handed = Guarded<[(index: Int64, entry: [UInt8])]>([])
        private let calls = Recorder()

        var entries: [Int64: [UInt8]] {
            handed.withLock { Dictionary($0.map { ($0.index, $0.entry) }) { one, _ in one } }
        }
        var count: Int { handed.withLock { $0.count } }
        var pieces: Int { calls.count }

        func follow(_ fresh: NewEntryFeed) {
            fresh.follow { [handed, calls] entries in
                calls.add()
                for place in 0..<entries.count {
                    let entry = Array(entries.bytes[entries.range(at: place)])
                    let index = entries.index(at: place)
                    handed.withLock { $0.append((index, entry)) }
                }
            }
        }
    }

    @Test func `has what is durable, once, and nothing of a transaction that was undone`() async throws {
        let place = try LogPlace()
        let faults = Faults()
        let committer = Committer(clock: place.clock.wallClock, observer: Metrics()) { () throws(StorageError) in
            try faults.wrap(try place.ledger.openPatiently())
        }
        committer.start(on: try faults.wrap(try place.ledger.openPatiently()))
        let follower = Follower()
        let many = [AuditEvent](repeating: .serviceStopped, count: NewEntryFeed.fewest)
        try await committer.append(many)
        // The feed gets entries after their batch is answered. After one more batch, it has got the first.
        try await committer.append([])
        #expect(follower.count == 0, "no follower has asked for any")
        follower.follow(committer.newEntryFeed)
        try await committer.append([.records(.exported(from: 0, count: 1)), .serviceStopped])
        faults.failCommits(Faults.diskFull, Faults.ioFailure)
        for _ in 0..<2 { await #expect(throws: LedgerError.self) { try await committer.append(many) } }
        faults.failStatements(Faults.diskFull)
        await #expect(throws: LedgerError.self) {
            try await committer.append([.secretVersionBegun("2"), .secretVersionBegun("3")])
        }
        try await committer.append([.secretVersionDestroyed("4")])
        try await committer.append([])
        #expect(follower.count == 0, "three wait for more")
        try await committer.append(many)
        try await committer.append(many)
        await mayBlock { committer.stop() }
        let entries = try place.entries()
        #expect(entries.count == 3 * many.count + 3)
        let expected = (many.count..<entries.count).map { (Int64($0), entries[$0]) }
        #expect(follower.entries == Dictionary(uniqueKeysWithValues: expected))
        #expect((follower.count, follower.pieces) == (expected.count, 2))
    }

    @Test func `hands entries to the last follower, and drops them while there is none`() {
        let fresh = NewEntryFeed()
        let count = NewEntryFeed.fewest
        let (few, many) = (Self.entries(0..<3), Self.entries(3..<3 + count))
        let (first, second) = (Follower(), Follower())
        fresh.add(many)
        first.follow(fresh)
        fresh.add(many)
        fresh.add(EntryBuffer())
        fresh.add(few)
        second.follow(fresh)
        fresh.add(many)
        #expect((first.count, second.count) == (count, count + 3))
        fresh.add(few)
        fresh.stopFollowing()
        fresh.add(many)
        second.follow(fresh)
        fresh.add(many)
        #expect((first.count, second.count) == (count, 2 * count + 3), "what waited is forgotten")
    }

    private static func entries(_ indices: Range<Int>) -> EntryBuffer {
        indices.reduce(into: EntryBuffer()) { $0.append(entry("handed-\($1)"), index: Int64($1)) }
    }

    /// The index that grows while a service and another writer add entries equals a rebuilt index.
    @Test(arguments: [1, 2])
    func `grows to the index that a rebuild makes from the log, with entries of every kind`(seed: UInt64) async throws {
        let format = AuditIndexFormat(entriesPerRun: 64)
        var random = SplitMix(seed: seed)
        let faults = Faults()
        try await withService(index: format, wrap: faults.wrap) { service async throws in
            let other = LedgerWriter(connection: try service.ledger.openPatiently())
            for round in 0..<40 {
                _ = try await service.sign(offer: "open", #""formats": ["v1", "jws"], "customerId": "c\#(round)""#)
                _ = try await service.send((0..<4).map { service.call(offer: ["gold", "once"][$0 % 2]) })
                if random.chance(in: 3) { faults.failCommits(Faults.diskFull) }
                // A ledger with this entry is refused when it is opened.
                let events = try AuditEntryTests.events().filter { $0.name != .ledgerLeft }
                for event in events where random.chance(in: 6) {
                    try? await service.committer.append([event])
                }
                if random.chance(in: 3) { try other.add(Int.random(in: 1...70, using: &random)) }
                if random.chance(in: 8) { try await Task.sleep(for: .milliseconds(250)) }
                service.clock.advance(hours: 1)
            }
            try await service.transfer(from: "device-1", to: "ada")
            let size = Int64(try service.entries().count)
            #expect(try await eventually { service.index.tail?.nextEntry == size })
            let tables = AuditIndexTables(connection: try service.ledger.openForReading())
            // An index that has all entries may not have stored the last whole run yet.
            #expect(try await eventually { try tables.runs() == Array(0..<size / 64) })
            let runs = try tables.runs()
            #expect(runs.count > 5)
            let grown = try runs.map { try tables.stored($0) }
            let maintenance = try AuditIndexMaintenance(service.ledger, format: format)
            #expect(try maintenance.compare().differences.isEmpty)
            #expect(try maintenance.rebuild() == size / 64)
            #expect(try runs.map { try tables.stored($0) } == grown)
            try Self.expectTail(service, format)
        }
    }

    /// What is known of the newest entries is what reading them comes to.
    private static func expectTail(_ service: TestService, _ format: AuditIndexFormat) throws {
        var tail = try #require(service.index.tail)
        let runs = try IndexRunReader(service.ledger, format)
        var read = try #require(try runs.begun(tail.run))
        while try runs.read(into: &read) {}
        #expect(read.nextEntry == tail.nextEntry && read.usage.items == tail.usage.items)
        let filler = Array(#"{"ev":"x"}"#.utf8)
        while !read.isFull {
            let areTaken = read.add(filler.span) && tail.add(filler.span)
            #expect(areTaken)
        }
        #expect(read.sealed() == tail.sealed())
    }

    @Test func `takes what it is handed, at once; nothing twice, and nothing after a gap until that was read`()
        async throws
    {
        let log = try RandomLog(seed: 31)
        try log.grow(by: 100)
        try await withIndexer(over: log, AuditIndexFormat(entriesPerRun: 256)) { index, fresh async throws in
            #expect(try await eventually { index.tail?.nextEntry == 100 })
            // Not in the database, so that it can only come from here.
            fresh.add(Self.entries(90..<150))
            let tail = try #require(index.tail)
            #expect(tail.nextEntry == 150)
            let key = { (number: Int) in tail.keys.keys(of: .nonce, "handed-\(number)")[0] }
            #expect((100..<150).allSatisfy { tail.entries(with: key($0)).offsets(in: 0..<256) == [$0] })
            #expect((90..<100).allSatisfy { tail.entries(with: key($0)).isEmpty }, "those were read before")
            fresh.add(Self.entries(151..<251))
            #expect(index.tail?.nextEntry == 150)
            // Another writer adds the entries before it.
            try log.grow(by: 52)
            #expect(try await eventually { index.tail?.nextEntry == 152 })
        }
    }

    @Test(arguments: [(read: 30, handed: 48), (read: 90, handed: 60), (read: 48, handed: 48), (read: 200, handed: 90)])
    func `entries that arrive while they are being read are neither missing nor repeated`(
        read: Int,
        handed: Int
    ) async throws {
        let log = try RandomLog(seed: 33)
        try log.grow(by: 20)
        let (faults, recorder) = (Faults(), LogRecorder())
        let format = AuditIndexFormat(entriesPerRun: 128)
        try await withIndexer(over: log, format, faults: faults, recorder: recorder) { index, fresh async throws in
            #expect(try await eventually { index.tail?.nextEntry == 20 })
            var batch = EntryBuffer()
            for entry in 20..<20 + handed { batch.append(Self.entry("handed-\(entry)"), index: Int64(entry)) }
            faults.afterNextEntries { [batch] in fresh.add(batch) }
            try log.grow(by: read)
            #expect(try await eventually { index.tail?.nextEntry == Int64(20 + max(read, handed)) })
        }
        #expect(recorder.lines == [], "there is nothing to warn of")
    }

    @Test func `entries that arrive when a run is full are read once the run is stored`() async throws {
        let log = try RandomLog(seed: 32)
        try log.grow(by: 60)
        try await withIndexer(over: log, AuditIndexFormat(entriesPerRun: 64)) { index, fresh async throws in
            #expect(try await eventually { index.tail?.nextEntry == 60 })
            try log.grow(by: 50)
            var batch = EntryBuffer()
            for index in 60..<110 { batch.append(try log.entry(at: Int64(index)), index: Int64(index)) }
            fresh.add(batch)
            #expect(try await eventually { index.tail?.run == 1 && index.tail?.nextEntry == 110 })
            let tables = AuditIndexTables(connection: try log.ledger.openForReading())
            #expect(try tables.runs() == [0])
        }
    }

    @Test func `what comes while the log is read does not cut the pause short after that fails`() async throws {
        let log = try RandomLog(seed: 34)
        try log.grow(by: 20)
        try log.connection.run(SQL("INSERT INTO audit_entries VALUES (20, ?)", .blob([0x7B])))
        let faults = Faults()
        let recorder = LogRecorder()
        let format = AuditIndexFormat(entriesPerRun: 128)
        try await withIndexer(over: log, format, faults: faults, recorder: recorder) { index, fresh async throws in
            let stopwatch = ContinuousClock.now
            let gap = Self.entries(100..<100 + NewEntryFeed.fewest)
            @Sendable func handOver() {
                fresh.add(gap)
                faults.afterNextEntries(handOver)
            }
            handOver()
            #expect(try await eventually { faults.opened > 1 })
            try await Task.sleep(for: .milliseconds(200))
            // However slow this machine is: no more often than the pauses allow.
            let opened = faults.opened
            let seconds = Int((ContinuousClock.now - stopwatch).components.seconds)
            #expect(opened <= 2 + seconds)
        }
        #expect(!recorder.lines.isEmpty && recorder.lines.allSatisfy { $0.contains("entry 20 is missing") })
    }

    @Test func `after a failure the log is looked at again in a second, and in half a minute only after many`() {
        let seconds = [1, 2, 4, 8, 16, 30, 30]
        #expect((1...7).map(AuditIndexer.pause) == seconds.map { .seconds($0) })
        #expect(AuditIndexer.pause(after: 1000) == .seconds(30))
        #expect(AuditIndexer.pause(after: 0) == .milliseconds(200))
    }

    private static func entry(_ nonce: String) -> [UInt8] { Array(#"{"nonce":"\#(nonce)"}"#.utf8) }

    private func withIndexer(
        over log: RandomLog,
        _ format: AuditIndexFormat,
        faults: Faults = Faults(),
        recorder: LogRecorder = LogRecorder(),
        _ body: (AuditIndex, NewEntryFeed) async throws -> Void
    ) async throws {
        let clock = SettableClock()
        let committer = Committer(clock: clock.wallClock, observer: Metrics(), open: log.ledger.open)
        committer.start(on: try log.ledger.openPatiently())
        let index = AuditIndex(format: format)
        let output = Log(level: .debug, clock: clock.wallClock, sink: recorder.sink)
        let indexer = AuditIndexer(index: index, committer: committer, log: output) {
            [ledger = log.ledger] () throws(StorageError) in
            try faults.wrap(try ledger.openForReading())
        }
        indexer.start()
        let result: Result<Void, any Error>
        do { result = .success(try await body(index, committer.newEntryFeed)) } catch { result = .failure(error) }
        await mayBlock {
            indexer.stop()
            committer.stop()
        }
        try result.get()
    }
}
