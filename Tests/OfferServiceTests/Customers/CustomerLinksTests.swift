// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService
@testable import Storage

/// The links in the ledger, and the filter that spares most requests from reading them.
@Suite(.overBothEngines) struct CustomerLinksTests {
    /// As even as pseudonyms are, and the same each time.
    private static func subject(_ number: UInt64) -> [UInt8] {
        Array(SHA256.digest(of: Array("\(number)".utf8)).bytes.prefix(LedgerKey.byteCount))
    }

    @Test(arguments: [0, 1, 100, 5_000])
    func `the filter never misses, and rarely errs`(count: UInt64) {
        var filter = BloomFilter(capacity: Int(count))
        for number in 0..<count { filter.insert(Self.subject(number)) }
        #expect(!filter.isFull)
        #expect((0..<count).allSatisfy { filter.mayContain(Self.subject($0)) })
        let mistaken = (0..<10_000).map { Self.subject(1_000_000 + UInt64($0)) }.count { filter.mayContain($0) }
        #expect(mistaken < 50)
        if count == 0 { #expect(mistaken == 0) }
    }

    @Test func `the filter says when it has more than it was made for`() {
        var filter = BloomFilter(capacity: 64)
        for number in 0..<64 { filter.insert(Self.subject(UInt64(number))) }
        #expect(!filter.isFull)
        filter.insert(Self.subject(64))
        #expect(filter.isFull)
    }

    @Test(arguments: [64, 1_000, 5_000])
    func `a filter with too little room grows, misses no customer, and rarely errs`(room: Int) {
        var filter = ScalableBloomFilter(room: room)
        for number: UInt64 in 0..<20_000 {
            filter.insert(Self.subject(number))
            #expect(filter.mayContain(Self.subject(number / 2)))
        }
        #expect((0..<20_000).allSatisfy { filter.mayContain(Self.subject($0)) })
        let strangers = (0..<20_000).map { Self.subject(1_000_000 + UInt64($0)) }
        #expect(strangers.count { filter.mayContain($0) } < 300)
    }

    private func transfer(_ service: TestService, _ from: String, _ to: String) throws -> CustomerTransfer {
        CustomerTransfer(
            from: try AnonymousID(from),
            to: try CustomerID(to),
            app: try #require(AppInStores(AppName("com.example.app"), in: service.loaded.catalog)),
            callerID: try #require(CallerID("backend")),
            under: EvidenceContext(catalog: service.loaded.catalog, pseudonyms: service.loaded.keys.pseudonyms)
        )
    }

    private func begunWriter(_ service: TestService) throws -> LedgerWriter {
        let writer = LedgerWriter(connection: try service.ledger.openPatiently())
        try writer.begin(at: service.clock.now)
        return writer
    }

    @Test func `a writer that opens the ledger later finds a link`() async throws {
        try await withService { service in
            try await service.transfer(from: "device-1", to: "ada")
            let writer = try begunWriter(service)
            defer { writer.rollback() }
            let pair = try transfer(service, "device-1", "ada")
            #expect(try writer.links.links(of: [pair.from.ledgerKey]).map(\.subject) == [pair.to.ledgerKey])
            #expect(try writer.links.links(of: [pair.to.ledgerKey]).map(\.subject) == [pair.from.ledgerKey])
            #expect(try writer.links.links(of: [pair.to.ledgerKey, pair.from.ledgerKey]).isEmpty)
            #expect(try writer.transfer(pair) == .transferred(at: service.clock.now, isRepeated: true))
        }
    }

    @Test func `a link that another program added is found`() async throws {
        try await withService { service in
            #expect(try await service.sign(offer: "once", #""anonymousId": "device-1""#).status == 200)
            let writer = try begunWriter(service)
            #expect(
                try writer.transfer(transfer(service, "device-1", "ada"))
                    == .transferred(at: service.clock.now, isRepeated: false)
            )
            try writer.commit()
            #expect(try await service.sign(offer: "once", #""customerId": "ada""#).problem == "not-eligible")
        }
    }

