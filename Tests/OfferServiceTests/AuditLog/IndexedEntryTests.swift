// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// What the index reads of an entry in one pass is what its document says.
struct IndexedEntryTests {
    private static let keys = IndexTermKeys(hash: .zero, format: AuditIndexFormat(entriesPerRun: 64))

    private static func object(_ entry: [UInt8]) -> JSONObject? { (try? JSONDocument(entry))?.root.object }

    /// The run that has each entry, again and again, until it is full; read in one pass, and from their documents.
    private static func runs(_ entries: [[UInt8]]) throws -> (scanned: IndexRun, parsed: IndexRun) {
        var scanned = IndexRunBuilder(run: 0, keys: keys, previous: entries.last)
        var parsed = scanned
        for number in 0..<64 {
            let entry = entries[number % entries.count]
            let isTaken = scanned.add(entry.span)
            #expect(isTaken)
            parsed.add(try #require(object(entry)))
        }
        return (scanned.sealed(), parsed.sealed())
    }

    private static func expectSame(_ entries: [[UInt8]], sourceLocation: SourceLocation = #_sourceLocation) throws {
        for start in stride(from: 0, to: entries.count, by: 64) {
            let (scanned, parsed) = try runs(Array(entries[start..<min(start + 64, entries.count)]))
            #expect(scanned == parsed, sourceLocation: sourceLocation)
        }
    }

    @Test func `is the same for entries of every kind`() async throws {
        try await withService { service in
            _ = try await service.sign(offer: "open", #""formats": ["v1", "jws"], "customerId": "ada""#)
            for offer in ["gold", "once", "once"] { _ = try await service.sign(offer: offer) }
            for name in service.credentials.keys { _ = try await service.sign(as: name, offer: "open") }
            let nobody = offerBody("once").replacing(#""subscribedBefore": true"#, with: "")
            _ = try await service.send(service.call(nobody))
            try await service.transfer(from: "device-1", to: "ada")
            let now = service.clock.now
            let others = try AuditEntryTests.events().map { AuditEntry.bytes(of: $0, recordedAt: now) }
            let entries = try service.entries().map { Array($0.utf8) } + others
            let names = try entries.map { try Tree(String(decoding: $0, as: UTF8.self))["ev"] }
            for name in ["sign.intent", "sign.deny", "customer.transferred", "audit.fetch", "key.load"] {
                #expect(names.contains(.text(name)))
            }
            try Self.expectSame(entries)
            // One by one too, so that no two hide each other.
            for entry in entries { try Self.expectSame([entry]) }
            // Those that come often need no document.
            for entry in try service.entries() {
                var indexed = IndexedEntry()
                let isScanned = indexed.scan(entry.utf8.span)
                #expect(isScanned, "\(entry)")
            }
        }
    }

    @Test(arguments: [21, 22])
    func `is the same for entries at random, and for what damage makes of them`(seed: UInt64) throws {
        let log = try RandomLog(seed: seed)
        try log.grow(by: 400)
        let entries = try log.connection.all(SQL("SELECT entry FROM audit_entries ORDER BY entry_index")) { $0.blob(0) }
        // Names that are out of order are read from the document; in order they are scanned.
        let sorted = try entries.map { try Self.sorted($0) }
        try Self.expectSame(entries)
        try Self.expectSame(sorted)
        var random = SplitMix(seed: seed)
        var kept: [[UInt8]] = []
        for entry in sorted {
            for _ in 0..<20 {
                let damaged = Self.damaged(entry, &random)
                var builder = IndexRunBuilder(run: 0, keys: Self.keys, previous: nil)
                let isTaken = builder.add(damaged.span)
                #expect(isTaken == (Self.object(damaged) != nil), "\(String(decoding: damaged, as: UTF8.self))")
                if isTaken { kept.append(damaged) }
            }
        }
        #expect(kept.count > 300)
        try Self.expectSame(kept)
    }

    private static func sorted(_ entry: [UInt8]) throws -> [UInt8] {
        let members = try #require(object(entry)).map { member in
            (name: member.nameBytes, text: Array("\"".utf8) + member.nameBytes + Array("\":".utf8) + member.value.text)
        }
        let ordered = members.sorted { $0.name.lexicographicallyPrecedes($1.name) }.map(\.text)
        return Array("{".utf8) + ordered.joined(separator: Array(",".utf8)) + Array("}".utf8)
    }

    private static func damaged(_ entry: [UInt8], _ random: inout SplitMix) -> [UInt8] {
        var entry = entry
        let place = Int.random(in: entry.indices, using: &random)
        let odd = Array("\"\\{}[],:0-9.eE ntfau\u{1F}\u{7F}\u{80}".utf8)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: entry[place] = odd[Int.random(in: odd.indices, using: &random)]
        case 1: entry.insert(odd[Int.random(in: odd.indices, using: &random)], at: place)
        case 2: entry.remove(at: place)
        default: entry.swapAt(place, entry.index(after: place) % entry.count)
        }
        return entry
    }

    /// Texts that look like entries, and whether they are scanned; all else needs a document.
    static let texts: [(text: String, isScanned: Bool)] = [
        (#"{"ev":"sign.intent","t":5}"#, true), (#"{"ev":"a","t":-5}"#, true), (#"{"allow":false,"t":0}"#, true),
        (#"{"users":[],"why":[{"code":"x"},{"code":"y"}]}"#, true), (#"{"counts":[{"caller":"a","count":2}]}"#, true),
        (#"{"why":["a","b"]}"#, true), (#"{"":"","a":""}"#, true),
        ("{}", false), (#"{"ev":"é"}"#, false), (#"{"ev":"\n"}"#, false), (#"{"t":5,"ev":"a"}"#, false),
        (#"{"ev":"a","ev":"b"}"#, false), (#"{"ev": "a"}"#, false), (#"{"t":1.0}"#, false), (#"{"t":01}"#, false),
        (#"{"t":1234567890123456789}"#, false), (#"{"t":null}"#, false), (#"{"a":{"b":1}}"#, true),
        (#"{"client":{"library":"x","storeKit":2},"ev":"sign.intent"}"#, true), (#"{"a":{"b":{}}}"#, false),
        (#"{"users":[["a"]]}"#, false), (#"{"why":[{"code":["a"]}]}"#, false), (#"{"why":[{"b":1,"a":1}]}"#, false),
        (#"{"ev":"a"}x"#, false), (#"{"ev":"a""#, false), (#"{"ev":"a",}"#, false), (#"{"ev":"a"#, false),
        (#"["ev"]"#, false), ("", false), ("{", false), (#"{"a":tru}"#, false), (#"{"a":-}"#, false),
        (#"{"a":[\#(Array(repeating: "1", count: 600).joined(separator: ","))]}"#, false),
        (#"{"a":"\#(String(repeating: "x", count: 4096))"}"#, false),
    ]

    @Test(arguments: texts.indices)
    func `takes nothing in one pass that is not written as entries are`(number: Int) throws {
        let (text, isScanned) = Self.texts[number]
        let bytes = Array(text.utf8)
        var indexed = IndexedEntry()
        let isTaken = indexed.scan(bytes.span)
        #expect(isTaken == isScanned, "\(text)")
        if Self.object(bytes) != nil { try Self.expectSame([bytes]) } else { #expect(!isScanned) }
    }
}
