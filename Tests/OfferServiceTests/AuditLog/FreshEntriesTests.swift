// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import OfferService

/// The index gets new entries from the committer, and is what it would be if it had read them.
struct FreshEntriesTests {
    private static func taken(_ fresh: FreshEntries) -> [Int64: [UInt8]] {
        var buffer = EntryBuffer()
        fresh.take(into: &buffer)
        let pairs = (0..<buffer.count).map { (buffer.index(at: $0), Array(buffer.bytes[buffer.range(at: $0)])) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    @Test func `has what is durable, and nothing of a transaction that was undone`() async throws {
        let place = try LogPlace()
        let faults = Faults()
        let committer = Committer(clock: place.clock.wallClock, observer: Metrics()) { () throws(StorageError) in
            try faults.wrap(try place.ledger.open())
        }
        committer.start(on: try faults.wrap(try place.ledger.open()))
        let fresh = committer.freshEntries
        try await committer.append([.serviceStopped])
        #expect(Self.taken(fresh).isEmpty, "nobody has asked for any")
        fresh.follow {}
        try await committer.append([.recordsExported(from: 0, count: 1), .serviceStopped])
        faults.failCommits(Faults.diskFull, Faults.ioFailure)
        for _ in 0..<2 {
            await #expect(throws: LedgerError.self) { try await committer.append([.epochBegun("1")]) }
        }
        faults.failStatements(Faults.diskFull)
        await #expect(throws: LedgerError.self) {
            try await committer.append([.epochBegun("2"), .epochBegun("3")])
        }
        try await committer.append([.epochDestroyed("4")])
        // What is told after a batch is taken in after it: so one more, that all before it is there.
        try await committer.append([.epochDestroyed("5")])
        await mayBlock { committer.stop() }
        let entries = try place.entries()
        #expect(entries.count == 5)
        let expected = (1..<5).map { (Int64($0), entries[$0]) }
        var taken = Self.taken(fresh)
        // The first was told before anybody followed, and may be taken in just after.
        taken[0] = nil
        #expect(taken == Dictionary(uniqueKeysWithValues: expected))
        #expect(Self.taken(fresh).isEmpty)
    }

    @Test func `keeps no more than there is room for, wakes once for each portion, and ends when nobody follows`() {
        let fresh = FreshEntries()
        let wakes = Recorder()
        fresh.follow { wakes.add() }
        var batch = EntryBuffer()
        for index in 0..<64 { batch.append(Array(repeating: 7, count: 1000), index: Int64(index)) }
        for _ in 0..<40 { fresh.add(batch) }
        #expect(wakes.count == 1)
        #expect(Self.bytes(fresh) == FreshEntries.mostBytes / 64_000 * 64_000)
        fresh.add(batch)
        #expect(wakes.count == 1)
        for _ in 0..<3 { fresh.add(batch) }
        #expect(wakes.count == 2)
        #expect(Self.bytes(fresh) == 256_000)
        fresh.add(batch)
        fresh.stopFollowing()
        fresh.add(batch)
        #expect(Self.bytes(fresh) == 0)
    }

    private static func bytes(_ fresh: FreshEntries) -> Int {
        var buffer = EntryBuffer()
        fresh.take(into: &buffer)
        return buffer.bytes.count
    }

    /// The index of a service in which much happened, partly by the hands of others, is the one that is made anew.
    @Test(arguments: [1, 2])
    func `makes the index that is made anew from the log, of entries of every kind`(seed: UInt64) async throws {
        let format = AuditIndexFormat(entriesPerRun: 64)
        var random = SplitMix(seed: seed)
        let faults = Faults()
        try await withService(index: format, wrap: faults.wrap) { service async throws in
            let other = LedgerWriter(connection: try service.ledger.open())
            for round in 0..<40 {
                _ = try await service.sign(offer: "open", #""formats": ["v1", "jws"], "customerId": "c\#(round)""#)
                _ = try await service.send((0..<4).map { service.call(offer: ["gold", "once"][$0 % 2]) })
                if random.chance(in: 3) { faults.failCommits(Faults.diskFull) }
                for event in try AuditEntryTests.events() where random.chance(in: 6) {
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
            // Who is told of all entries may still be about to store the last whole run.
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

    @Test func `takes what it is handed and reads only what is missing; nothing twice, and nothing after a gap`()
        async throws
    {
        let format = AuditIndexFormat(entriesPerRun: 64)
        let log = try RandomLog(seed: 31)
        try log.grow(by: 100)
        let clock = SettableClock()
        let recorder = LogRecorder()
        let output = Log(level: .debug, clock: clock.wallClock, sink: recorder.sink)
        let committer = Committer(clock: clock.wallClock, observer: Metrics(), open: log.ledger.open)
        committer.start(on: try log.ledger.open())
        let index = AuditIndex(format: format)
        let indexer = AuditIndexer(index: index, ledger: log.ledger, committer: committer, log: output)
        indexer.start()
        #expect(try await eventually { index.tail?.nextEntry == 100 })
        // Not in the database, so that it can only come from here.
        var batch = EntryBuffer()
        for number in 90..<110 { batch.append(Array(#"{"nonce":"handed-\#(number)"}"#.utf8), index: Int64(number)) }
        committer.freshEntries.add(batch)
        #expect(try await eventually { index.tail?.nextEntry == 110 })
        let tail = try #require(index.tail)
        let key = { (number: Int) in tail.keys.keys(of: .nonce, "handed-\(number)")[0] }
        #expect((100..<110).allSatisfy { tail.entries(with: key($0)).offsets(in: 0..<64) == [$0 - 64] })
        #expect((90..<100).allSatisfy { tail.entries(with: key($0)).isEmpty }, "those were read before")
        var late = EntryBuffer()
        late.append(Array(#"{"nonce":"late"}"#.utf8), index: 111)
        committer.freshEntries.add(late)
        #expect(try await eventually { recorder.lines.contains { $0.contains("entry 110 is missing") } })
        #expect(index.tail?.nextEntry == 110)
        await mayBlock {
            indexer.stop()
            committer.stop()
        }
    }
}
