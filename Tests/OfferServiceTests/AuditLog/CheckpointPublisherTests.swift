// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import OfferService
import Storage
import Synchronization
import TestSupport
import Testing
import TransparencyLog

@testable import Ledger

/// Checkpoints are stored before they are published, never get smaller and never contradict each other.
@Suite(.overBothEngines) struct CheckpointPublisherTests {
    @Test func `stores each checkpoint in the database and in the file before it is published`() async throws {
        try await withCheckpoints(NaiveLog()) { place throws in
            let publisher = place.publisher()
            publisher.publish()
            #expect(publisher.latest == nil, "a log without entries is not signed")
            for size in [1, 2, 3, 300] {
                place.heads.grow(to: size)
                publisher.publish()
                publisher.publish()
                let latest = try #require(publisher.latest)
                #expect(latest.checkpoint.head == place.heads.newest)
                #expect(try latest.note.verified(by: place.key.verifierKey).key == place.key.verifierKey)
            }
            let notes = place.published.withLock { $0.map(\.note.bytes) }
            #expect(notes.count == 4, "one for each head, and none again")
            #expect(place.keptBefore.withLock { $0 } == notes.map { [$0, $0] })
            #expect(try place.check().newest?.checkpoint.size == 300)
        }
    }

    @Test func `signs within a second of what was recorded, and covers the end when it is stopped`() async throws {
        try await withCheckpoints(NaiveLog(1)) { place throws in
            let publisher = place.publisher()
            publisher.start()
            for _ in 0..<6000 where publisher.latest == nil { usleep(10_000) }
            place.heads.grow(to: 2)
            for _ in 0..<6000 where publisher.latest?.checkpoint.size != 2 { usleep(10_000) }
            #expect(publisher.latest?.checkpoint.size == 2)
            place.heads.grow(to: 3)
            publisher.stop()
            #expect(publisher.latest?.checkpoint.size == 3)
        }
    }

