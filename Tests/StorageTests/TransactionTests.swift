// SPDX-License-Identifier: Apache-2.0
import Storage
import Testing

/// A transaction happens whole or not at all.
@Suite struct TransactionTests {
    enum Refusal: StorageErrorConvertible, Equatable {
        case capReached
        case storage(StorageError)
    }

    @Test(arguments: Engine.allCases)
    func `what was done in a transaction is there for others when it is committed, not before`(engine: Engine) throws {
        let place = try Place(engine)
        let connection = try place.connectWithThings()
        let reader = try place.connect(.readOnly)
        let count = try connection.transaction { () throws(StorageError) in
            try connection.insertThing(1, "one")
            #expect(try reader.countThings() == 0)
            return try connection.countThings()
        }
        #expect(count == 1)
        #expect(try reader.countThings() == 1)
    }

    private func refusingTransaction(_ connection: any DatabaseConnection) throws(Refusal) {
        try connection.transaction { () throws(Refusal) in
            do throws(StorageError) { try connection.insertThing(1, "one") } catch { throw .storage(error) }
            throw .capReached
        }
    }

    @Test(arguments: Engine.allCases)
    func `an error of the caller's own undoes the transaction and comes out unchanged`(engine: Engine) throws {
        let place = try Place(engine)
        let connection = try place.connectWithThings()
        #expect(throws: Refusal.capReached) {
            try refusingTransaction(connection)
        }
        #expect(try connection.countThings() == 0)
        try connection.transaction { () throws(StorageError) in try connection.insertThing(1, "one") }
        #expect(try connection.countThings() == 1)
    }

    @Test(arguments: Engine.allCases)
    func `an error of the database's undoes the transaction`(engine: Engine) throws {
        let place = try Place(engine)
        let connection = try place.connectWithThings()
        let error = storageError { () throws(StorageError) in
            try connection.transaction { () throws(StorageError) in
                try connection.insertThing(1, "one")
                try connection.insertThing(2, "one")
            }
        }
        guard case .constraint(.unique, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try connection.countThings() == 0)
    }

    @Test func `a statement that fails leaves the rest of its transaction`() throws {
        let place = try Place(.sqlite)
        let connection = try place.connectWithThings()
        try connection.transaction { () throws(StorageError) in
            try connection.insertThing(1, "one")
            #expect(storageError { () throws(StorageError) in try connection.insertThing(2, "one") } != nil)
            try connection.insertThing(3, "three")
        }
        #expect(try connection.countThings() == 2)
    }

    @Test func `when the engine undoes a transaction by itself, nothing more happens in it`() throws {
        let place = try Place(.sqlite)
        let connection = try place.connectWithThings()
        try connection.run(
            SQL(
                """
                CREATE TRIGGER guard BEFORE INSERT ON things WHEN NEW.name = 'bad'
                BEGIN SELECT RAISE(ROLLBACK, 'undone'); END
                """
            )
        )
        try connection.begin()
        try connection.insertThing(1, "one")
        let undoing = storageError { () throws(StorageError) in try connection.insertThing(2, "bad") }
        #expect(undoing != nil)
        #expect(storageError { () throws(StorageError) in try connection.insertThing(3, "three") } == undoing)
        #expect(storageError { () throws(StorageError) in try connection.commit() } == undoing)
        #expect(try connection.countThings() == 0)
        try connection.insertThing(4, "four")
        #expect(try connection.countThings() == 1)
    }

    @Test(arguments: Engine.allCases)
    func `transactions do not nest`(engine: Engine) throws {
        let place = try Place(engine)
        let connection = try place.connectWithThings()
        try connection.begin()
        guard case .misuse = storageError({ () throws(StorageError) in try connection.begin() }) else {
            Issue.record("began twice")
            return
        }
        try connection.insertThing(1, "one")
        try connection.commit()
        guard case .misuse = storageError({ () throws(StorageError) in try connection.commit() }) else {
            Issue.record("committed twice")
            return
        }
        connection.rollback()
        #expect(try connection.countThings() == 1)
    }

    @Test(arguments: Engine.allCases)
    func `a commit that breaks a deferred rule is undone`(engine: Engine) throws {
        let place = try Place(engine)
        let connection = try place.connectWithThings()
        try connection.run(
            SQL("CREATE TABLE parts (thing BIGINT REFERENCES things DEFERRABLE INITIALLY DEFERRED)")
        )
        let error = storageError { () throws(StorageError) in
            try connection.transaction { () throws(StorageError) in
                try connection.insertThing(1, "one")
                try connection.run(SQL("INSERT INTO parts VALUES (99)"))
            }
        }
        guard case .constraint(.foreignKey, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try connection.countThings() == 0)
        try connection.transaction { () throws(StorageError) in try connection.insertThing(1, "one") }
        #expect(try connection.countThings() == 1)
    }

    @Test(arguments: Engine.allCases)
    func `a reader's transaction sees one state`(engine: Engine) throws {
        let place = try Place(engine)
        let connection = try place.connectWithThings()
        let reader = try place.connect(.readOnly)
        try reader.transaction { () throws(StorageError) in
            #expect(try reader.countThings() == 0)
            try connection.insertThing(1, "one")
            #expect(try reader.countThings() == 0)
        }
        #expect(try reader.countThings() == 1)
    }

    @Test(arguments: Engine.allCases)
    func `what was not committed is gone when the connection is`(engine: Engine) throws {
        let place = try Place(engine)
        let connection = try place.connectWithThings()
        do {
            let other = try place.connect()
            try other.begin()
            try other.insertThing(1, "one")
        }
        #expect(try connection.countThings() == 0)
    }
}
