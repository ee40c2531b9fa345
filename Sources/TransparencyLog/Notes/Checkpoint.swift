// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OfferDomain

/// What a log commits itself to: its name, how many entries it has, and the hash over them.
///
/// Three lines and nothing else; no reader would check a further line.
///
/// Source: [C2SP tlog-checkpoint](https://c2sp.org/tlog-checkpoint).
package struct Checkpoint: Hashable, Sendable {
    /// The first line: the log's name.
    package let origin: LogOrigin
    /// The second and third line: the size and the hash.
    package let head: TreeHead

    /// How many entries the log has: the second line.
    package var size: Int64 { head.size }
    /// The hash over these entries: the third line, in Base64.
    package var rootHash: SHA256Digest { head.rootHash }

    package init(origin: LogOrigin, head: TreeHead) {
        self.origin = origin
        self.head = head
    }

    /// Reads the text of a note.
    package init(parsing text: [UInt8]) throws(CheckpointError) {
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count == 4, lines[3].isEmpty else { throw .notThreeLines }
        guard let origin = LogOrigin(String(decoding: lines[0], as: UTF8.self)) else { throw .badOrigin }
        guard let size = Self.size(lines[1]) else { throw .badSize }
        guard let hash = Base64.decode(Array(lines[2])).flatMap(SHA256Digest.init(bytes:)) else { throw .badRootHash }
        self.init(origin: origin, head: TreeHead(size: size, rootHash: hash))
    }

    /// What is signed.
    package var text: [UInt8] {
        Array("\(origin)\n\(size)\n".utf8) + Base64.encode(rootHash.bytes) + [UInt8(ascii: "\n")]
    }

    /// A number of entries in decimal digits, without zeros in front; nil for anything else.
    static func size(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard let first = digits.first, digits.allSatisfy({ (0x30...0x39).contains($0) }),
            first != 0x30 || digits.count == 1
        else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self))
    }
}

/// Why a note's text is not taken as a checkpoint.
package enum CheckpointError: Error, Hashable, Sendable, CustomStringConvertible {
    case notThreeLines
    case badOrigin
    case badSize
    case badRootHash

    /// A sentence that names the line at fault.
    package var description: String {
        switch self {
        case .notThreeLines: "The checkpoint has not exactly three lines."
        case .badOrigin: "The checkpoint's origin is not 1 to 128 of A-Z, a-z, 0-9, “.”, “_”, “/” and “-”."
        case .badSize: "The checkpoint's size is not a whole number without zeros in front."
        case .badRootHash: "The checkpoint's hash is not 32 bytes in Base64."
        }
    }
}
