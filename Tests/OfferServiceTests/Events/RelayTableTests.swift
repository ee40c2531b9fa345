// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// Bodies of notifications, kept until each relay has them.
@Suite(.overBothEngines) struct RelayTableTests {
    private static func add(
        _ indices: some Sequence<Int64>,
        at instant: Timestamp,
        to connection: any DatabaseConnection
    ) throws {
        try connection.begin()
        for index in indices {
            try RelayTable(connection: connection).add(
                [UInt8(truncatingIfNeeded: index)],
                of: .appStore,
                entry: index,
                at: instant
            )
        }
        try connection.commit()
    }

    private static func indices(_ connection: any DatabaseConnection) throws -> [Int64] {
        try RelayTable(connection: connection).rows(of: .appStore, from: 0, limit: 10_000).map(\.entryIndex)
    }

    @Test func `are read in order from an entry on, for one store`() throws {
        let place = try LogPlace()
        let connection = try place.ledger.openPatiently()
        try Self.add([7, 3, 300], at: place.clock.now, to: connection)
        let table = RelayTable(connection: connection)
        let rows = try table.rows(of: .appStore, from: 4, limit: 10)
        #expect(rows.map(\.entryIndex) == [7, 300] && rows.map(\.body) == [[7], [44]])
        #expect(try table.rows(of: .appStore, from: 0, limit: 1).map(\.entryIndex) == [3])
        #expect(try table.rows(of: .googlePlay, from: 0, limit: 10).isEmpty)
    }

    @Test func `are removed some at a time, and only those that are earlier and older`() throws {
        let place = try LogPlace()
        let connection = try place.ledger.openPatiently()
        let (old, new) = (place.clock.now, place.clock.now.adding(minutes: 1))
        let most = Int64(RelayTable.mostRemoved)
        try Self.add(0..<most + 20, at: old, to: connection)
        try Self.add(most + 20..<most + 30, at: new, to: connection)
        let table = RelayTable(connection: connection)
        #expect(try table.remove(before: 0, receivedBefore: new) == 0)
        #expect(try table.remove(before: most + 10, receivedBefore: old) == 0)
        #expect(try table.remove(before: most + 10, receivedBefore: new) == RelayTable.mostRemoved)
        #expect(try table.remove(before: most + 10, receivedBefore: new) == 10)
        #expect(try Self.indices(connection) == Array(most + 10..<most + 30))
        #expect(try table.remove(before: .max, receivedBefore: new) == 10)
        #expect(try Self.indices(connection) == Array(most + 20..<most + 30))
    }

    @Test func `are needed from the first entry on that one of the relays lacks`() throws {
        let place = try LogPlace()
        let connection = try place.ledger.openPatiently()
        let table = EndpointTable(connection: connection)
        func position(_ index: Int64) -> Int64 { EventPosition(index: index).number }
        func first() throws -> Int64 { try table.firstEntryToRelay(["one", "other"]) }
        try table.add(.init(id: "one", nextPosition: position(50)))
        #expect(try first() == 0, "one that is not known yet may need all")
        try table.add(.init(id: "other", nextPosition: position(40)))
        #expect(try first() == 40)
        let now = place.clock.now
        try table.put(.init(position: position(20), attempts: 9, nextAttemptAt: now, givenUpAt: now), of: "one")
        #expect(try first() == 40, "what is given up is not needed")
        try table.put(.init(position: position(30), attempts: 1, nextAttemptAt: now), of: "one")
        #expect(try first() == 30)
        #expect(try table.askToRewind("other", to: position(10)))
        #expect(try first() == 10)
        try table.rewound("other", to: position(10), asked: position(10))
        #expect(try first() == 10)
    }

    @Test func `the service removes what every relay has, and all after seven days`() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(
            Array(#"{relays: [{id: "vendor", store: "app-store", url: "http://127.0.0.1:1/"}]}"#.utf8),
            to: "events"
        )
        var files = TestFiles()
        files.settings[.events] = folder.path(of: "events")
        try await withService(.inProcess, files) { service in
            let (connection, now) = (try service.ledger.openPatiently(), service.clock.now)
            try Self.add([0], at: now.adding(days: -8), to: connection)
            try Self.add([1, 3], at: now.adding(minutes: -16), to: connection)
            try Self.add([2], at: now.adding(minutes: -14), to: connection)
            var row = EndpointTable.Row(id: "vendor", nextPosition: EventPosition(index: 0).number)
            try EndpointTable(connection: connection).update(row)
            service.deliverer.removeRelayed()
            #expect(try Self.indices(connection) == [1, 2, 3])
            let isLogged = service.log.lines.contains { $0.contains("were removed before each relay had them") }
            #expect(isLogged, "\(service.log.lines)")
            row.nextPosition = EventPosition(index: 3).number
            try EndpointTable(connection: connection).update(row)
            service.deliverer.removeRelayed()
            #expect(try Self.indices(connection) == [2, 3], "what just came may be of a relay that is new")
        }
    }
}
