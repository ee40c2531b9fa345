// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// One row of a run: the postings of all keys in a range of keys.
///
/// The ranges of a run's parts cover 0 to `endOfKeys` without gaps. So a lookup of a key finds the one part that would
/// have it, or detects that a part is missing. Layout, with little-endian numbers and LEB128 varints: 8 bytes of
/// checksum; the end of the range minus its first key; for each key the difference from the key before it, the number
/// of its entries, and their offsets, each minus the one before it. Where a bit for every entry of the run is shorter,
/// the number is 0 and the bits follow.
package struct IndexPart: Hashable, Sendable {
    /// Beyond every key.
    static let endOfKeys: UInt64 = 1 << 50
    /// A part is ended before it grows beyond this, so that it fits a page of the database.
    static let targetBytes = 3900

    /// The number of the run, counted from 0.
    package let run: Int64
    /// The first key of the range; the range ends where the bytes say.
    package let firstKey: UInt64
    /// The checksum and the postings, as above.
    package let bytes: [UInt8]

    package init(run: Int64, firstKey: UInt64, bytes: [UInt8]) {
        self.run = run
        self.firstKey = firstKey
        self.bytes = bytes
    }

    /// A part with its checksum; `body` is what follows it.
    init(run: Int64, firstKey: UInt64, body: [UInt8], _ hash: SipHashKey) {
        let checksum = Self.checksum(of: body[...], run: run, firstKey: firstKey, hash: hash)
        self.init(run: run, firstKey: firstKey, bytes: checksum.littleEndianBytes + body)
    }

    /// The entries that have a key; nil if this part is damaged or does not cover the key.
    func entries(with key: UInt64, _ keys: IndexTermKeys) -> EntrySet? {
        guard bytes.count > 8, firstKey <= key else { return nil }
        let body = bytes[8...]
        let checksum = Self.checksum(of: body, run: run, firstKey: firstKey, hash: keys.hash)
        guard checksum.littleEndianBytes.elementsEqual(bytes[..<8]) else { return nil }
        var reader = VarintReader(body)
        guard let width = reader.next(), key < firstKey &+ width else { return nil }
        var current = firstKey
        while !reader.isAtEnd {
            guard let step = reader.next(), let list = reader.postings(keys.format) else { return nil }
            current &+= step
            if current == key { return list }
            if current > key { break }
        }
        return EntrySet(none: keys.format.entriesPerRun)
    }

    private static func checksum(
        of body: ArraySlice<UInt8>,
        run: Int64,
        firstKey: UInt64,
        hash: SipHashKey
    ) -> UInt64 {
        // Two hashes, so that the body is not copied to stand behind what it is bound to.
        let place = UInt64(bitPattern: run).littleEndianBytes + firstKey.littleEndianBytes
        return hash.code(of: hash.code(of: body.span).littleEndianBytes + place)
    }
}

/// Reads what ``IndexPart`` holds.
private struct VarintReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func next() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 63, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    mutating func postings(_ format: AuditIndexFormat) -> EntrySet? {
        guard let count = next() else { return nil }
        if count == 0 { return bitmap(format) }
        var set = EntrySet(none: format.entriesPerRun)
        var offset: UInt64 = 0
        for _ in 0..<count {
            guard let step = next() else { return nil }
            offset &+= step
            guard offset < format.entriesPerRun else { return nil }
            set.insert(Int(offset))
        }
        return set
    }

    private mutating func bitmap(_ format: AuditIndexFormat) -> EntrySet? {
        let count = format.entriesPerRun / 8
        guard rest.count >= count else { return nil }
        let bytes = rest.prefix(count)
        rest = rest.dropFirst(count)
        var words: [UInt64] = []
        words.reserveCapacity(count / 8)
        for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: 8) {
            words.append((0..<8).reduce(0) { $0 | UInt64(bytes[start + $1]) << UInt64(8 * $1) })
        }
        return EntrySet(words: words)
    }
}

extension UInt64 {
    var littleEndianBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> UInt64(8 * $0)) } }
}