    @Test func `shows nothing that could not be kept, and goes on when it can`() async throws {
        let faults = Faults()
        try await withCheckpoints(NaiveLog(3), faults: faults) { place throws in
            let publisher = place.publisher()
            publisher.publish()
            place.heads.grow(to: 4)
            faults.failCommits(Faults.diskFull)
            publisher.publish()
            place.clock.advance(seconds: 7)
            #expect(publisher.latest?.checkpoint.size == 3 && publisher.obstacle != nil)
            #expect(publisher.ageSeconds == 7)
            publisher.publish()
            #expect(publisher.latest?.checkpoint.size == 4 && publisher.obstacle == nil && publisher.ageSeconds == 0)

            // A directory in the place of the file's draft.
            place.heads.grow(to: 5)
            let draft = place.file.path + ".new"
            try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: false)
            publisher.publish()
            #expect(publisher.latest?.checkpoint.size == 4 && publisher.obstacle != nil)
            try FileManager.default.removeItem(atPath: draft)
            publisher.publish()
            #expect(publisher.latest?.checkpoint.size == 5)
            #expect(place.contradictions.withLock { $0 }.isEmpty, "neither is a reason to distrust the log")
        }
    }

    @Test func `publishes after a restart what it had kept and not shown`() async throws {
        let (directory, key, heads) = (try TemporaryDirectory(), try makeLogKey(), NaiveLog(3))
        try await withCheckpoints(heads, key: key, directory: directory) { place throws in
            let keeping = DurableCheckpoints(committer: place.committer, file: place.file)
            let head = try #require(heads.newest)
            try keeping.keep(SignedCheckpoint(head, signedBy: key, at: place.clock.now))
            #expect(place.published.withLock { $0 }.isEmpty, "it ended here")
        }
        heads.grow(to: 4)
        try await withCheckpoints(heads, key: key, directory: directory) { place throws in
            let stored = try #require(try place.check().newest)
            let publisher = place.publisher(stored: stored)
            #expect(publisher.latest?.checkpoint.size == 3)
            publisher.publish()
            #expect(publisher.latest?.checkpoint.size == 4)
        }
    }

    struct FaultRow: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let reason: String
        let harm: @Sendable (NaiveLog) -> Void
    }

    private static let other = SHA256.digest(of: [7])

    static let contradictions = [
        FaultRow(testDescription: "fewer entries", reason: "entries are missing") { $0.cut(to: 4) },
        FaultRow(testDescription: "another entry", reason: "entries were changed") { log in
            log.grow(to: 6)
            log.change(2)
        },
        FaultRow(testDescription: "another hash of as many entries", reason: "entries were changed") { log in
            log.claim(TreeHead(size: 5, rootHash: other))
        },
        FaultRow(testDescription: "a different hash than what is stored", reason: "entries were changed") { log in
            log.grow(to: 6)
            log.claim(TreeHead(size: 6, rootHash: other))
        },
        FaultRow(testDescription: "fewer stored than claimed", reason: "no longer has the 6 entries") { log in
            log.grow(to: 6)
            let head = log.newest
            log.cut(to: 5)
            if let head { log.claim(head) }
        },
    ]

    @Test(arguments: contradictions)
    func `signs nothing that contradicts what it signed, and says so once`(row: FaultRow) async throws {
        try await withCheckpoints(NaiveLog(5)) { place throws in
            let publisher = place.publisher()
            publisher.publish()
            let before = publisher.latest
            row.harm(place.heads)
            publisher.publish()
            publisher.publish()
            #expect(publisher.latest == before)
            #expect(try place.stored().map(\.size) == [5])
            let reasons = place.contradictions.withLock { $0 }
            #expect(reasons.count == 1 && reasons[0].contains(row.reason), "\(reasons)")
            #expect(place.log.lines.count { $0.contains("no checkpoint of the audit log could be signed") } == 1)
        }
    }

    @Test func `takes a log that can't be read for that, and not for another`() async throws {
        try await withCheckpoints(NaiveLog(5)) { place throws in
            let publisher = place.publisher()
            publisher.publish()
            place.heads.grow(to: 6)
            place.heads.setUnreadable(true)
            publisher.publish()
            #expect(publisher.latest?.checkpoint.size == 5 && publisher.obstacle != nil)
            #expect(place.contradictions.withLock { $0 }.isEmpty)
            place.heads.setUnreadable(false)
            publisher.publish()
            #expect(publisher.latest?.checkpoint.size == 6)
        }
    }

    @Test func `keeps no smaller checkpoint, and none of the same size with another hash`() async throws {
        try await withCheckpoints(NaiveLog(5)) { place throws in
            let keeping = DurableCheckpoints(committer: place.committer, file: place.file)
            func signed(_ size: Int64, _ seed: UInt8) throws -> SignedCheckpoint {
                let head = TreeHead(size: size, rootHash: SHA256.digest(of: [seed]))
                return try SignedCheckpoint(head, signedBy: place.key, at: place.clock.now)
            }
            try keeping.keep(signed(5, 1))
            try keeping.keep(signed(5, 1))
            let kept = try place.file.read()
            do {
                try keeping.keep(signed(5, 2))
                Issue.record("another hash was kept")
            } catch CheckpointKeepingError.contradictsEarlier {
            }
            do {
                try keeping.keep(signed(4, 1))
                Issue.record("a smaller one was kept")
            } catch CheckpointKeepingError.isOutrun(let other) {
                #expect(try other.size == 5 && other.note == signed(5, 1).note.bytes)
            }
            #expect(try place.stored().map(\.note) == [signed(5, 1).note.bytes])
            #expect(try place.file.read() == kept, "what the database refuses is not written to the file either")
        }
    }

    /// Two publishers: ours signed size 5 and has seen size 7, theirs signed size 9.
    private func outrun(_ place: CheckpointPlace) throws -> (ours: CheckpointPublisher, theirs: CheckpointPublisher) {
        let elsewhere = CheckpointFile(path: place.directory.path(of: "other.checkpoint"))
        let (ours, theirs) = (place.publisher(), place.publisher(file: elsewhere))
        ours.publish()
        place.heads.grow(to: 7)
        let late = try #require(place.heads.newest)
        place.heads.grow(to: 9)
        theirs.publish()
        // Our publisher reads the log before the last two entries come.
        place.heads.claim(late)
        return (ours, theirs)
    }

    @Test func `adopts a larger checkpoint of another instance once its own file has it too`() async throws {
        try await withCheckpoints(NaiveLog(5)) { place throws in
            let (ours, theirs) = try outrun(place)
            ours.publish()
            #expect(ours.latest?.checkpoint.size == 9 && ours.obstacle == nil)
            #expect(ours.latest?.note == theirs.latest?.note)
            let note = try #require(ours.latest).ownNote.bytes
            #expect(place.keptBefore.withLock { $0.last } == [note, note])
            #expect(place.contradictions.withLock { $0 }.isEmpty)
        }
    }

    @Test func `publishes no checkpoint of another instance that it can't write into its own file`() async throws {
        try await withCheckpoints(NaiveLog(5)) { place throws in
            let (ours, _) = try outrun(place)
            let draft = place.file.path + ".new"
            try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: false)
            ours.publish()
            #expect(ours.latest?.checkpoint.size == 5 && ours.obstacle != nil)
            try FileManager.default.removeItem(atPath: draft)
            ours.publish()
            #expect(ours.latest?.checkpoint.size == 9 && ours.obstacle == nil)
            #expect(place.contradictions.withLock { $0 }.isEmpty)
        }
    }

    @Test func `believes no larger checkpoint that is not of this log`() async throws {
        try await withCheckpoints(NaiveLog(5)) { place throws in
            let publisher = place.publisher()
            publisher.publish()
            place.heads.grow(to: 8)
            let keeping = DurableCheckpoints(committer: place.committer, file: place.file)
            let foreign = TreeHead(size: 8, rootHash: Self.other)
            try keeping.keep(SignedCheckpoint(foreign, signedBy: place.key, at: place.clock.now))
            place.heads.claim(try #require(NaiveLog(7).newest))
            publisher.publish()
            #expect(publisher.latest?.checkpoint.size == 5)
            #expect(place.contradictions.withLock { $0 }.count == 1)
        }
    }
}
