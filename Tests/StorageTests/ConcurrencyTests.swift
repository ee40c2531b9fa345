// SPDX-License-Identifier: Apache-2.0
import Foundation
import Storage
import Synchronization
import Testing

/// Several connections to one database at the same time, each with a thread of its own.
@Suite struct ConcurrencyTests {
    @Test(arguments: Engine.allCases)
    func `readers see whole transactions while one writes`(engine: Engine) async throws {
        let place = try Place(engine)
        let writer = try place.connectWithThings()
        try writer.insertThing(0, "n0")
        let signal = Signal()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    try await onThread {
                        let reader = try place.connect(.readOnly)
                        return try Self.countWholeStates(reader) { signal.isDone.load(ordering: .acquiring) }
                    }
                }
            }
            for round in 1...200 {
                try writer.transaction { () throws(StorageError) in
                    try writer.insertThing(Int64(round), "n\(round)")
                    try writer.insertThing(Int64(-round), "n-\(round)")
                }
            }
            signal.isDone.store(true, ordering: .releasing)
            for try await states in group { #expect(states > 0) }
        }
        #expect(try writer.countThings() == 401)
    }

    final class Signal: Sendable {
        let isDone = Atomic(false)
    }

    /// A connection behind a lock that ThreadSanitizer understands, as it does not `Synchronization.Mutex`.
    final class Shared: @unchecked Sendable {
        private let lock = NSLock()
        private let connection: any DatabaseConnection

        init(_ connection: sending any DatabaseConnection) {
            self.connection = connection
        }

        func withLock<Value>(_ body: (any DatabaseConnection) throws -> Value) rethrows -> Value {
            try lock.withLock { try body(connection) }
        }
    }

    /// Reads until `isDone` returns true; every count must be odd, and at least the count before.
    private static func countWholeStates(_ reader: any DatabaseConnection, until isDone: () -> Bool) throws -> Int {
        var states = 0
        var last: Int64 = 0
        repeat {
            let count = try reader.countThings()
            #expect(count % 2 == 1 && count >= last)
            last = count
            states += 1
        } while !isDone()
        return states
    }

    @Test(arguments: Engine.allCases)
    func `a connection behind a lock can be handed from thread to thread`(engine: Engine) async throws {
        let place = try Place(engine)
        let shared = Shared(try place.connectWithThings())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    try await onThread {
                        for step in 0..<20 {
                            let id = Int64(number * 100 + step)
                            try shared.withLock { try $0.insertThing(id, "n\(id)") }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try shared.withLock { try $0.countThings() } == 160)
    }

    @Test func `frees what it owns`() throws {
        let folder = try Folder()
        for _ in 0..<50 {
            let connection = try folder.connect()
            try connection.run(SQL("CREATE TABLE IF NOT EXISTS t (x)"))
            try connection.run(SQL("INSERT INTO t VALUES (?)", .text(String(repeating: "x", count: 1000))))
            _ = storageError { () throws(StorageError) in try connection.run(SQL("SELECT 1; SELECT 2")) }
            _ = storageError { () throws(StorageError) in try connection.run(SQL("SELECT nothing")) }
            _ = storageError { () throws(StorageError) in try connection.run(SQL("SELECT ?")) }
            _ = storageError { () throws(StorageError) in _ = try SQLiteConnection(path: folder.path) }
            try connection.begin()
            _ = try InstanceLock(of: folder.database)
        }
    }
}

/// Runs what blocks on a thread of its own, so that it does not hold up Swift's shared few.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
    }
}
