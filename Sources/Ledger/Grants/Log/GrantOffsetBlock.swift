// SPDX-License-Identifier: Apache-2.0

/// A sorted run of offsets: those of subjects from a first prefix on, up to the first prefix of the next block.
struct GrantOffsetBlock: Equatable {
    let firstPrefix: Int
    private(set) var offsets: [GrantOffset]

    private static let offsetBytes = 8

    init(firstPrefix: Int, offsets: [GrantOffset] = []) {
        self.firstPrefix = firstPrefix
        self.offsets = offsets
    }

    /// As it is in the database: each word with its highest byte first.
    init(firstPrefix: Int, bytes: [UInt8]) {
        self.firstPrefix = firstPrefix
        offsets = (0..<bytes.count / Self.offsetBytes).map { Self.offset($0, of: bytes) }
    }

    /// As it is in the database.
    var bytes: [UInt8] {
        [UInt8](capacity: offsets.count * Self.offsetBytes) { bytes in
            for offset in offsets {
                for byte in 1...Self.offsetBytes {
                    bytes.append(UInt8(truncatingIfNeeded: offset.word >> (64 - 8 * byte)))
                }
            }
        }
    }

    private static func offset(_ number: Int, of bytes: [UInt8]) -> GrantOffset {
        GrantOffset(word: (0..<offsetBytes).reduce(0) { $0 << 8 | UInt64(bytes[number * offsetBytes + $1]) })
    }

    /// The entries at which there may be grants of subjects with a prefix, in the bytes of the block that they are in.
    static func entries(of prefix: Int, inBytes bytes: [UInt8]) -> [Int64] {
        let count = bytes.count / offsetBytes
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if offset(middle, of: bytes).prefix < prefix { low = middle + 1 } else { high = middle }
        }
        var entries: [Int64] = []
        while low < count {
            let offset = offset(low, of: bytes)
            guard offset.prefix == prefix else { break }
            entries.append(offset.entry)
            low += 1
        }
        return entries
    }

    /// Merges in other offsets, which are in order and of its subjects; each is kept once.
    mutating func merge(_ others: [GrantOffset]) {
        var (all, next) = ([GrantOffset](), 0)
        all.reserveCapacity(offsets.count + others.count)
        for offset in offsets {
            while next < others.count, others[next] < offset {
                append(others[next], to: &all)
                next += 1
            }
            append(offset, to: &all)
        }
        for offset in others[next...] { append(offset, to: &all) }
        offsets = all
    }

    private func append(_ offset: GrantOffset, to offsets: inout [GrantOffset]) {
        if offsets.last != offset { offsets.append(offset) }
    }

    /// Removes the offsets of every prefix that has more than `most` of them, and returns them.
    mutating func takeFrequent(moreThan most: Int) -> [GrantOffset] {
        var (kept, frequent, start) = ([GrantOffset](), [GrantOffset](), 0)
        kept.reserveCapacity(offsets.count)
        while start < offsets.count {
            let prefix = offsets[start].prefix
            let end = offsets[start...].firstIndex { $0.prefix != prefix } ?? offsets.count
            if end - start > most { frequent += offsets[start..<end] } else { kept += offsets[start..<end] }
            start = end
        }
        if !frequent.isEmpty { offsets = kept }
        return frequent
    }

    /// Splits into blocks of about equal length with at most `most` offsets; offsets of one prefix stay together.
    func split(atMost most: Int) -> [GrantOffsetBlock] {
        guard offsets.count > most else { return [self] }
        let parts = (offsets.count + most - 1) / most
        let length = (offsets.count + parts - 1) / parts
        var (blocks, start) = ([GrantOffsetBlock](), 0)
        while start < offsets.count {
            var end = min(start + length, offsets.count)
            // A look-up of a prefix reads one block.
            while end < offsets.count, offsets[end].prefix == offsets[end - 1].prefix { end += 1 }
            let first = start == 0 ? firstPrefix : offsets[start].prefix
            blocks.append(GrantOffsetBlock(firstPrefix: first, offsets: Array(offsets[start..<end])))
            start = end
        }
        return blocks
    }
}
