// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// A checkpoint that was signed: which tree it is of, and the note exactly as it is served.
package struct PublishedCheckpoint: Hashable, Sendable {
    /// The tree that the note is of.
    package let head: TreeHead
    /// A signed note (C2SP signed-note), its last line end included.
    package let note: [UInt8]

    package init(head: TreeHead, note: [UInt8]) {
        self.head = head
        self.note = note
    }
}

extension PublishedCheckpoint {
    /// What was signed, with the witnesses' signatures that came for it so far.
    package init(_ signed: SignedCheckpoint) {
        self.init(head: signed.checkpoint.head, note: signed.note.bytes)
    }
}

/// Gives the newest checkpoint, and nil before there is one; any thread may ask.
package typealias LatestCheckpoint = @Sendable () -> PublishedCheckpoint?

extension LogReader {
    /// The newest checkpoint that the database holds; nil where none was signed.
    package func storedCheckpoint() throws(AuditReadError) -> PublishedCheckpoint? {
        try tables.storedCheckpoint()
    }

    /// The proof that an entry is in the tree of a checkpoint, as a file that needs nothing else to be checked.
    ///
    /// What it proves is worked out before it is given away: a log that was changed gives no proof, but
    /// ``LogFault/rootDiffers(size:)``. Source: C2SP tlog-proof, version 1, without its optional `extra` line.
    package func proof(of index: Int64, under checkpoint: PublishedCheckpoint) throws(AuditReadError) -> [UInt8] {
        let head = checkpoint.head
        let hashes = try inclusionProof(of: index, inSize: head.size)
        guard let entry = try entry(index) else { throw .damaged(index: index) }
        let root = MerkleProof.root(of: TreeHash.leaf(entry), at: index, inSize: head.size, proof: hashes)
        guard root == head.rootHash else { throw .log(.rootDiffers(size: head.size)) }
        var text = Array("c2sp.org/tlog-proof@v1\nindex \(index)\n".utf8)
        for hash in hashes {
            text += Base64.encode(hash.bytes)
            text.append(UInt8(ascii: "\n"))
        }
        text.append(UInt8(ascii: "\n"))
        return text + checkpoint.note
    }
}
