// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import OfferService
import Storage
import TestSupport
import Testing
import TransparencyLog

/// The service adds nothing to a log that does not match its signed checkpoints.
@Suite(.overBothEngines) struct LogStartCheckTests {
    private struct Kept {
        let directory: TemporaryDirectory
        let key: LogKey
        let heads: NaiveLog
    }

    /// A log with checkpoints signed at sizes 3 and 5.
    private static func kept() async throws -> Kept {
        let kept = Kept(directory: try TemporaryDirectory(), key: try makeLogKey(), heads: NaiveLog(3))
        try await withCheckpoints(kept.heads, key: kept.key, directory: kept.directory) { place throws in
            let publisher = place.publisher()
            publisher.publish()
            try place.directory.copyDatabase("ledger.db", to: "backup.db")
            try copy(place.directory, "ledger.db.checkpoint", to: "backup.checkpoint")
            place.heads.grow(to: 5)
            publisher.publish()
        }
        return kept
    }

    private static func copy(_ directory: TemporaryDirectory, _ name: String, to other: String) throws {
        try directory.write(TemporaryDirectory.read(directory.path(of: name)), to: other)
    }

    private static func restore(_ kept: Kept) throws {
        try kept.directory.copyDatabase("backup.db", to: "ledger.db")
        kept.heads.cut(to: 3)
    }

    private static func remove(_ kept: Kept, _ name: String) throws {
        try? FileManager.default.removeItem(atPath: kept.directory.path(of: name))
    }