    @Test func `a link to which another program gave the keys of the next secret version leads on`() async throws {
        try await withService { service in
            #expect(try await service.sign(offer: "once", #""anonymousId": "device-1""#).status == 200)
            try await service.transfer(from: "device-1", to: "ada")
            try service.beginSecretVersion("2")
            let ada = service.current.value.pseudonyms.pseudonym(
                of: .customer(try CustomerID("ada")),
                in: try AppName("com.example.app")
            )
            let writer = try begunWriter(service)
            try writer.apply([try #require(RotatedKey(ada))])
            try writer.commit()
            #expect(try await service.sign(offer: "once", #""customerId": "ada""#).problem == "not-eligible")
            try service.forgetEarlierVersions()
            #expect(try await service.sign(offer: "once", #""customerId": "ada""#).problem == "not-eligible")
        }
    }

    @Test func `a link that was undone is none, and can be made again`() async throws {
        try await withService { service in
            let writer = try begunWriter(service)
            let pair = try transfer(service, "device-1", "ada")
            #expect(try writer.transfer(pair) == .transferred(at: service.clock.now, isRepeated: false))
            #expect(try writer.links.links(of: [pair.from.ledgerKey]).map(\.subject) == [pair.to.ledgerKey])
            writer.rollback()
            try writer.begin(at: service.clock.now)
            #expect(try writer.links.links(of: [pair.from.ledgerKey]).isEmpty)
            #expect(try writer.transfer(pair) == .transferred(at: service.clock.now, isRepeated: false))
            try writer.commit()
            try writer.begin(at: service.clock.now)
            #expect(try writer.links.links(of: [pair.to.ledgerKey]).map(\.subject) == [pair.from.ledgerKey])
            writer.rollback()
        }
    }

    @Test func `a link that the service did not write is skipped`() async throws {
        try await withService { service in
            try await service.transfer(from: "device-1", to: "ada")
            try service.ledger.openPatiently().run(
                SQL(
                    "INSERT INTO customer_links VALUES (?, ?, 1, 0, 0)",
                    .blob([1]),
                    .blob([])
                )
            )
            let writer = try begunWriter(service)
            defer { writer.rollback() }
            let pair = try transfer(service, "device-1", "ada")
            #expect(try writer.links.links(of: [pair.from.ledgerKey]).map(\.subject) == [pair.to.ledgerKey])
        }
    }

    @Test func `more links than the filter was made for are all found`() async throws {
        try await withService { service in
            let writer = try begunWriter(service)
            let pairs = try (0..<500).map { try transfer(service, "device-\($0)", "customer-\($0)") }
            for pair in pairs { _ = try writer.transfer(pair) }
            try writer.commit()
            let second = try begunWriter(service)
            defer { second.rollback() }
            for pair in pairs {
                #expect(try second.links.links(of: [pair.from.ledgerKey]).map(\.subject) == [pair.to.ledgerKey])
                #expect(try writer.links.links(of: [pair.to.ledgerKey]).map(\.subject) == [pair.from.ledgerKey])
            }
        }
    }

    @Test func `of customers without a link, nothing is read`() async throws {
        let statements = Statements()
        try await withService(wrap: statements.wrap) { service in
            for number in 0..<20 { try await service.transfer(from: "device-\(number)", to: "customer-\(number)") }
            _ = try await service.sign(offer: "once", #""customerId": "ada""#)
            statements.reset()
            for _ in 0..<10 {
                _ = try await service.sign(offer: "once", #""customerId": "ada", "anonymousId": "tablet""#)
            }
            #expect(statements.count(of: "customer_links") == 0)
            // On a database of its own, the service knows that the tablet was never granted anything, and that what ada
            // was granted is where it was written.
            // A refusal reads once more, to say by which name the cap counted. Beside ada, the tablet does not count.
            let (server, file) = TestedEngine.isPostgreSQL ? (20, 0) : (0, 20)
            #expect(statements.count(of: "SELECT grant_id FROM grants WHERE") == server)
            #expect(statements.count(of: "SELECT grant_id FROM grants_by_time") == file)
            _ = try await service.sign(offer: "once", #""customerId": "customer-7""#)
            #expect(statements.count(of: "customer_links") == 1)
        }
    }
}
