// SPDX-License-Identifier: Apache-2.0
import Storage
import TestSupport
import Testing

/// Questions that are asked ahead of their use, so that an engine on the other end of a wire answers them together.
@Suite struct AskingTests {
    private let count = SQL("SELECT count(*) FROM things")
    private let names: StaticString = "SELECT name FROM things WHERE id = ?"

    private func read(_ connection: any DatabaseConnection) throws -> Int64? {
        try connection.first(count) { $0.integer(0) }
    }

    @Test(arguments: Engine.allCases)
    func `what was asked ahead is read, once and again, by its text and its values`(engine: Engine) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try place.connectWithThings()
        for id: Int64 in 1...3 { try connection.insertThing(id, "thing \(id)") }
        try connection.beginWithoutWaiting()
        try connection.ask(count)
        try connection.ask(SQL(names, .integer(1)))
        try connection.ask(names, forEach: [[.integer(3)], [.integer(2)]])
        try connection.awaitTurn {}
        #expect(try connection.first(SQL(names, .integer(2))) { $0.text(0) } == "thing 2", "which was not asked")
        for _ in 1...2 {
            #expect(try connection.first(SQL(names, .integer(1))) { $0.text(0) } == "thing 1")
            var found: [Int: String] = [:]
            try connection.rows(names, forEach: [[.integer(3)], [.integer(2)]]) { found[$0] = $1.text(0) }
            #expect(found == [0: "thing 3", 1: "thing 2"])
            #expect(try read(connection) == 3)
        }
        try connection.commit()
        #expect(try read(connection) == 3)
    }

    @Test(arguments: Engine.allCases)
    func `what was written since is read, and not what was asked before it`(engine: Engine) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try place.connectWithThings()
        for (id, isEnqueued) in [(Int64(1), true), (2, false)] {
            try connection.beginWithoutWaiting()
            try connection.ask(count)
            try connection.awaitTurn {}
            let insertion = SQL("INSERT INTO things (id, name) VALUES (?, ?)", .integer(id), .text("\(id)"))
            if isEnqueued { try connection.enqueue(insertion) } else { try connection.run(insertion) }
            #expect(try read(connection) == id)
            try connection.commit()
        }
        try connection.beginWithoutWaiting()
        try connection.ask(count)
        try connection.commit()
        try connection.run(SQL("DELETE FROM things"))
        try connection.begin()
        #expect(try read(connection) == 0, "not what an earlier transaction was answered")
        connection.rollback()
    }

    @Test func `on PostgreSQL, what is asked while another writes is answered with what that has committed`() throws {
        let place = try Place(.postgreSQL)
        defer { withExtendedLifetime(place) {} }
        let (one, other) = (try place.connectWithThings(), try place.connect())
        try other.begin()
        try other.insertThing(1, "one")
        try one.beginWithoutWaiting()
        try one.ask(count)
        var calls = 0
        try one.awaitTurn { () throws(StorageError) in
            calls += 1
            if calls == 2 { try one.ask(SQL(names, .integer(1))) }
            if calls == 3 { try other.commit() }
        }
        #expect(calls >= 3)
        #expect(try read(one) == 1)
        #expect(try one.first(SQL(names, .integer(1))) { $0.text(0) } == "one")
        try one.commit()
    }

    @Test func `on PostgreSQL, a turn that does not come is an error, after which the connection goes on`() throws {
        let place = try Place(.postgreSQL)
        defer { withExtendedLifetime(place) {} }
        let other = try place.connectWithThings()
        let one = try place.connect(busyTimeoutMilliseconds: 50)
        try other.begin()
        try one.beginWithoutWaiting()
        try one.ask(count)
        let error = storageError { () throws(StorageError) in
            var calls = 0
            try one.awaitTurn { () throws(StorageError) in
                calls += 1
                if calls == 1 { try one.ask(SQL(names, .integer(1))) }
            }
        }
        guard case .busy = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        other.rollback()
        try one.transaction { () throws(StorageError) in try one.insertThing(1, "one") }
        #expect(try read(one) == 1)
    }

    @Test(arguments: Engine.allCases)
    func `a question that fails fails the transaction on PostgreSQL, and the connection goes on`(engine: Engine) throws
    {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try place.connectWithThings()
        try connection.beginWithoutWaiting()
        try connection.ask(SQL("SELECT nothing FROM nowhere"))
        _ = storageError { () throws(StorageError) in
            try connection.awaitTurn {}
            try connection.insertThing(1, "one")
            try connection.commit()
        }
        connection.rollback()
        #expect(try read(connection) == (engine == .sqlite ? 1 : 0), "SQLite asks when it is wanted")
        try connection.transaction { () throws(StorageError) in try connection.insertThing(2, "two") }
        #expect(try connection.first(SQL(names, .integer(2))) { $0.text(0) } == "two")
    }

    @Test(arguments: Engine.allCases)
    func `a statement that changes another number of rows than it should is an error`(engine: Engine) throws {
        let place = try Place(engine)
        defer { withExtendedLifetime(place) {} }
        let connection = try place.connectWithThings()
        try connection.insertThing(1, "one")
        func rename(_ id: Int64) throws(StorageError) {
            try connection.begin()
            try connection.enqueue(
                SQL("UPDATE things SET name = ? WHERE id = ?", .text("other"), .integer(id)),
                changing: 1
            )
            try connection.commit()
        }
        try rename(1)
        #expect(try connection.first(SQL(names, .integer(1))) { $0.text(0) } == "other")
        let error = storageError { () throws(StorageError) in try rename(2) }
        guard case .ioFailure(let report) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(report.message == "a statement changed 0 rows instead of 1")
    }
}
