// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// How much memory this process uses.
enum MemoryUse {
    /// How much it uses once what a checker of memory keeps of what was freed (256 MB at most) is all there, so that what is freed
    /// later adds nothing: without a checker, the same as `residentBytes()`.
    static func settledResidentBytes() throws -> Int {
        var sum = 0
        for _ in 0..<320 { sum += [UInt8](repeating: 1, count: 1 << 20).last.map { Int($0) } ?? 0 }
        try #require(sum == 320)
        return try residentBytes()
    }

    static func residentBytes() throws -> Int {
        let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return try #require(Int(words[1])) * sysconf(Int32(_SC_PAGESIZE))
    }
}
