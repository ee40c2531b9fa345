// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Writes log lines from a thread of its own, so that a reader that does not read blocks only that thread.
///
/// Lines without room are counted and dropped; once there is room again, a line says how many were dropped.
package final class LogWriter: Sendable {
    private struct Queue {
        var lines: [[UInt8]] = []
        var byteCount = 0
        var isWriting = false
        var hasThread = false
        /// All dropped lines, and those that no line has reported yet.
        var (dropped, unreported) = (0, 0)
    }

    private let queue = Guarded(Queue())
    private let descriptor: Int32
    private let mostBytes: Int

    /// What the program logs to.
    package static let standardError = LogWriter(to: STDERR_FILENO)

    /// Keeps at most `mostBytes` for a slow reader.
    package init(to descriptor: Int32, mostBytes: Int = 1 << 20) {
        self.descriptor = descriptor
        self.mostBytes = mostBytes
    }

    /// How many lines were dropped so far.
    package var droppedLines: Int { queue.withLock { $0.dropped } }

    /// Takes a whole line; returns at once.
    package func write(_ line: [UInt8]) {
        let needsThread = queue.withLock { queue in
            guard queue.byteCount + line.count <= mostBytes else {
                queue.dropped += 1
                queue.unreported += 1
                return false
            }
            queue.lines.append(line)
            queue.byteCount += line.count
            defer { queue.hasThread = true }
            return !queue.hasThread
        }
        if needsThread { NamedThread.start(named: "log") { [self] in run() } }
        queue.wakeAll()
    }

    /// Waits until everything is written, but no longer than that.
    package func flush(atMost microseconds: Int64 = 1_000_000) {
        queue.wait(atMost: microseconds) { $0.lines.isEmpty && !$0.isWriting }
    }

    /// How long lines gather before they are written: waking a thread for each costs more than the line.
    private static let gatherMicroseconds: UInt32 = 5000

    private func run() {
        while true {
            queue.wait { $0.lines.isEmpty ? nil : () }
            usleep(Self.gatherMicroseconds)
            let lines = queue.withLock { queue in
                queue.isWriting = true
                defer { (queue.lines, queue.byteCount) = ([], 0) }
                return queue.lines
            }
            for block in Self.blocks(of: lines) { Self.write(block, to: descriptor) }
            reportDropped()
            queue.withLock { $0.isWriting = false }
            queue.wakeAll()
        }
    }

    private func reportDropped() {
        let unreported = queue.withLock { queue in
            defer { queue.unreported = 0 }
            return queue.unreported
        }
        guard unreported > 0 else { return }
        let line =
            #"{"level":"warning","message":"log lines were left out, because they were not read","lines":\#(unreported)}"#
        Self.write(Array("\(line)\n".utf8), to: descriptor)
    }

    /// Whole lines together, as many as a pipe takes at once: lines of several programs don't mix then (pipe(7), PIPE_BUF).
    static func blocks(of lines: [[UInt8]]) -> [[UInt8]] {
        var blocks: [[UInt8]] = []
        for line in lines {
            if let last = blocks.last, last.count + line.count <= 4096 {
                blocks[blocks.count - 1] += line
            } else {
                blocks.append(line)
            }
        }
        return blocks
    }

    /// One `write` for each block.
    private static func write(_ line: [UInt8], to descriptor: Int32) {
        var rest = line[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&room, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }
}
