// SPDX-License-Identifier: Apache-2.0

/// Places of grants as ``GrantPlaces`` has them, in order: of the subjects from a first prefix on, up to that of the next block.
struct GrantPlaceBlock: Equatable {
    let firstPrefix: Int
    private(set) var words: [UInt64]

    private static let wordBytes = 8

    init(firstPrefix: Int, words: [UInt64] = []) {
        self.firstPrefix = firstPrefix
        self.words = words
    }

    /// As it stands in the database: each word with its highest byte first.
    init(firstPrefix: Int, bytes: [UInt8]) {
        self.firstPrefix = firstPrefix
        words = (0..<bytes.count / Self.wordBytes).map { Self.word($0, of: bytes) }
    }

    /// As it stands in the database.
    var bytes: [UInt8] {
        [UInt8](capacity: words.count * Self.wordBytes) { bytes in
            for word in words {
                for byte in 1...Self.wordBytes { bytes.append(UInt8(truncatingIfNeeded: word >> (64 - 8 * byte))) }
            }
        }
    }

    private static func word(_ number: Int, of bytes: [UInt8]) -> UInt64 {
        (0..<wordBytes).reduce(0) { $0 << 8 | UInt64(bytes[number * wordBytes + $1]) }
    }

    /// The entries at which there may be grants of subjects with a prefix, in the bytes of the block that such subjects are in.
    static func entries(of prefix: Int, inBytes bytes: [UInt8]) -> [Int64] {
        let count = bytes.count / wordBytes
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if GrantPlaces.prefix(word(middle, of: bytes)) < prefix { low = middle + 1 } else { high = middle }
        }
        var entries: [Int64] = []
        while low < count {
            let word = word(low, of: bytes)
            guard GrantPlaces.prefix(word) == prefix else { break }
            entries.append(GrantPlaces.entry(word))
            low += 1
        }
        return entries
    }

    /// Adds what it does not have yet of other words, which are in order and of its subjects.
    mutating func add(_ others: [UInt64]) {
        var (all, next) = ([UInt64](), 0)
        all.reserveCapacity(words.count + others.count)
        for word in words {
            while next < others.count, others[next] < word {
                append(others[next], to: &all)
                next += 1
            }
            append(word, to: &all)
        }
        for word in others[next...] { append(word, to: &all) }
        words = all
    }

    private func append(_ word: UInt64, to words: inout [UInt64]) {
        if words.last != word { words.append(word) }
    }

    /// Removes the places of every prefix that has more than so many, and answers them.
    mutating func takeOften(moreThan most: Int) -> [UInt64] {
        var (kept, often, start) = ([UInt64](), [UInt64](), 0)
        kept.reserveCapacity(words.count)
        while start < words.count {
            let prefix = GrantPlaces.prefix(words[start])
            let end = words[start...].firstIndex { GrantPlaces.prefix($0) != prefix } ?? words.count
            if end - start > most { often += words[start..<end] } else { kept += words[start..<end] }
            start = end
        }
        if !often.isEmpty { words = kept }
        return often
    }

    /// The same as blocks of about equal length, with so many words at the most but for what has one prefix.
    func split(atMost most: Int) -> [GrantPlaceBlock] {
        guard words.count > most else { return [self] }
        let parts = (words.count + most - 1) / most
        let length = (words.count + parts - 1) / parts
        var (blocks, start) = ([GrantPlaceBlock](), 0)
        while start < words.count {
            var end = min(start + length, words.count)
            // Who looks for a prefix looks into one block.
            while end < words.count, GrantPlaces.prefix(words[end]) == GrantPlaces.prefix(words[end - 1]) { end += 1 }
            let first = start == 0 ? firstPrefix : GrantPlaces.prefix(words[start])
            blocks.append(GrantPlaceBlock(firstPrefix: first, words: Array(words[start..<end])))
            start = end
        }
        return blocks
    }
}
