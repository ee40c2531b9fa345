// SPDX-License-Identifier: Apache-2.0

extension [UInt64] {
    /// The words sorted by some of their bits; words with equal bits keep their order.
    ///
    /// Sorts digit by digit from the lowest, because the processor mispredicts every other comparison.
    func sorted(byBits bits: Range<UInt64>) -> [UInt64] {
        // With 10 bits, the 1,024 write positions are still fast to reach, and a key of 40 bits has four digits.
        let digitBits: UInt64 = 10
        var (source, target) = (self, Array(repeating: 0, count: count))
        for low in stride(from: bits.lowerBound, to: bits.upperBound, by: Int(digitBits)) {
            let width = Swift.min(digitBits, bits.upperBound - low)
            target.distribute(source.span, by: Digit(shift: low, mask: 1 << width - 1))
            swap(&source, &target)
        }
        return source
    }

    /// Fills the array with `words`, which has the same count, in the order of one digit.
    private mutating func distribute(_ words: Span<UInt64>, by digit: Digit) {
        var places = Array<Int>(repeating: 0, count: Int(digit.mask) + 1)
        var next = places.mutableSpan
        for place in words.indices { next[digit.of(words[place])] &+= 1 }
        var sum = 0
        for value in next.indices {
            let amount = next[value]
            next[value] = sum
            sum += amount
        }
        var target = mutableSpan
        for place in words.indices {
            let word = words[place]
            let value = digit.of(word)
            target[next[value]] = word
            next[value] &+= 1
        }
    }
}

/// Some bits of a word, as a number.
private struct Digit {
    let shift: UInt64
    let mask: UInt64

    @inline(__always)
    func of(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word &>> shift & mask) }
}
