// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// A log's tree at one size: what a checkpoint signs.
package struct TreeHead: Hashable, Sendable {
    /// How many entries the tree has.
    package let size: Int64
    /// The Merkle tree hash over the entries (RFC 6962, section 2.1).
    package let rootHash: SHA256Digest

    package init(size: Int64, rootHash: SHA256Digest) {
        self.size = size
        self.rootHash = rootHash
    }

    /// The tree without entries.
    package static let empty = TreeHead(size: 0, rootHash: TreeHash.empty)
}
