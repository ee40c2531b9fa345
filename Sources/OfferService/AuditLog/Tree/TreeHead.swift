// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// How many entries the log has, and the Merkle tree hash over them (RFC 6962 section 2.1).
package struct TreeHead: Hashable, Sendable {
    package let size: Int64
    package let rootHash: SHA256Digest

    package init(size: Int64, rootHash: SHA256Digest) {
        self.size = size
        self.rootHash = rootHash
    }
}
