// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Storage
import TestSupport
import Testing
import TransparencyLog

@testable import OfferService

/// Proofs, tiles and bundles out of the tables, held to the definition over the same entries.
@Suite(.overBothEngines) struct LogReaderTests {
    private static func place(_ count: Int) throws -> (LogPlace, MerkleOracle) {
        let place = try LogPlace.filled(entries: count)
        return (place, MerkleOracle(try place.entries()))
    }

    @Test func `proves entries and growth of every tree that the log had`() throws {
        let (place, oracle) = try Self.place(1100)
        let reader = try place.reader()
        var random = SplitMix(seed: 4)
        for size in Array(0...20) + Array(250...260) + Array(505...520) + [767, 768, 1023, 1024, 1025, 1099, 1100] {
            let root = oracle.root(0..<size)
            #expect(try reader.rootHash(ofSize: Int64(size)) == root)
            guard size > 0 else { continue }
            for index in [0, size - 1] + (0..<8).map({ _ in Int.random(in: 0..<size, using: &random) }) {
                let proof = try reader.inclusionProof(of: Int64(index), inSize: Int64(size))
                #expect(proof == oracle.path(index, 0..<size))
                let old = try reader.consistencyProof(from: Int64(index), to: Int64(size))
                #expect(old == (index == 0 ? [] : oracle.proof(index, size)))
            }
        }
    }

    @Test(.overSQLite) func `proves entries of a large log`() throws {
        let (place, oracle) = try Self.place(140_000)
        let reader = try place.reader()
        var random = SplitMix(seed: 5)
        for _ in 0..<60 {
            let size = Int.random(in: 1...140_000, using: &random)
            let index = Int.random(in: 0..<size, using: &random)
            let head = TreeHead(size: Int64(size), rootHash: try reader.rootHash(ofSize: Int64(size)))
            #expect(head.rootHash == oracle.root(0..<size))
            let proof = try reader.inclusionProof(of: Int64(index), inSize: head.size)
            let leaf = TreeHash.leaf(try #require(try reader.entry(Int64(index))))
            #expect(MerkleProof.root(of: leaf, at: Int64(index), inSize: head.size, proof: proof) == head.rootHash)
            let growth = try reader.consistencyProof(from: head.size, to: 140_000)
            #expect(MerkleProof.isConsistent(head, with: try reader.head(), proof: growth))
        }
    }

    @Test func `has no proof of what the log never had`() throws {
        let (place, _) = try Self.place(10)
        let reader = try place.reader()
        #expect(throws: AuditReadError.noSuchTree(size: 11)) { try reader.rootHash(ofSize: 11) }
        #expect(throws: AuditReadError.noSuchTree(size: -1)) { try reader.rootHash(ofSize: -1) }
        #expect(throws: AuditReadError.noSuchTree(size: 10)) { try reader.inclusionProof(of: 10, inSize: 10) }
        #expect(throws: AuditReadError.noSuchTree(size: 0)) { try reader.inclusionProof(of: 0, inSize: 0) }
        #expect(throws: AuditReadError.noSuchTree(size: 10)) { try reader.inclusionProof(of: -1, inSize: 10) }
        #expect(throws: AuditReadError.noSuchTree(size: 10)) { try reader.consistencyProof(from: 10, to: 9) }
        #expect(throws: AuditReadError.noSuchTree(size: 11)) { try reader.consistencyProof(from: 9, to: 11) }
    }

    @Test(.overSQLite) func `gives every tile and bundle of the log, as wide as is asked for, and no other`() throws {
        let (place, oracle) = try Self.place(66_000)
        let entries = try place.entries()
        let reader = try place.reader()
        func tile(_ level: Int, _ index: Int64, _ width: Int) throws -> [UInt8]? {
            try reader.tile(try #require(TileCoordinate(level: level, index: index, width: width)))
        }
        for (level, index, width) in [
            (0, 0, 256), (0, 0, 1), (0, 256, 256), (0, 257, 208), (0, 257, 1), (1, 0, 256), (1, 0, 3), (1, 1, 1),
            (2, 0, 1),
        ] {
            let span = 1 << (8 * level)
            let expected = (0..<width).flatMap { position in
                let first = (index * 256 + position) * span
                return oracle.root(first..<first + span).bytes
            }
            #expect(try tile(level, Int64(index), width) == expected)
        }
        for (level, index, width) in [
            (0, 257, 209), (0, 257, 256), (0, 258, 1), (1, 1, 2), (2, 0, 2), (2, 1, 1), (3, 0, 1),
        ] {
            #expect(try tile(level, Int64(index), width) == nil)
        }
        for (n, width) in [(0, 256), (0, 1), (257, 208), (257, 5)] {
            let bundle = entries[n * 256..<n * 256 + width].flatMap { entry in
                [UInt8(entry.count / 256), UInt8(entry.count % 256)] + entry
            }
            #expect(try reader.entryBundle(Int64(n), width: width) == bundle)
        }
        for (n, width) in [(257, 209), (257, 256), (258, 1), (-1, 1), (0, 0), (0, 257)] {
            #expect(try reader.entryBundle(Int64(n), width: width) == nil)
        }
        #expect(try reader.entry(65_999) == entries[65_999])
        #expect(try reader.entry(66_000) == nil && reader.entry(-1) == nil)
    }

    @Test(
        arguments: [
            ("DELETE FROM log_tiles WHERE level = 0 AND tile_index = 0", nil),
            ("DELETE FROM log_tiles WHERE level = 1", AuditReadError.log(.tileDamaged(level: 1, index: 0))),
            ("UPDATE log_tiles SET hashes = x'00' WHERE level = 0", .log(.tileDamaged(level: 0, index: 0))),
            ("DELETE FROM audit_entries WHERE entry_index = 515", .damaged(index: 515)),
            ("DELETE FROM log_head", .log(.headMissing)),
        ] as [(StaticString, AuditReadError?)]
    )
    func `says what is damaged`(statement: StaticString, error: AuditReadError?) throws {
        let (place, oracle) = try Self.place(520)
        try place.run(statement)
        let reader = try place.reader()
        guard let error else {
            // The hashes of entries can be had from the entries.
            #expect(try reader.inclusionProof(of: 3, inSize: 520) == oracle.path(3, 0..<520))
            return
        }
        #expect(throws: error) { try reader.inclusionProof(of: 3, inSize: 520) }
    }

    @Test func `gives no entry that is not the one in its tile`() throws {
        let (place, _) = try Self.place(520)
        try place.run("UPDATE audit_entries SET entry = x'7B7D' WHERE entry_index = 300")
        let reader = try place.reader()
        #expect(throws: AuditReadError.damaged(index: 300)) { try reader.entry(300) }
        #expect(throws: AuditReadError.damaged(index: 300)) { try reader.entryBundle(1, width: 256) }
        #expect(try reader.entryBundle(1, width: 44) != nil)
        #expect(try reader.entry(299) != nil)
    }
}
