// SPDX-License-Identifier: Apache-2.0
import Configuration

/// Where in the log a grant of a subject may be: the subject's prefix and the entry's index in one number.
///
/// Offsets are in the order of subjects, then of time. A prefix is the first 24 bits, so an offset may be another
/// subject's: the row there shows it. Subjects are keyed digests, so no customer can choose a prefix.
struct GrantOffset: Hashable, Comparable {
    /// The prefix, and in 40 bits the entry's index plus one: never 0.
    let word: UInt64

    /// All prefixes.
    static let prefixes = 0..<1 << prefixBits
    static let prefixBits = 24
    private static let entryBits = 40

    init(word: UInt64) { self.word = word }

    init(prefix: Int, entry: Int64) {
        precondition((0..<1 << Self.entryBits - 1).contains(entry), "a log has fewer entries than 2^40")
        word = UInt64(prefix) << UInt64(Self.entryBits) | UInt64(entry + 1)
    }

    var prefix: Int { Int(word >> UInt64(Self.entryBits)) }

    /// The index of the entry.
    var entry: Int64 { Int64(word & (1 << UInt64(Self.entryBits) - 1)) - 1 }

    static func < (one: GrantOffset, other: GrantOffset) -> Bool { one.word < other.word }

    /// The first bits of a subject, which order subjects as the database does.
    static func prefix(of subject: [UInt8]) -> Int {
        precondition(subject.count == LedgerKey.byteCount, "a subject is the key of a pseudonym")
        return Int(subject[0]) << 16 | Int(subject[1]) << 8 | Int(subject[2])
    }
}
