// SPDX-License-Identifier: Apache-2.0

extension [UInt64] {
    /// The words in the order of some of their bits; those that have these in common stay in the order that they had.
    ///
    /// Digit by digit from the lowest: the processor guesses wrongly how every other comparison ends.
    func sorted(byBits bits: Range<UInt64>) -> [UInt64] {
        // So many places to write to at once are still quick to reach, and a key of 40 bits has four digits.
        let digitBits: UInt64 = 10
        var (source, target) = (self, Array(repeating: 0, count: count))
        for low in stride(from: bits.lowerBound, to: bits.upperBound, by: Int(digitBits)) {
            let width = Swift.min(digitBits, bits.upperBound - low)
            target.distribute(source.span, by: Digit(shift: low, mask: 1 << width - 1))
            swap(&source, &target)
        }
        return source
    }

    /// Becomes the words, of which there are as many, in the order of one digit.
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
