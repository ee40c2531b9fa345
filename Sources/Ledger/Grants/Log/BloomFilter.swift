// SPDX-License-Identifier: Apache-2.0
import Configuration

/// A set of subjects that recognizes most other subjects as absent.
///
/// Described by Bloom, "Space/time trade-offs in hash coding with allowable errors", 1970.
/// Subjects begin with a keyed digest of 16 bytes, so their own bytes select the four bits that they set. A full filter has 1
/// false positive in 400, and no false negatives.
struct BloomFilter {
    private var words: [UInt64]
    /// One less than the number of bits, which is a power of two.
    private let mask: UInt32
    /// How many subjects it has room for.
    let capacity: Int
    private var count = 0

    /// An empty filter with room for `capacity` subjects, and 16 to 32 bits for each.
    init(capacity: Int) {
        var bits = 64
        while bits < capacity * 16, bits < 1 << 32 { bits *= 2 }
        words = [UInt64](repeating: 0, count: bits / 64)
        mask = UInt32(bits - 1)
        self.capacity = bits / 16
    }

    /// Whether it has more subjects than its capacity, and so more false positives.
    var isFull: Bool { count > capacity }

    mutating func insert(_ subject: [UInt8]) {
        // A subject that is inserted again takes no room.
        guard !mayContain(subject) else { return }
        for probe in 0..<4 {
            let bit = bit(probe, of: subject)
            words[Int(bit / 64)] |= 1 << UInt64(bit % 64)
        }
        count += 1
    }

    /// False only for a subject that was not inserted.
    func mayContain(_ subject: [UInt8]) -> Bool {
        for probe in 0..<4 {
            let bit = bit(probe, of: subject)
            if words[Int(bit / 64)] & (1 << UInt64(bit % 64)) == 0 { return false }
        }
        return true
    }

    private func bit(_ probe: Int, of subject: [UInt8]) -> UInt32 {
        precondition(subject.count == LedgerKey.byteCount, "a subject is the key of a pseudonym")
        let at = probe * 4
        let value =
            UInt32(subject[at]) << 24 | UInt32(subject[at + 1]) << 16 | UInt32(subject[at + 2]) << 8
            | UInt32(subject[at + 3])
        return value & mask
    }
}
