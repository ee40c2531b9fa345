// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// The report about a receiver, from its rows in the database and this instance's memory.
@Suite(.overBothEngines) struct EndpointReportTests {
    typealias HeldUp = EndpointTable.HeldUp
    typealias Status = EndpointThread.Status

    struct Case: Sendable, CustomTestStringConvertible {
        let id: String
        let state: EndpointReport.State
        var reason: String?
        var disabledReason: String?
        var held: [HeldUp] = []
        var deliveryStatus: Status?
        var open: Int64 = 0
        var givenUp: Int64 = 0
        var listed: [Int64] = []
        var testDescription: String { "\(id) \(state) \(held.count)" }
    }

    private static let instant = Timestamp(milliseconds: 1_763_700_000_000)
    private static let gone = "it answered with status 410"

    private static func held(_ index: Int64, attempts: Int64 = 1, givenUpAfter minutes: Int? = nil) -> HeldUp {
        HeldUp(
            position: EventPosition(index: index).number,
            attempts: attempts,
            firstAttemptAt: attempts > 0 ? instant : nil,
            nextAttemptAt: instant.adding(minutes: 5),
            givenUpAt: minutes.map(instant.adding(minutes:)),
            failure: attempts > 0 ? "failure \(index)" : nil
        )
    }

    private static let failing = Status(failure: "it hangs", isCircuitOpen: true)

    private static let cases: [Case] = [
        Case(id: "backend", state: .delivering),
        Case(id: "backend", state: .delivering, deliveryStatus: Status()),
        Case(id: "backend", state: .disabled, reason: gone, disabledReason: gone, deliveryStatus: failing),
        Case(
            id: "backend",
            state: .waiting,
            reason: "failure 1",
            held: [held(1), held(2, attempts: 0)],
            open: 2,
            listed: [1, 2]
        ),
        Case(
            id: "backend",
            state: .paused,
            reason: "it hangs",
            held: [held(1)],
            deliveryStatus: failing,
            open: 1,
            listed: [1]
        ),
        Case(
            id: "backend",
            state: .delivering,
            held: [held(0, givenUpAfter: 1), held(2, givenUpAfter: 2)],
            givenUp: 2,
            listed: [2, 0]
        ),
        Case(
            id: "vendor",
            state: .waiting,
            reason: "failure 3",
            held: [held(0, givenUpAfter: 1), held(3)] + (4..<60).map { held($0, attempts: 0) },
            open: 57,
            givenUp: 1,
            listed: Array(3..<53)
        ),
        // All of a stream waits, whichever instance delivers.
        Case(id: "own", state: .paused, reason: "failure 0", held: [held(0)], open: 1, listed: [0]),
    ]

    private static let settings = EventSettings(
        endpoints: [
            EventEndpoint(
                id: "backend",
                url: "https://backend.example.com/hook",
                source: .events(types: [], .standard),
                secrets: [],
                signingKeys: [],
                apps: []
            ),
            EventEndpoint(
                id: "vendor",
                url: "https://vendor.example.com",
                source: .notifications(.appStore, token: nil),
                secrets: [],
                signingKeys: [],
                apps: []
            ),
        ],
        streams: [LogStream(id: "own", target: .file("/own.ndjson"), categories: [])],
        privateNetworks: [],
        trustedCertificatesPath: nil,
        digest: SHA256.digest(of: [])
    )

    private static func report(_ row: Case, in place: LogPlace) throws -> (Int64, EndpointReport) {
        let table = EndpointTable(connection: try place.ledger.openPatiently())
        var stored = EndpointTable.Row(id: row.id, nextPosition: EventPosition(index: 1).number)
        try table.add(stored)
        stored.delivered = 7
        (stored.disabledAt, stored.disabledReason) = (row.disabledReason.map { _ in instant }, row.disabledReason)
        try table.update(stored)
        for item in row.held { try table.put(item, of: row.id) }
        let deliveryStatuses = row.deliveryStatus.map { [row.id: $0] } ?? [:]
        let (size, reports) = try EndpointReport.all(
            of: settings,
            deliveryStatuses,
            connection: try place.ledger.openForReading()
        )
        let others = reports.filter { $0.id != row.id }
        #expect(others.count == 2 && others.allSatisfy { $0.state == .starting && $0.row == nil })
        return (size, try #require(reports.first { $0.id == row.id }))
    }

    @Test(arguments: cases) func `tells the state of a receiver, and what it has not taken`(row: Case) throws {
        let (size, report) = try Self.report(row, in: .filled(entries: 3))
        #expect(report.state == row.state && report.reason == row.reason, "\(report)")
        #expect((report.open, report.givenUp) == (row.open, row.givenUp) && report.row?.delivered == 7)
        #expect(size == 3 && report.backlog == 2)
        #expect(report.deliveries.map { EventPosition(number: $0.position).index } == row.listed)
    }

    @Test func `a time is reported only where it applies`() throws {
        let items = [Self.held(1), Self.held(2, attempts: 0), Self.held(3, givenUpAfter: 1)]
        let row = Case(id: "backend", state: .waiting, held: items)
        let (size, report) = try Self.report(row, in: .filled(entries: 1))
        let body = try Tree(String(decoding: EventEndpointsCall.body(size, [report]).bytes, as: UTF8.self))
        let deliveries = body["endpoints"][0]["deliveries"]
        let next = deliveries.elements.map { $0["nextAttemptAt"].text }
        #expect(next == ["2025-11-21T04:45:00Z", nil, nil], "\(deliveries)")
        #expect(deliveries.elements.map { $0["givenUpAt"].text } == [nil, nil, "2025-11-21T04:41:00Z"])
        #expect(deliveries.elements.map { $0["failure"].text } == ["failure 1", nil, "failure 3"])
    }
}