    @Test func `a checkpoint file is one service's at a time, also once it was replaced`() throws {
        let directory = try TemporaryDirectory()
        let file = CheckpointFile(path: directory.path(of: "checkpoint"))
        let lock = try file.lock()
        try file.write(Array("note\n".utf8))
        #expect(throws: CheckpointFileError.inUse(path: file.path, process: getpid())) { try file.lock() }
        lock.release()
        _ = try file.lock()
        #expect {
            try CheckpointFile(path: directory.path(of: "nowhere/checkpoint")).lock()
        } throws: { error in
            guard case CheckpointFileError.cannotLock(let reason) = error else { return false }
            return reason.contains("nowhere/checkpoint.lock")
        }
    }

    @Test func `starts a log that fits, and one that is new`() async throws {
        try await withCheckpoints(NaiveLog()) { place throws in
            let outcome = try place.check()
            #expect(outcome.newest == nil && !outcome.fileIsMissing)
        }
        let kept = try await Self.kept()
        kept.heads.grow(to: 6)
        try await withCheckpoints(kept.heads, key: kept.key, directory: kept.directory) { place throws in
            let outcome = try place.check()
            #expect(outcome.newest?.checkpoint.size == 5 && !outcome.fileIsMissing)
        }
    }

    @Test func `starts without the file, and says that it is missing`() async throws {
        let kept = try await Self.kept()
        try Self.remove(kept, "ledger.db.checkpoint")
        try await withCheckpoints(kept.heads, key: kept.key, directory: kept.directory) { place throws in
            let outcome = try place.check()
            #expect(outcome.newest?.checkpoint.size == 5 && outcome.fileIsMissing)
        }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let says: [String]
        let harm: @Sendable (_ directory: TemporaryDirectory, _ heads: NaiveLog) throws -> Void

        init(
            _ name: String,
            _ says: String...,
            harm: @escaping @Sendable (_ directory: TemporaryDirectory, _ heads: NaiveLog) throws -> Void
        ) {
            testDescription = name
            self.says = says
            self.harm = harm
        }
    }

    private static func edit(_ directory: TemporaryDirectory, _ change: (String) -> String) throws {
        let text = String(decoding: try TemporaryDirectory.read(directory.path(of: name)), as: UTF8.self)
        try directory.write(Array(change(text).utf8), to: name)
    }

    private static let name = "ledger.db.checkpoint"
    private static let restoring = "“Restore a backup” in docs/runbook.md"

    static let rows = [
        Row("yesterday's database", "has 3 entries", "was signed over 5: at least 2 are missing", restoring) {
            directory,
            heads in
            try directory.copyDatabase("backup.db", to: "ledger.db")
            heads.cut(to: 3)
        },
        Row("yesterday's entries alone", "in the database was signed over 5", restoring) { _, heads in
            heads.cut(to: 4)
        },
        Row("yesterday's database that went on", "The first 5 entries", "restored to an earlier state", restoring) {
            directory,
            heads in
            try directory.copyDatabase("backup.db", to: "ledger.db")
            heads.cut(to: 3)
            heads.grow(to: 9, "other")
        },
        Row("a changed entry", "The first 5 entries of the audit log are not those", restoring) { _, heads in
            heads.change(0)
        },
        Row("a database without checkpoints", "in the file", "was signed over 5") { directory, heads in
            try directory.removeDatabase("ledger.db")
            heads.cut(to: 0)
        },
        Row("a changed size in the file", "in the file", "does not verify", restoring) { directory, _ in
            try edit(directory) { $0.replacing("\n5\n", with: "\n4\n") }
        },
        Row("a changed signature in the file", "in the file", "signature", restoring) { directory, _ in
            try edit(directory) { $0.replacing(#/...=\n$/#, with: "AAA=\n") }
        },
        Row("the file cut off", "in the file", "no line feed") { directory, _ in
            try edit(directory) { String($0.dropLast()) }
        },
        Row("an empty file", "in the file", "no empty line") { directory, _ in
            try edit(directory) { _ in "" }
        },
        Row("another log's file", "is of the log example.com/other", "audit new-log --origin example.com/log") {
            directory,
            _ in
            let head = TreeHead(size: 5, rootHash: SHA256.digest(of: []))
            let other = try SignedCheckpoint(head, signedBy: makeLogKey("example.com/other"), at: SettableClock().now)
            try directory.write(other.note.bytes, to: name)
        },
        Row("another key's file", "has no signature of example.com/log with the expected key", "auditLog.file") {
            directory,
            _ in
            let head = TreeHead(size: 5, rootHash: SHA256.digest(of: []))
            let other = try SignedCheckpoint(head, signedBy: makeLogKey(), at: SettableClock().now)
            try directory.write(other.note.bytes, to: name)
        },
        Row("a folder in the file's place", "can't be read: is not a regular file") { directory, _ in
            try FileManager.default.removeItem(atPath: directory.path(of: name))
            try FileManager.default.createDirectory(
                atPath: directory.path(of: name),
                withIntermediateDirectories: false
            )
        },
    ]

    @Test(arguments: rows)
    func `refuses a log that does not fit, and says what was found and what to do`(row: Row) async throws {
        let kept = try await Self.kept()
        try row.harm(kept.directory, kept.heads)
        try await withCheckpoints(kept.heads, key: kept.key, directory: kept.directory) { place throws in
            let mismatch = try #require(throws: LogMismatch.self) { try place.check() }
            for words in row.says { #expect(mismatch.description.contains(words), "\(mismatch)") }
        }
    }

    @Test func `refuses the log under another name, and with another key`() async throws {
        let kept = try await Self.kept()
        try Self.remove(kept, "ledger.db.checkpoint")
        for (origin, words) in [
            ("example.com/renamed", "of the log example.com/log"),
            ("example.com/log", "auditLog.file in the keys file"),
        ] {
            try await withCheckpoints(kept.heads, key: makeLogKey(origin), directory: kept.directory) { place throws in
                let mismatch = try #require(throws: LogMismatch.self) { try place.check() }
                #expect(mismatch.description.contains(words), "\(mismatch)")
            }
        }
    }

    @Test func `can't notice a database that was put back with its file; witnesses can`() async throws {
        let kept = try await Self.kept()
        try Self.restore(kept)
        try Self.copy(kept.directory, "backup.checkpoint", to: "ledger.db.checkpoint")
        try await withCheckpoints(kept.heads, key: kept.key, directory: kept.directory) { place throws in
            #expect(try place.check().newest?.checkpoint.size == 3)
        }
    }
}
