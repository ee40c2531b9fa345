// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport
import Testing

@testable import OfferService
@testable import TransparencyLog

/// The tree's hashes and proofs, against published vectors and against the definition.
struct MerkleProofTests {
    /// The leaves and roots that Certificate Transparency's libraries are tested with.
    private static let leaves: [[UInt8]] = [
        [], [0x00], [0x10], [0x20, 0x21], [0x30, 0x31], [0x40, 0x41, 0x42, 0x43], Array(0x50...0x57),
        Array(0x60...0x6F),
    ]
    private static let roots = [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]

    @Test func `has the published roots of trees of up to eight leaves`() {
        var frontier = Frontier()
        #expect(frontier.rootHash.hex == Self.roots[0])
        for (leaf, root) in zip(Self.leaves, Self.roots.dropFirst()) {
            frontier.append(TreeHash.leaf(leaf))
            #expect(frontier.rootHash.hex == root)
        }
        #expect(TreeHead.empty == Frontier().head)
    }

    @Test func `grows as the definition has it, and tells which trees of 256 it completes`() {
        let entries = MerkleOracle.entries(1025)
        let oracle = MerkleOracle(entries)
        var frontier = Frontier()
        for (index, entry) in entries.enumerated() {
            let completed = frontier.append(TreeHash.leaf(entry))
            #expect(frontier.head == TreeHead(size: Int64(index) + 1, rootHash: oracle.root(0..<index + 1)))
            let isFull = (index + 1).isMultiple(of: 256)
            #expect(completed == (isFull ? [oracle.root(index - 255..<index + 1)] : []))
        }
    }

    /// Of each tree a frontier and all proofs; every bit that is wrong is noticed.
    @Test(arguments: [1..<100, 100..<180, 180..<240, 240..<290])
    func `proves the inclusion of each entry in each tree`(sizes: Range<Int>) {
        let oracle = MerkleOracle(MerkleOracle.entries(290))
        var random = SplitMix(seed: 1)
        for size in sizes {
            let root = oracle.root(0..<size)
            for index in 0..<size {
                let spans = MerkleProof.inclusion(of: Int64(index), inSize: Int64(size))
                let proof = spans.map { oracle.root(Int($0.lowerBound)..<Int($0.upperBound)) }
                #expect(proof == oracle.path(index, 0..<size))
                let leaf = oracle.root(index..<index + 1)
                func proven(_ place: Int, _ size: Int, _ proof: [SHA256Digest]) -> SHA256Digest? {
                    MerkleProof.root(of: leaf, at: Int64(place), inSize: Int64(size), proof: proof)
                }
                #expect(proven(index, size, proof) == root)
                let other = Int.random(in: 0..<size, using: &random)
                #expect(other == index || proven(other, size, proof) != root)
                #expect(proven(index, size, Array(proof.dropLast())) == nil || proof.isEmpty)
                #expect(proven(index, size, proof + [leaf]) == nil)
            }
        }
    }

    @Test(arguments: [1..<100, 100..<180, 180..<240, 240..<290])
    func `proves that each tree begins with each smaller one`(sizes: Range<Int>) {
        let oracle = MerkleOracle(MerkleOracle.entries(290))
        func head(_ size: Int) -> TreeHead { TreeHead(size: Int64(size), rootHash: oracle.root(0..<size)) }
        for size in sizes {
            for old in 1...size {
                let spans = MerkleProof.consistency(from: Int64(old), to: Int64(size))
                let proof = spans.map { oracle.root(Int($0.lowerBound)..<Int($0.upperBound)) }
                #expect(proof == oracle.proof(old, size))
                #expect(MerkleProof.isConsistent(head(old), with: head(size), proof: proof))
                let fork = TreeHead(size: Int64(old), rootHash: oracle.root(0..<old - 1))
                #expect(!MerkleProof.isConsistent(fork, with: head(size), proof: proof))
                #expect(!MerkleProof.isConsistent(head(old), with: head(size), proof: proof + [oracle.root(0..<1)]))
                guard let first = proof.first else { continue }
                #expect(!MerkleProof.isConsistent(head(old), with: head(size), proof: Array(proof.dropFirst())))
                let changed = [oracle.root(0..<0)] + proof.dropFirst()
                #expect(first == changed[0] || !MerkleProof.isConsistent(head(old), with: head(size), proof: changed))
            }
            #expect(MerkleProof.isConsistent(.empty, with: head(size), proof: []))
            #expect(!MerkleProof.isConsistent(head(size), with: .empty, proof: []))
        }
    }

    @Test func `asks of huge trees no more hashes than they are high`() {
        var random = SplitMix(seed: 2)
        for _ in 0..<2000 {
            let most = Int64.max >> Int64.random(in: 0...60, using: &random)
            let size = Int64.random(in: 1...most, using: &random)
            let index = Int64.random(in: 0..<size, using: &random)
            let inclusion = MerkleProof.inclusion(of: index, inSize: size)
            #expect(inclusion.count <= 63 && inclusion.reduce(1) { $0 + Int64($1.count) } == size)
            let consistency = MerkleProof.consistency(from: index, to: size)
            #expect(consistency.count <= 64)
        }
    }
}
