// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import Synchronization

/// Linux's random generator, read in blocks of 512 bytes: a system call costs as much as four numbers.
///
/// Each number is wiped as it is handed out. A process that forked would hand out the same numbers as its child; this
/// one never forks. Source: getrandom(2).
package final class SystemRandom: RandomSource {
    private struct Block: ~Copyable {
        var words = InlineArray<64, UInt64>(repeating: 0)
        var next = 64

        mutating func take() throws(RandomError) -> UInt64 {
            if next == words.count { try refill() }
            defer {
                words[next] = 0
                next += 1
            }
            return words[next]
        }

        private mutating func refill() throws(RandomError) {
            var words = words.mutableSpan
            try unsafe words.withUnsafeMutableBytes { bytes throws(RandomError) in try unsafe fillWithRandom(bytes) }
            next = 0
        }
    }

    private let block: Mutex<Block>

    /// Opens the generator by reading a first block, so that a system without one is noticed here.
    package init() throws(RandomError) {
        var block = Block()
        block.next = block.words.count
        _ = try block.take()
        self.block = Mutex(block)
    }

    /// 64 bits of Linux's generator.
    ///
    /// The process stops if Linux gives none, which it does not do once it has given some.
    package func next() -> UInt64 {
        block.withLock { block in
            do throws(RandomError) {
                return try block.take()
            } catch {
                // It worked at the start, and has no way to stop working; to go on without would be worse than to stop.
                preconditionFailure(error.description)
            }
        }
    }
}

/// Linux gave no random bytes.
///
/// `code` is an `errno`.
package struct RandomError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The `errno` of `getrandom`.
    package let code: Int32

    /// One sentence, with the system's message.
    package var description: String { "The system gave no random bytes: \(describe(code))." }
}

/// Fills memory with random bytes from Linux.
func fillWithRandom(_ target: UnsafeMutableRawBufferPointer) throws(RandomError) {
    var filled = 0
    while filled < target.count {
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: target[filled...])
        let count = unsafe getrandom(rest.baseAddress, rest.count, 0)
        if count > 0 {
            filled += count
        } else if errno != EINTR {
            throw RandomError(code: errno)
        }
    }
}
