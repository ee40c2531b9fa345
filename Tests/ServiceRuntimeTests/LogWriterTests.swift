// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ServiceRuntime
import Testing

/// A reader of the log that stops reading does not block the service.
struct LogWriterTests {
    /// A pipe of 4 KiB.
    private final class Reader {
        let (reading, writing): (Int32, Int32)

        init() throws {
            var ends: [Int32] = [0, 0]
            try #require(unsafe pipe(&ends) == 0)
            (reading, writing) = (ends[0], ends[1])
            // F_SETPIPE_SZ, which the C library has for Linux alone.
            _ = fcntl(writing, 1031, 4096)
        }

        /// Reads whole lines until they are all that is to come.
        func read(until isAll: ([Substring]) -> Bool) -> [Substring] {
            var text = ""
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while !text.hasSuffix("\n") || !isAll(text.split(separator: "\n")) {
                let count = unsafe Glibc.read(reading, &buffer, buffer.count)
                guard count > 0 else { break }
                text += String(decoding: buffer[..<count], as: UTF8.self)
            }
            return text.split(separator: "\n")
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `does not wait for a reader that stops reading, and counts and reports dropped lines`() throws {
        let reader = try Reader()
        let writer = LogWriter(to: reader.writing, mostBytes: 64 * 1024)
        let line = Array((String(repeating: "x", count: 99) + "\n").utf8)
        for _ in 0..<10_000 { writer.write(line) }
        let dropped = writer.droppedLines
        #expect(dropped > 5000)
        writer.flush(atMost: 10_000)
        func reported(_ lines: [Substring]) -> Int {
            lines.compactMap { line in
                guard line.contains(#""level":"warning""#), let number = line.split(separator: ":").last else {
                    return nil
                }
                return Int(number.dropLast())
            }.reduce(0, +)
        }
        // Every line is written, or counted and reported.
        let lines = reader.read { lines in lines.count { $0.hasPrefix("x") } + reported(lines) == 10_000 }
        #expect(reported(lines) == dropped)
    }

    @Test(.timeLimit(.minutes(1))) func `writes lines whole and in their order, and waits for them at the end`() throws
    {
        let reader = try Reader()
        let writer = LogWriter(to: reader.writing)
        for number in 0..<20 { writer.write(Array("line \(number)\n".utf8)) }
        writer.flush()
        #expect(reader.read { $0.count == 20 }.map(String.init) == (0..<20).map { "line \($0)" })
        #expect(writer.droppedLines == 0)
    }

    @Test(.timeLimit(.minutes(1))) func `lines gather for five milliseconds, and are written together`() throws {
        var ends: [Int32] = [0, 0]
        // Each write is a packet of its own.
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        let writer = LogWriter(to: ends[1])
        let start = ContinuousClock.now
        for number in 0..<50 {
            writer.write(Array("line \(number)\n".utf8))
            usleep(50)
        }
        var (packets, lines) = (0, 0)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while lines < 50 {
            let count = unsafe Glibc.read(ends[0], &buffer, buffer.count)
            try #require(count > 0)
            packets += 1
            lines += buffer[..<count].count { $0 == 0x0A }
        }
        let pauses = Int((ContinuousClock.now - start) / .milliseconds(5))
        #expect(packets <= pauses + 1, "\(packets) writes")
    }
}
