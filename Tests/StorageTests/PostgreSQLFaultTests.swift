// SPDX-License-Identifier: Apache-2.0
import Foundation
import Storage
import TestSupport
import Testing

/// What becomes of transactions when writers, connections and servers fail; and of enqueued writes.
@Suite struct PostgreSQLFaultTests {
    let place: Place
    let server: PostgreSQLPlace

    init() throws {
        place = try Place(.postgreSQL)
        server = try #require(place.server)
    }

    @Test(arguments: Engine.allCases)
    func `enqueued statements run in order, and the commit reports their errors`(engine: Engine) throws {
        let place = try Place(engine)
        let connection = try place.connectWithThings()
        let insertion: StaticString = "INSERT INTO things VALUES (?, ?)"
        try connection.transaction { () throws(StorageError) in
            for id in 1...500 { try connection.enqueue(SQL(insertion, .integer(Int64(id)), .text("n\(id)"))) }
            try connection.enqueue(SQL("DELETE FROM things WHERE id > 10"))
            #expect(try connection.countThings() == 10)
            try connection.enqueue(SQL(insertion, .integer(11), .text("n11")))
        }
        #expect(try connection.countThings() == 11)
        let error = storageError { () throws(StorageError) in
            try connection.transaction { () throws(StorageError) in
                try connection.enqueue(SQL(insertion, .integer(12), .text("n12")))
                try connection.enqueue(SQL(insertion, .integer(13), .text("n11")))
                try connection.enqueue(SQL(insertion, .integer(14), .text("n14")))
            }
        }
        guard case .constraint(.unique, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try connection.countThings() == 11)
        try connection.enqueue(SQL(insertion, .integer(12), .text("n12")))
        #expect(try place.connect(.readOnly).countThings() == 12)
    }

    @Test func `client and server never block each other, however much both send`() throws {
        let connection = try place.connect()
        let block = [UInt8](repeating: 7, count: 20_000)
        try connection.transaction { () throws(StorageError) in
            // More than the buffers of both sockets hold, there and back.
            for _ in 0..<500 { try connection.enqueue(SQL("SELECT ?", .blob(block))) }
            let last = try connection.first(SQL("SELECT length(?)", .blob(block))) { $0.integer(0) }
            #expect(last == 20_000)
        }
    }

    @Test func `who gets the lock sees what the writer before has committed`() async throws {
        let place = place
        let first = try place.connectWithThings()
        try first.begin()
        let found = Task {
            try await onThread {
                let second = try place.connect()
                return try second.transaction { () throws(StorageError) in try second.countThings() }
            }
        }
        // Until it waits for the lock.
        while try server.query("SELECT count(*) FROM pg_locks WHERE NOT granted") == "0" {
            try await Task.sleep(for: .milliseconds(5))
        }
        try first.insertThing(1, "one")
        try first.commit()
        #expect(try await found.value == 1)
    }

    @Test func `a writer that does nothing within its transaction loses it, and others go on`() throws {
        let first = try place.connectWithThings(idleTimeoutMilliseconds: 300)
        try first.begin()
        try first.insertThing(1, "one")
        let second = try place.connect()
        try second.transaction { () throws(StorageError) in try second.insertThing(2, "two") }
        let error = storageError { () throws(StorageError) in try first.commit() }
        guard case .ioFailure(let report) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(["25P03", ""].contains(report.state))
        #expect(error?.requiresReopening == true)
        #expect(storageError { () throws(StorageError) in try first.begin() } == error)
        #expect(try second.all(SQL("SELECT id FROM things")) { $0.integer(0) } == [2])
    }

    @Test func `a connection that was cut is of no more use, and a new one is`() throws {
        let connection = try place.connectWithThings()
        for during in ["a transaction", "nothing"] {
            let victim = try place.connect()
            let process = try victim.first(SQL("SELECT pg_backend_pid()")) { $0.integer(0) } ?? 0
            if during == "a transaction" {
                try victim.begin()
                try victim.enqueue(SQL("INSERT INTO things VALUES (1, 'lost')"))
            }
            try server.query("SELECT pg_terminate_backend(\(process), 5000)")
            let error = storageError { () throws(StorageError) in
                if during == "a transaction" { try victim.commit() } else { try victim.insertThing(2, "two") }
            }
            #expect(error?.requiresReopening == true, "\(String(describing: error))")
            #expect(storageError { () throws(StorageError) in try victim.run(SQL("SELECT 1")) } == error)
            #expect(try connection.countThings() == 0)
        }
    }

    @Test func `a server that only reads is not written to`() throws {
        let address = server.address().replacing("options=", with: "options=-cdefault_transaction_read_only%3Don%20")
        let location = try #require(DatabaseLocation(address))
        let error = storageError { () throws(StorageError) in _ = try location.connect() }
        guard case .readOnly = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(storageError { () throws(StorageError) in _ = try location.connect(.readOnly) } == nil)
    }

    @Test
    func `asks for warnings whatever the role is set to, since one reports an unconfirmed commit`() throws {
        let address = server.address().replacing("options=", with: "options=-cclient_min_messages%3Derror%20")
        let connection = try #require(DatabaseLocation(address)).connect()
        let found = try connection.first(SQL("SELECT current_setting('client_min_messages')")) { $0.text(0) }
        #expect(found == "warning")
    }

    @Test(arguments: ["off", "local", "on", "remote_write", "remote_apply"])
    func `a commit waits for the disk at least, however the server is set`(setting: String) throws {
        let address = server.address().replacing("options=", with: "options=-csynchronous_commit%3D\(setting)%20")
        let connection = try #require(DatabaseLocation(address)).connect()
        let found = try connection.first(SQL("SELECT current_setting('synchronous_commit')")) { $0.text(0) }
        #expect(found == (["off", "local"].contains(setting) ? "on" : setting))
    }

    @Test func `a server that does not sync its files is refused`() throws {
        let careless = try PostgreSQLCluster(settings: ["fsync = off"])
        let location = try #require(DatabaseLocation(careless.address()))
        let error = storageError { () throws(StorageError) in _ = try location.connect() }
        #expect(error == .settingRefused(name: "fsync", value: "off"))
    }

    @Test func `several that come to an empty database at once all find the lock`() async throws {
        let place = place
        // Whether two collide is a matter of microseconds.
        for _ in 0..<100 {
            try server.query("DROP TABLE IF EXISTS writer_lock")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<12 {
                    group.addTask {
                        try await onThread {
                            let connection = try place.connect()
                            try connection.transaction { () throws(StorageError) in }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try server.query("SELECT count(*) FROM writer_lock") == "1")
        }
    }

    @Test func `caps hold among many writers, since there is one at a time`() async throws {
        let place = place
        let connection = try place.connect()
        try connection.run(SQL("CREATE TABLE counter (n BIGINT)"))
        try connection.run(SQL("INSERT INTO counter VALUES (0)"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await onThread {
                        let connection = try place.connect(busyTimeoutMilliseconds: 60_000)
                        for _ in 0..<25 {
                            try connection.transaction { () throws(StorageError) in
                                let n = try connection.first(SQL("SELECT n FROM counter")) { $0.integer(0) } ?? 0
                                try connection.enqueue(SQL("UPDATE counter SET n = ?", .integer(n + 1)))
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try connection.first(SQL("SELECT n FROM counter")) { $0.integer(0) } == 100)
    }
}
